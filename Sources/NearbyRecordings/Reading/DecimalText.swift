// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Numbers parsed straight from bytes: no strings, no locale, correctly rounded.
///
/// Ordinary numbers take Clinger's fast path (W. D. Clinger, "How to read floating point numbers
/// accurately", 1990): a whole number below 2⁵³ times or over a power of ten below 10²³ is one
/// rounding of exact operands. The rest goes to the standard library, through a string.
enum DecimalText {
  /// A decimal number as it was written, `± digits · 10^exponent`.
  private struct Scan {
    var isNegative = false
    /// The first 19 significant digits.
    var digits: UInt64 = 0
    var exponent = 0
    /// Whether digits other than zeros were left out.
    var isTruncated = false
  }

  /// The number that a text stands for, to the nearest double.
  ///
  /// `nan`, `inf` and `infinity` are numbers here, in any case and with a sign.
  ///
  /// - Returns: `nil` when the text is not a number.
  static func double(_ text: Span<UInt8>, _ range: Range<Int>) -> Double? {
    guard let scan = scan(text, range) else { return word(text, range) }
    if !scan.isTruncated, scan.digits <= 1 << 53, -22 <= scan.exponent, scan.exponent <= 22 {
      let digits = scan.isNegative ? -Double(scan.digits) : Double(scan.digits)
      return scan.exponent < 0
        ? digits / powersOfTen[-scan.exponent] : digits * powersOfTen[scan.exponent]
    }
    return Double(string(text, range))
  }

  /// The moment that a text of seconds stands for, rounded to the nearest nanosecond, halves away
  /// from zero.
  ///
  /// Nineteen digits go straight into the integer: a stamp of today's Unix time keeps every
  /// nanosecond, which a double would round to 200 ns.
  ///
  /// - Returns: `nil` when the text is not a finite number, or not one within ±4.6e9 s.
  static func timestamp(_ text: Span<UInt8>, _ range: Range<Int>) -> Timestamp? {
    guard let scan = scan(text, range) else { return nil }
    var nanoseconds = scan.digits
    var exponent = scan.exponent + 9
    if nanoseconds == 0 { exponent = 0 }
    if exponent < -19 {
      nanoseconds = 0
    } else if exponent < 0 {
      let half = wholePowersOfTen[-exponent] / 2
      let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: wholePowersOfTen[-exponent])
      nanoseconds = rest >= half ? whole + 1 : whole
    } else if exponent > 0 {
      guard exponent <= 19 else { return nil }
      let (product, overflow) = nanoseconds.multipliedReportingOverflow(
        by: wholePowersOfTen[exponent])
      if overflow { return nil }
      nanoseconds = product
    }
    guard nanoseconds < 4_600_000_000_000_000_000 else { return nil }
    let magnitude = Int64(nanoseconds)
    return Timestamp(nanoseconds: scan.isNegative ? -magnitude : magnitude)
  }

  /// The text itself; bytes that are not UTF-8 are repaired.
  static func string(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
    unsafe text.extracting(range).withUnsafeBufferPointer { bytes in
      unsafe String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func scan(_ text: Span<UInt8>, _ range: Range<Int>) -> Scan? {
    var scan = Scan()
    var position = range.lowerBound
    let end = range.upperBound
    guard position < end else { return nil }
    if text[position] == .minus || text[position] == .plus {
      scan.isNegative = text[position] == .minus
      position += 1
    }

    var digitCount = 0
    var significantCount = 0
    var isAfterPoint = false
    while position < end {
      let byte = text[position]
      if byte.isDigit {
        digitCount += 1
        if significantCount < 19 {
          scan.digits = scan.digits &* 10 &+ UInt64(byte &- .zero)
          if scan.digits != 0 { significantCount += 1 }
          if isAfterPoint { scan.exponent -= 1 }
        } else {
          if byte != .zero { scan.isTruncated = true }
          if !isAfterPoint { scan.exponent += 1 }
        }
      } else if byte == .point, !isAfterPoint {
        isAfterPoint = true
      } else {
        break
      }
      position += 1
    }
    guard digitCount > 0 else { return nil }
    if position == end { return scan }

    guard text[position] | 0x20 == UInt8(ascii: "e") else { return nil }
    position += 1
    guard position < end else { return nil }
    let isNegativeExponent = text[position] == .minus
    if isNegativeExponent || text[position] == .plus { position += 1 }
    guard position < end else { return nil }
    var exponent = 0
    while position < end {
      guard text[position].isDigit else { return nil }
      // Far beyond any double; growing further could only overflow.
      if exponent < 100_000_000 { exponent = exponent * 10 + Int(text[position] &- .zero) }
      position += 1
    }
    scan.exponent += isNegativeExponent ? -exponent : exponent
    return scan
  }

  private static func word(_ text: Span<UInt8>, _ range: Range<Int>) -> Double? {
    guard range.count <= 9 else { return nil }
    return switch string(text, range).lowercased() {
    case "nan", "+nan", "-nan": .nan
    case "inf", "+inf", "infinity", "+infinity": .infinity
    case "-inf", "-infinity": -.infinity
    default: nil
    }
  }
}

private let powersOfTen: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
]

private let wholePowersOfTen: [UInt64] = [
  1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
  10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000,
  1_000_000_000_000_000, 10_000_000_000_000_000, 100_000_000_000_000_000,
  1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
]
