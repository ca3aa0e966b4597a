// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Collects the numbers of tables as bytes, which a page holds as base64.
///
/// Performance: as decimal text they would be three times as large and take a browser ten times as long to read.
struct ReportNumbers {
  private(set) var bytes: [UInt8] = []

  /// The bytes as text.
  var base64: String { Data(bytes).base64EncodedString() }

  /// Where a column is in the bytes, and how to read it.
  struct Place {
    var type: String
    var offset: Int
    /// What zero and each step stand for, in a column of steps.
    var scale: (first: Double, step: Double)?
  }

  /// Appends a column.
  ///
  /// - Parameters:
  ///   - values: The numbers; `nan` for a missing one.
  ///   - encoding: How they are stored.
  /// - Returns: Where they are.
  mutating func append(_ values: [Double], _ encoding: ColumnEncoding) -> Place {
    switch encoding {
    case .single:
      return place("f32", values.map { Float($0).bitPattern })
    case .half:
      return place("f16", values.map { Self.half($0) })
    case .steps:
      let known = values.filter(\.isFinite)
      let (low, high) = (known.min() ?? 0, known.max() ?? 0)
      let step = max((high - low) / Self.mostSteps, 1e-9)
      var place = place(
        "q16",
        values.map { value in
          value.isFinite ? UInt16(((value - low) / step).rounded()) : Self.missing
        })
      place.scale = (low, step)
      return place
    case .small:
      return place("u8", values.map { $0.isFinite ? UInt8(min(max($0, 0), 254)) : 255 })
    }
  }

  private static let mostSteps = 65_534.0
  private static let missing = UInt16.max

  /// A number as one of 16 bits; those that are too large are the largest one.
  private static func half(_ value: Double) -> UInt16 {
    let limit = Double(Float16.greatestFiniteMagnitude)
    return (value.isNaN ? Float16.nan : Float16(min(max(value, -limit), limit))).bitPattern
  }

  /// Appends whole numbers, the low byte first, at a multiple of their size.
  private mutating func place(_ type: String, _ values: [some FixedWidthInteger]) -> Place {
    let size = values.first.map { $0.bitWidth / 8 } ?? 1
    while !bytes.count.isMultiple(of: size) { bytes.append(0) }
    let start = bytes.count
    bytes.reserveCapacity(start + size * values.count)
    for value in values {
      for index in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
    return Place(type: type, offset: start)
  }
}
