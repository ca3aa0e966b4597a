// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyGeometry

/// Text on its way into a file: bytes that grow, and numbers printed without an allocation each.
///
/// Clear it with ``removeAll()`` after each use; it keeps its storage.
public struct OutputText: Sendable {
  /// The text in UTF-8.
  public private(set) var bytes: [UInt8] = []

  /// Makes an empty text.
  public init() {}

  /// Empties the text and keeps its storage.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Takes away what was appended since the text had so many bytes.
  mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

  /// Appends text.
  public mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Appends an ASCII character.
  mutating func append(byte: UInt8) { bytes.append(byte) }

  /// Appends a whole number.
  public mutating func append(_ number: Int) { append(Int64(number)) }

  /// Appends a moment in seconds, exact to the nanosecond: six to nine decimals.
  ///
  /// - Parameter moment: The moment.
  public mutating func append(_ moment: Timestamp) {
    if moment.nanoseconds < 0 { bytes.append(.minus) }
    let (seconds, rest) = moment.nanoseconds.magnitude.quotientAndRemainder(
      dividingBy: 1_000_000_000)
    appendDigits(seconds, atLeast: 1)
    appendFraction(rest, digits: 9, keepingAtLeast: 6)
  }

  /// Appends a number rounded to some decimals; zeros at its end are left away.
  ///
  /// Numbers too large for an exact result, infinities and `nan` come as Swift describes them.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - decimals: How many decimals at most, 0 to 15.
  public mutating func append(_ number: Double, decimals: Int) {
    precondition((0...15).contains(decimals), "decimals must be 0 to 15")
    let unit = Self.powersOfTen[decimals]
    let scaled = (number.magnitude * Double(unit)).rounded()
    // 2⁵³: up to there a double is a whole number exactly. The comparison is false for nan.
    guard scaled < 9_007_199_254_740_992 else { return append(number.description) }
    append(UInt64(scaled), unit: unit, decimals: decimals, isNegative: number < 0)
  }

  /// Appends a number rounded to some significant digits; zeros at its end are left away.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - significantDigits: How many digits, 1 to 15.
  public mutating func append(_ number: Double, significantDigits: Int) {
    precondition((1...15).contains(significantDigits), "significant digits must be 1 to 15")
    let magnitude = number.magnitude
    guard number != 0 else { return bytes.append(.zero) }
    guard magnitude >= 1e-300, magnitude.isFinite else { return append(number.description) }
    let exponent = Int(log10(magnitude).rounded(.down))
    guard (-5..<15).contains(exponent) else {
      append(number / pow(10, Double(exponent)), significantDigits: significantDigits)
      bytes.append(UInt8(ascii: "e"))
      return append(exponent)
    }
    let decimals = significantDigits - 1 - exponent
    if decimals >= 0 {
      // At most 15 - 1 + 5 decimals: both factors are exact powers of ten.
      let first = min(decimals, 15)
      let scaled =
        (magnitude * Double(Self.powersOfTen[first])
        * Double(Self.powersOfTen[decimals - first])).rounded()
      append(
        UInt64(scaled), unit: Self.powersOfTen[decimals], decimals: decimals,
        isNegative: number < 0)
    } else {
      let unit = Double(Self.powersOfTen[-decimals])
      append((number / unit).rounded() * unit, decimals: 0)
    }
  }

  /// Powers of ten up to the largest in 64 bits.
  private static let powersOfTen: [UInt64] = (0...19).map { exponent in
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  private mutating func append(_ number: Int64) {
    if number < 0 { bytes.append(.minus) }
    appendDigits(number.magnitude, atLeast: 1)
  }

  private mutating func append(_ scaled: UInt64, unit: UInt64, decimals: Int, isNegative: Bool) {
    // A number that rounds to zero has no sign.
    if isNegative && scaled > 0 { bytes.append(.minus) }
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: unit)
    appendDigits(whole, atLeast: 1)
    appendFraction(rest, digits: decimals, keepingAtLeast: 0)
  }

  private mutating func appendFraction(_ number: UInt64, digits: Int, keepingAtLeast kept: Int) {
    guard number > 0 || kept > 0 else { return }
    bytes.append(.point)
    appendDigits(number, atLeast: digits)
    for _ in kept..<digits where bytes.last == .zero { bytes.removeLast() }
  }

  private mutating func appendDigits(_ number: UInt64, atLeast width: Int) {
    // A 64-bit number has at most twenty digits; the last comes first.
    var digits = InlineArray<20, UInt8>(repeating: .zero)
    var count = 0
    var rest = number
    while rest > 0 || count < width {
      digits[count] = .zero + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
      count += 1
    }
    while count > 0 {
      count -= 1
      bytes.append(digits[count])
    }
  }
}
