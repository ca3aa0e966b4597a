// SPDX-License-Identifier: Apache-2.0

/// An inline array of numbers that is saved with the structure around it, as the standard library's is
/// not `Codable`.
///
/// Performance: the array itself, in the same place.
@propertyWrapper
struct Numbers<let count: Int>: Sendable {
  var wrappedValue: InlineArray<count, Double>
}

extension Numbers: Codable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue.indices.map { wrappedValue[$0] })
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let numbers = try container.decode([Double].self)
    guard numbers.count == count else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(numbers.count) of \(count) numbers")
    }
    wrappedValue = InlineArray { numbers[$0] }
  }
}
