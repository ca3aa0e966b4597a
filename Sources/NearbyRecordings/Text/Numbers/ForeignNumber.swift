// SPDX-License-Identifier: Apache-2.0

/// A number as other programs write it: `2,72` with a decimal comma, `2.72m` with its unit, `0x0110` with
/// hexadecimal digits.
package struct ForeignNumber: Hashable, Sendable {
  /// The number, in the unit.
  package var number: Double
  /// The text of the unit that follows the number; `nil` without one.
  package var unit: String?

  /// Reads a field that is no plain number.
  ///
  /// - Parameters:
  ///   - text: The bytes.
  ///   - field: Where the number stands.
  /// - Returns: `nil` when the field holds anything else, as a number with both comma and point.
  static func parse(_ text: Span<UInt8>, _ field: Range<Int>) -> ForeignNumber? {
    var bytes = field.map { text[$0] }
    if let whole = hexadecimal(bytes) { return ForeignNumber(number: whole, unit: nil) }
    let isPartOfNumber: (UInt8) -> Bool = {
      $0 &- .zero < 10 || [.plus, .minus, .point, .comma].contains($0)
    }
    var end = bytes.firstIndex { !isPartOfNumber($0) } ?? bytes.count
    // An exponent belongs to the number, and `e` is no unit.
    if end + 1 < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e"), isPartOfNumber(bytes[end + 1])
    {
      end = bytes[(end + 1)...].firstIndex { !isPartOfNumber($0) } ?? bytes.count
    }
    guard end > 0 else { return nil }
    let unit = String(decoding: bytes[end...].drop(while: \.isBlank), as: UTF8.self)
    bytes.removeSubrange(end...)
    let commas = bytes.indices.filter { bytes[$0] == .comma }
    if commas.count == 1, !bytes.contains(.point) { bytes[commas[0]] = .point }
    guard let number = Double(String(decoding: bytes, as: UTF8.self)), number.isFinite else {
      return nil
    }
    return ForeignNumber(number: number, unit: unit.isEmpty ? nil : unit)
  }

  /// An integer in hexadecimal digits after `0x`; `nil` for other text, and for integers without an exact double.
  private static func hexadecimal(_ bytes: [UInt8]) -> Double? {
    guard
      bytes.starts(with: [.zero, UInt8(ascii: "x")])
        || bytes.starts(with: [.zero, UInt8(ascii: "X")]),
      let number = UInt64(String(decoding: bytes.dropFirst(2), as: UTF8.self), radix: 16)
    else { return nil }
    return Double(exactly: number)
  }
}
