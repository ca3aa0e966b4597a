// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Parses numbers directly from bytes, without strings or locale, correctly rounded.
///
/// Ordinary numbers take Clinger's fast path (W. D. Clinger, "How to read floating point numbers
/// accurately", 1990): a whole number up to 2⁵³ times or over a power of ten below 10²³ is one
/// rounding of exact operands. Longer ones, of up to 19 digits and powers of ten up to 10²⁷, are
/// one rounding of an exact product or quotient in 128 bits. All others go to the standard library,
/// through a string.
enum DecimalText {
  /// A decimal number as it was written, `± digits · 10^exponent`.
  struct Scan {
    var isNegative = false
    /// The first 19 significant digits.
    var digits: UInt64 = 0
    var exponent = 0
    /// Whether digits other than zeros were left out.
    var isTruncated = false
  }

  /// Fast path for common numbers such as `-12.345678`: reads the decimals at once.
  ///
  /// - Parameters:
  ///   - text: The bytes, with ``LineReader/padding`` behind the end.
  ///   - position: Where the number begins, then the first byte that is no part of it; anything when
  ///     there is none.
  ///   - end: Where the text ends.
  /// - Returns: `nil` for any other text, which ``scan(_:_:upTo:)`` reads.
  @inline(__always)
  static func plainScan(_ text: Span<UInt8>, _ position: inout Int, upTo end: Int) -> Scan? {
    guard 0 <= position, position < end, end &+ LineReader.padding <= text.count else { return nil }
    var scan = Scan()
    scan.isNegative = unsafe text[unchecked: position] == .minus
    // Performance: no branch, which would be unpredictable.
    position &+= scan.isNegative ? 1 : 0

    let start = position
    scan.digits = UInt64(unsafe text[unchecked: position] &- .zero)
    guard position < end, scan.digits < 10 else { return nil }
    position &+= 1
    while position < end {
      let digit = unsafe text[unchecked: position] &- .zero
      guard digit < 10 else { break }
      scan.digits = scan.digits &* 10 &+ UInt64(digit)
      position &+= 1
    }
    let wholeCount = position &- start
    guard position < end, unsafe text[unchecked: position] == .point else {
      return wholeCount <= 19 ? scan : nil
    }
    position &+= 1
    let point = position
    var decimals = unsafe eightDigits(text, position)
    var count = decimals.count
    if count == 8 {
      scan.digits = scan.digits &* 100_000_000 &+ decimals.value(ofFirst: 8)
      position &+= 8
      guard position <= end else { return nil }
      decimals = unsafe eightDigits(text, position)
      count = decimals.count
    }
    scan.digits = scan.digits &* wholePowersOfTen[count] &+ decimals.value(ofFirst: count)
    position &+= count
    scan.exponent = point &- position
    // Fails if more decimals follow, or if digits after the end were read. Nineteen digits always
    // fit into 64 bits.
    return count < 8 && position <= end && wholeCount &- scan.exponent <= 19 ? scan : nil
  }

  @unsafe @inline(__always)
  private static func eightDigits(_ text: Span<UInt8>, _ position: Int) -> EightDigits {
    unsafe EightDigits(
      text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self))
  }

  /// Reads the number with which a text begins, as far as it goes.
  ///
  /// - Parameters:
  ///   - text: The bytes.
  ///   - position: Where the number begins, then the first byte that is no part of it.
  ///   - end: Where the text ends.
  /// - Returns: `nil` when the text begins with something else.
  @inline(__always)
  static func scan(_ text: Span<UInt8>, _ position: inout Int, upTo end: Int) -> Scan? {
    precondition(0 <= position && end <= text.count)
    var scan = Scan()
    if position < end {
      let sign = unsafe text[unchecked: position]
      scan.isNegative = sign == .minus
      // Performance: no branch, which would be unpredictable.
      position &+= sign == .minus || sign == .plus ? 1 : 0
    }

    let start = position
    appendDigits(to: &scan.digits, text, &position, end)
    var count = position - start
    if position < end, unsafe text[unchecked: position] == .point {
      position += 1
      let point = position
      appendDigits(to: &scan.digits, text, &position, end)
      scan.exponent = point - position
      count += position - point
    }
    guard count > 0 else { return nil }
    // Nineteen digits always fit into 64 bits.
    if count > 19 { scan.takeLongDigits(text, start..<position) }
    guard position < end, unsafe text[unchecked: position] | 0x20 == UInt8(ascii: "e") else {
      return scan
    }
    position += 1
    guard let exponent = exponent(text, &position, end) else { return nil }
    scan.exponent += exponent
    return scan
  }

  @inline(__always)
  private static func appendDigits(
    to number: inout UInt64, _ text: Span<UInt8>, _ position: inout Int, _ end: Int
  ) {
    while position < end {
      let digit = unsafe text[unchecked: position] &- .zero
      guard digit < 10 else { return }
      number = number &* 10 &+ UInt64(digit)
      position += 1
    }
  }

  /// Reads the whole number behind an `e`.
  ///
  /// Performance: rarely needed, and a separate function leaves its registers to the common path.
  @inline(never)
  private static func exponent(
    _ text: Span<UInt8>, _ position: inout Int, _ end: Int
  ) -> Int? {
    guard position < end else { return nil }
    let isNegative = text[position] == .minus
    if isNegative || text[position] == .plus { position += 1 }
    let start = position
    var exponent = 0
    while position < end, text[position].isDigit {
      // Far beyond any double; growing further could only overflow.
      if exponent < 100_000_000 { exponent = exponent * 10 + Int(text[position] &- .zero) }
      position += 1
    }
    return position == start ? nil : isNegative ? -exponent : exponent
  }

  /// The number that a field stands for, to the nearest double.
  ///
  /// `nan`, `inf` and `infinity` are numbers here, in any case and with a sign.
  ///
  /// - Returns: `nil` when the text is not a number.
  static func double(_ text: Span<UInt8>, _ field: Range<Int>) -> Double? {
    double(wholeScan(text, field), text, field)
  }

  /// The number that a field stands for, whose scan is already there.
  ///
  /// - Parameters:
  ///   - scan: The scan, if the whole field is one.
  ///   - text: The bytes.
  ///   - field: Where the field lies.
  /// - Returns: `nil` when the text is not a number.
  @inline(__always)
  static func double(_ scan: Scan?, _ text: Span<UInt8>, _ field: Range<Int>) -> Double? {
    guard let scan else { return word(text, field) }
    return scan.ordinaryDouble ?? scan.longDouble ?? hardDouble(text, field)
  }

  @inline(never)
  private static func hardDouble(_ text: Span<UInt8>, _ field: Range<Int>) -> Double? {
    Double(string(text, field))
  }

  /// The timestamp of a field in seconds, rounded to the nearest nanosecond, halves away from zero.
  ///
  /// - Returns: `nil` when the text is not a finite number, or not one within ±4.6e9 s.
  static func timestamp(_ text: Span<UInt8>, _ field: Range<Int>) -> Timestamp? {
    wholeScan(text, field)?.timestamp
  }

  /// The text itself; bytes that are not UTF-8 are repaired.
  static func string(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
    unsafe text.extracting(range).withUnsafeBufferPointer { bytes in
      unsafe String(decoding: bytes, as: UTF8.self)
    }
  }

  @inline(__always)
  private static func wholeScan(_ text: Span<UInt8>, _ field: Range<Int>) -> Scan? {
    var position = field.lowerBound
    if let scan = plainScan(text, &position, upTo: field.upperBound),
      position == field.upperBound
    {
      return scan
    }
    return anyScan(text, field)
  }

  @inline(never)
  private static func anyScan(_ text: Span<UInt8>, _ field: Range<Int>) -> Scan? {
    var position = field.lowerBound
    let scan = scan(text, &position, upTo: field.upperBound)
    return position == field.upperBound ? scan : nil
  }

  @inline(never)
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

extension DecimalText.Scan {
  /// Takes the first 19 significant digits out of a number of any length.
  @inline(never)
  fileprivate mutating func takeLongDigits(_ text: Span<UInt8>, _ range: Range<Int>) {
    (digits, exponent, isTruncated) = (0, 0, false)
    var count = 0
    var isAfterPoint = false
    for position in range {
      let byte = text[position]
      if byte == .point {
        isAfterPoint = true
      } else if count < 19 {
        digits = digits * 10 + UInt64(byte &- .zero)
        if digits != 0 { count += 1 }
        if isAfterPoint { exponent -= 1 }
      } else {
        if byte != .zero { isTruncated = true }
        if !isAfterPoint { exponent += 1 }
      }
    }
  }

  /// The number if one operation on exact operands gives it; otherwise `nil`.
  @inline(__always)
  var ordinaryDouble: Double? {
    guard !isTruncated, digits <= 1 << 53, -22 <= exponent, exponent <= 22 else { return nil }
    // Performance: the processor converts signed integers in one instruction.
    let magnitude = Double(Int64(bitPattern: digits))
    // Performance: no branch, which would be unpredictable.
    let whole = Double(bitPattern: magnitude.bitPattern | (isNegative ? 1 : 0) << 63)
    return exponent < 0 ? whole / powersOfTen[-exponent] : whole * powersOfTen[exponent]
  }

  /// The number if its power of five fits into 64 bits; otherwise `nil`.
  ///
  /// The digits times or over `5^|e|` are computed to at least 63 leading bits, the last of which
  /// is set if any bit after it is (a sticky bit). The single rounding to 53 bits is therefore
  /// correct. `2^e` is exact: nothing here is near the ends of a double's range.
  @inline(never)
  fileprivate var longDouble: Double? {
    guard !isTruncated, digits != 0, -27 <= exponent, exponent <= 27 else { return nil }
    let power = powersOfFive[abs(exponent)]
    let leading: UInt64
    var binaryExponent = exponent
    if exponent >= 0 {
      let product = digits.multipliedFullWidth(by: power)
      if product.high == 0 {
        leading = product.low
      } else {
        let shift = UInt64(product.high.leadingZeroBitCount)
        // Shifts by 64 give zero.
        leading =
          product.high << shift | product.low >> (64 - shift)
          | (product.low << shift == 0 ? 0 : 1)
        binaryExponent += 64 - Int(shift)
      }
    } else {
      let (upper, lower) = (digits.leadingZeroBitCount, power.leadingZeroBitCount)
      // Both are shifted to set their highest bit; the dividend is halved, so that the quotient is
      // below one.
      let (dividend, divisor) = (digits << UInt64(upper), power << UInt64(lower))
      let (quotient, rest) = divisor.dividingFullWidth((dividend >> 1, dividend << 63))
      leading = quotient | (rest == 0 ? 0 : 1)
      binaryExponent += lower - upper - 63
    }
    return Double(leading)
      * Double(
        sign: isNegative ? .minus : .plus, exponentBitPattern: UInt(1023 + binaryExponent),
        significandBitPattern: 0)
  }

  /// The seconds as a timestamp; `nil` beyond ±4.6e9 s.
  ///
  /// Nineteen digits are converted directly to the integer. A Unix timestamp of today keeps every
  /// nanosecond, where a double would round to 200 ns.
  @inline(__always)
  var timestamp: Timestamp? {
    var nanoseconds = digits
    let shift = digits == 0 ? 0 : exponent + 9
    if shift < -19 {
      nanoseconds = 0
    } else if shift < 0 {
      let half = wholePowersOfTen[-shift] / 2
      let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: wholePowersOfTen[-shift])
      nanoseconds = rest >= half ? whole + 1 : whole
    } else if shift > 0 {
      guard shift <= 19 else { return nil }
      let (product, overflow) = nanoseconds.multipliedReportingOverflow(
        by: wholePowersOfTen[shift])
      if overflow { return nil }
      nanoseconds = product
    }
    guard nanoseconds < 4_600_000_000_000_000_000 else { return nil }
    let magnitude = Int64(nanoseconds)
    return Timestamp(nanoseconds: isNegative ? -magnitude : magnitude)
  }
}

private let powersOfFive: [UInt64] = [
  1, 5, 25, 125, 625, 3125, 15_625, 78_125, 390_625, 1_953_125, 9_765_625, 48_828_125, 244_140_625,
  1_220_703_125, 6_103_515_625, 30_517_578_125, 152_587_890_625, 762_939_453_125,
  3_814_697_265_625, 19_073_486_328_125, 95_367_431_640_625, 476_837_158_203_125,
  2_384_185_791_015_625, 11_920_928_955_078_125, 59_604_644_775_390_625, 298_023_223_876_953_125,
  1_490_116_119_384_765_625, 7_450_580_596_923_828_125,
]
