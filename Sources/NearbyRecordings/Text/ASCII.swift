// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
  package static let tab = UInt8(ascii: "\t")
  package static let lf = UInt8(ascii: "\n")
  package static let cr = UInt8(ascii: "\r")
  package static let blank = UInt8(ascii: " ")
  package static let quote = UInt8(ascii: "\"")
  package static let comma = UInt8(ascii: ",")
  package static let point = UInt8(ascii: ".")
  package static let plus = UInt8(ascii: "+")
  package static let minus = UInt8(ascii: "-")
  package static let hash = UInt8(ascii: "#")
  package static let zero = UInt8(ascii: "0")

  /// Whether it is a digit.
  @inline(__always)
  package var isDigit: Bool { self &- .zero < 10 }

  /// Whether it is a blank: it separates fields in a line without commas, and may surround fields
  /// in a line with commas.
  @inline(__always)
  package var isBlank: Bool { self == .blank || self == .tab }

  /// Whether it can be part of a JSON number.
  package var isPartOfNumber: Bool {
    isDigit || self == .point || self == .plus || self == .minus || self | 0x20 == 0x65
  }
}
