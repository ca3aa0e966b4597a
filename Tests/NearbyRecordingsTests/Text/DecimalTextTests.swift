// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import Testing

@testable import NearbyRecordings

@Suite struct DecimalTextTests {
  /// Possible bytes after a number in the buffer: none, the next field, old digits.
  ///
  /// They must not change the number.
  private static let behind = ["", ",1.5,2.5,", " 1 2 3 4 5", "1234567890", ".5e3.5e3.5"]

  private func double(_ text: String) -> Double? {
    let numbers = Self.behind.map { behind in
      DecimalText.double(Array((text + behind).utf8).span, 0..<text.utf8.count)
    }
    if Set(numbers.map { $0?.bitPattern }).count > 1 {
      Issue.record("\(text) is \(numbers), as its surroundings have it")
    }
    return numbers[0]
  }

  private func reference(_ text: String) -> Double { unsafe strtod(text, nil) }

  private func nanoseconds(_ text: String) -> Int64? {
    let moments = Self.behind.map { behind in
      DecimalText.timestamp(Array((text + behind).utf8).span, 0..<text.utf8.count)?.nanoseconds
    }
    if Set(moments).count > 1 {
      Issue.record("\(text) is \(moments), as its surroundings have it")
    }
    return moments[0]
  }

  /// A number as programs write them: few digits, many digits, big and small exponents, odd signs.
  private func randomNumber(_ generator: inout SeededGenerator) -> String {
    func digits(_ count: Int, _ generator: inout SeededGenerator) -> String {
      (0..<count).map { _ in String(UInt8.random(in: 0...9, using: &generator)) }.joined()
    }
    let sign = ["", "", "-", "+"].randomElement(using: &generator) ?? ""
    switch UInt8.random(in: 0...5, using: &generator) {
    case 0:
      return sign + digits(Int.random(in: 1...7, using: &generator), &generator) + "."
        + digits(6, &generator)
    case 1: return "\(Double(bitPattern: generator.next() & 0x7FEF_FFFF_FFFF_FFFF))"
    case 2: return "\(sign)\(Double.random(in: 0...1000, using: &generator))"
    case 3: return "\(sign)\(Float.random(in: 0...1, using: &generator))"
    case 4:
      return sign + digits(Int.random(in: 0...25, using: &generator), &generator) + "."
        + digits(Int.random(in: 1...25, using: &generator), &generator)
    default:
      let exponent = Int.random(in: -330...320, using: &generator)
      return sign + digits(Int.random(in: 1...22, using: &generator), &generator)
        + (Bool.random(using: &generator) ? "e" : "E")
        + (exponent >= 0 && Bool.random(using: &generator) ? "+" : "") + "\(exponent)"
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func numbersAreThoseOfStrtod(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Self.count { try agree(randomNumber(&generator), seed) }
  }

  /// Ten seeds give thirty thousand numbers of each kind, each followed by five different texts.
  #if DEBUG
    private static let count = 1_000
  #else
    private static let count = 20_000
  #endif

  /// One expectation per number would take longer than the parsing.
  private func agree(_ text: String, _ seed: UInt64) throws {
    if double(text)?.bitPattern != reference(text).bitPattern {
      Issue.record("\(text) became \(double(text)?.description ?? "nil"), seed \(seed)")
      throw CancellationError()
    }
  }

  /// Numbers where rounding is hardest: halfway between two doubles, or next to it, and the smallest.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func hardNumbersAreThoseOfStrtod(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Self.count / 5 {
      // 54 bits, the last of them set: halfway. Over 2^k it is m · 5^k / 10^k.
      let middle = UInt64.random(in: 1 << 53..<1 << 54, using: &generator) | 1
      let power = Int.random(in: 0...22, using: &generator)
      let digits = (0..<power).reduce(UInt128(middle)) { product, _ in product * 5 }
      try agree("\(digits)e-\(power)", seed)
      try agree("-\(digits + 1)e-\(power)", seed)
      try agree("\(digits - 1)e-\(power)", seed)
      try agree("\(digits)000000000001e-\(power + 12)", seed)
      try agree("\(middle)e\(power)", seed)
      let subnormal = Double(
        bitPattern: generator.next() >> UInt64.random(in: 11...63, using: &generator))
      try agree("\(subnormal)", seed)
      try agree(String(format: "%.18e", subnormal), seed)
      try agree(
        String(
          format: "%.*e", Int.random(in: 14...25, using: &generator),
          Double.random(in: -100...100, using: &generator)), seed)
    }
  }

  @Test(arguments: [
    "0", "-0", "0.0", "-0.0e5", "9007199254740992", "9007199254740993", "9007199254740993.0",
    "1e22", "1e23", "-1e-22", "123456789012345678e-22", "18446744073709551615",
    "18446744073709551616", "0.1", "0.30000000000000004", "2.2250738585072011e-308", "5e-324",
    "2e-324", "1.7976931348623157e308", "1e309", "-1e999999999999", "1e-999999999999", "5.", ".5",
    "00000000000000000000000001.5", "0.000000000000000000000000000000015", "+3",
  ])
  func edgesAreThoseOfStrtod(text: String) {
    #expect(double(text)?.bitPattern == reference(text).bitPattern)
  }

  @Test(arguments: ["inf", "-inf", "Infinity", "+INF", "-infinity"])
  func infinitiesAreNumbers(text: String) { #expect(double(text) == reference(text)) }

  @Test(arguments: ["nan", "NaN", "-nan", "+NAN"])
  func nanIsANumber(text: String) { #expect(double(text)?.isNaN == true) }

  @Test(arguments: [
    "", "-", "+", ".", "-.", "abc", "1a", "1 2", "1,5", "1e", "1e+", "1.2.3", "--1", "0x10",
    "1_000",
    "e5", "nano", "infinit", "1e5.0", "١", "\0", "nan(1)",
  ])
  func otherTextIsNoNumber(text: String) {
    #expect(double(text) == nil)
    #expect(nanoseconds(text) == nil)
  }

  @Test(arguments: [
    ("0", 0), ("1", 1_000_000_000), ("-1.5", -1_500_000_000), ("0.000000001", 1),
    ("0.0000000004", 0), ("0.0000000005", 1), ("-0.0000000005", -1),
    ("1403636579.758555584", 1_403_636_579_758_555_584),
    ("1.403636579758555584e+09", 1_403_636_579_758_555_584),
    ("1403636579.7585555844999", 1_403_636_579_758_555_584),
    ("1403636579758555584e-9", 1_403_636_579_758_555_584),
    ("12e3", 12_000_000_000_000), ("0e99999", 0), ("1e-99999", 0),
    ("4599999999.999999999", 4_599_999_999_999_999_999),
    ("00000000000000000000000000000001.25", 1_250_000_000),
  ])
  func stampsKeepEveryNanosecond(text: String, expected: Int64) {
    #expect(nanoseconds(text) == expected)
  }

  @Test(arguments: ["4600000000", "-4.6e9", "1403636579758555584", "1e30", "1e99999", "nan", "inf"])
  func stampsOutsideTheClockAreNone(text: String) { #expect(nanoseconds(text) == nil) }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func stampsReadBackAsWritten(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let stamp = Int64.random(
        in: -4_600_000_000_000_000_000 + 1...4_599_999_999_999_999_999, using: &generator)
      let magnitude = stamp.magnitude
      let fraction = String(magnitude % 1_000_000_000)
      let text =
        (stamp < 0 ? "-" : "") + "\(magnitude / 1_000_000_000)."
        + String(repeating: "0", count: 9 - fraction.count) + fraction
      #expect(nanoseconds(text) == stamp, "\(text), seed \(seed)")
    }
  }
}
