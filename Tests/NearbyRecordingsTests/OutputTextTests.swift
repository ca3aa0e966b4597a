// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyRecordings
import Testing

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
