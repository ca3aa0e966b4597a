// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

@Suite("Printing numbers")
struct OutputTextTests {
  static func print(_ number: Double, decimals: Int) -> String {
    var text = OutputText()
    text.append(number, decimals: decimals)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  static func print(_ number: Double, digits: Int) -> String {
    var text = OutputText()
    text.append(number, significantDigits: digits)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test(
    "Decimals",
    arguments: [
      (0.0, 3, "0"), (-0.0004, 3, "0"), (0.0005, 3, "0.001"), (-1.5, 0, "-2"),
      (1234.5678, 2, "1234.57"),
      (0.1, 9, "0.1"), (-0.05, 2, "-0.05"), (12, 6, "12"), (9.9996, 3, "10"),
      (1e20, 3, "1e+20"), (Double.infinity, 3, "inf"), (Double.nan, 3, "nan"),
    ] as [(Double, Int, String)])
  func decimals(number: Double, decimals: Int, text: String) {
    #expect(Self.print(number, decimals: decimals) == text)
  }

  @Test(
    "Significant digits",
    arguments: [
      (0.0, 9, "0"), (1, 9, "1"), (0.1, 9, "0.1"), (999.9999, 3, "1000"),
      (0.00123456, 3, "0.00123"),
      (-123456789.123, 9, "-123456789"), (123456, 2, "120000"), (1e-9, 9, "1e-9"),
      (1e300, 9, "1e300"), (-Double.infinity, 2, "-inf"), (1.0 / 3, 15, "0.333333333333333"),
      (1e-5, 15, "0.00001"),
    ] as [(Double, Int, String)])
  func significantDigits(number: Double, digits: Int, text: String) {
    #expect(Self.print(number, digits: digits) == text)
  }

  @Test(
    "No file takes a number that is infinite or none",
    arguments: [Double.nan, .infinity, -.infinity])
  func nonFinite(number: Double) throws {
    let folder = try TemporaryFolder()
    for significant in [false, true] {
      var text = OutputText()
      text.append("1,a\n2,b,")
      let length = text.count
      if significant {
        text.append(number, significantDigits: 9)
      } else {
        text.append(number, decimals: 3)
      }
      text.append(",c\n3,d\n")
      var file = try AtomicFile(path: folder.path("file.csv"))
      let error = recordingError { try file.write(text) }
      #expect(error?.code == .notFinite)
      #expect(error?.message == "a number of \"2,b,\(number),c\" is not finite")
      text.truncate(to: length)
      try file.write(text)
      text.removeAll()
      text.append(1e300, decimals: 3)
      try file.write(text)
      try file.commit()
      #expect(try folder.text("file.csv") == "1,a\n2,b,1e+300")
    }
  }

  @Test("JSON has null for a missing number")
  func nullInJSON() throws {
    let text = CanonicalJSON.text(of: ["a": [Double.nan, .infinity, -.infinity, 0.5]])
    #expect(text.filter { !$0.isWhitespace } == #"{"a":[null,null,null,0.5]}"#)
  }

  @Test("Nine digits come back as nine digits, over all sizes", arguments: 0..<64)
  func nineDigits(seed: UInt64) throws {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    for exponent in -12...18 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let number = (Double(state >> 11) / 0x1p53 + 0.1) * pow(10, Double(exponent))
      let back = try #require(Double(Self.print(number, digits: 9)))
      #expect(abs(back - number) <= 5e-9 * number)
    }
  }

  /// The reference by strings: the digits of the rounded integer with the point inserted and
  /// trailing zeros removed.
  static func reference(_ number: Double, decimals: Int) -> String {
    let scaled = (number.magnitude * pow(10, Double(decimals))).rounded()
    guard scaled < 0x1p53 else { return number.description }
    return text(of: scaled, decimals, isNegative: number < 0)
  }

  static func reference(_ number: Double, digits: Int) -> String {
    if number == 0 { return "0" }
    let exponent = Int(log10(number.magnitude).rounded(.down))
    guard (-5..<15).contains(exponent) else {
      return reference(number / pow(10, Double(exponent)), digits: digits) + "e\(exponent)"
    }
    let decimals = digits - 1 - exponent
    guard decimals >= 0 else {
      let unit = pow(10, Double(-decimals))
      return reference((number / unit).rounded() * unit, decimals: 0)
    }
    let first = min(decimals, 15)
    let scaled = number.magnitude * pow(10, Double(first)) * pow(10, Double(decimals - first))
    return text(of: scaled.rounded(), decimals, isNegative: number < 0)
  }

  private static func text(of scaled: Double, _ decimals: Int, isNegative: Bool) -> String {
    var digits = String(UInt64(scaled))
    digits = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    var fraction = String(digits.suffix(decimals))
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return (isNegative && scaled > 0 ? "-" : "") + digits.dropLast(decimals)
      + (fraction.isEmpty ? "" : "." + fraction)
  }

  @Test("Numbers of all sizes, as by strings", arguments: 1...10 as ClosedRange<UInt64>)
  func numbersOfAllSizes(seed: UInt64) throws {
    #if DEBUG
      let count = 500
    #else
      let count = 20_000
    #endif
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<count {
      let power = pow(10, Double(Int.random(in: -14...18, using: &generator)))
      var number = power * Double.random(in: -10...10, using: &generator)
      // Next to powers of ten a logarithm may be rounded to an integer.
      let edge = Int.random(in: -20...20, using: &generator)
      if seed % 2 == 0 {
        number = Double(bitPattern: power.bitPattern &+ UInt64(bitPattern: Int64(edge)))
      }
      let digits = Int.random(in: 1...15, using: &generator)
      for (printed, expected) in [
        (Self.print(number, digits: 10), Self.reference(number, digits: 10)),
        (Self.print(number, digits: digits), Self.reference(number, digits: digits)),
        (Self.print(number, decimals: digits), Self.reference(number, decimals: digits)),
      ] where printed != expected {
        Issue.record("\(number) became \(printed), not \(expected), seed \(seed)")
        return
      }
    }
  }

  @Test func textGrowsWithWhatIsAppended() {
    var text = OutputText()
    var expected = ""
    for number in 0..<2_000 {
      text.append("a line of text, ")
      text.append(number - 1_000)
      expected += "a line of text, \(number - 1_000)"
      #expect(text.count == expected.utf8.count)
    }
    #expect(String(decoding: text.bytes, as: UTF8.self) == expected)
    text.truncate(to: 6)
    #expect(String(decoding: text.bytes, as: UTF8.self) == "a line")
    text.removeAll()
    text.append("")
    #expect(text.bytes.isEmpty)
  }

  @Test(
    "Moments",
    arguments: [
      (0, "0.000000"), (1, "0.000000001"), (1_500_000_000, "1.500000"),
      (-1_250_000_100, "-1.2500001"),
      (1_700_000_000_123_456_789, "1700000000.123456789"), (Int64.min, "-9223372036.854775808"),
    ] as [(Int64, String)])
  func moments(nanoseconds: Int64, text: String) {
    var output = OutputText()
    output.append(Timestamp(nanoseconds: nanoseconds))
    #expect(String(decoding: output.bytes, as: UTF8.self) == text)
  }
}
