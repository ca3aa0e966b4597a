// SPDX-License-Identifier: Apache-2.0

/// Eight bytes of text in one register, the first the lowest.
struct EightBytes {
  private let bytes: UInt64

  /// Takes eight bytes of text as they were loaded.
  @inline(__always)
  init(_ text: UInt64) { bytes = UInt64(littleEndian: text) }

  /// The highest bit of each byte that is a certain one.
  @inline(__always)
  func places(of byte: UInt8) -> UInt64 {
    // Those bytes become zero; only they come without their highest bit out of either term.
    let others = bytes ^ UInt64(byte) &* 0x0101_0101_0101_0101
    let low = (others & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F
    return ~(low | others) & 0x8080_8080_8080_8080
  }

  /// All bits of the first bytes, so many of them; all when there are more than eight.
  @inline(__always)
  static func first(_ count: Int) -> UInt64 {
    // Shifts by 64 and more give zero.
    ~(~0 << UInt64(truncatingIfNeeded: 8 &* count))
  }
}

/// Eight bytes of text taken as decimal digits at once, in one register.
///
/// The first byte of the text is the lowest of the register. The steps join neighbours: digits to
/// pairs, pairs to fours, fours to eight (D. Lemire, "Quickly parsing eight digits", 2018), and back.
struct EightDigits {
  /// Each byte less the digit zero; those up to the first that is no digit are below ten.
  private let bytes: UInt64

  /// Takes eight bytes of text as they were loaded.
  @inline(__always)
  init(_ text: UInt64) { bytes = UInt64(littleEndian: text) ^ 0x3030_3030_3030_3030 }

  /// How many digits come before the first byte that is none.
  @inline(__always)
  var count: Int {
    // A sum of ten and more reaches the highest bit of its byte. It may carry into bytes behind the
    // first such one, which nobody asks about.
    let others = (bytes | bytes &+ 0x7676_7676_7676_7676) & 0x8080_8080_8080_8080
    return others.trailingZeroBitCount >> 3
  }

  /// The number that the first digits stand for.
  @inline(__always)
  func value(ofFirst count: Int) -> UInt64 {
    // With zeros before them; shifts by 64 give zero.
    let digits = bytes << UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    let pairs = digits &* 10 &+ digits &>> 8
    let fours = (pairs & 0xFF_0000_00FF) &* (100 &+ 1_000_000 &<< 32)
    return (fours &+ (pairs &>> 16 & 0xFF_0000_00FF) &* (1 &+ 10_000 &<< 32)) &>> 32
  }

  /// The digits of a number below 10⁸, each byte one, the first the lowest.
  @inline(__always)
  static func digits(of number: UInt64) -> UInt64 {
    // Quotients by multiplication, right for all that a lane can hold.
    let high = number / 10_000
    let fours = high | (number &- 10_000 &* high) &<< 32
    let hundreds = (fours &* 10_486) &>> 20 & 0x7F_0000_007F
    let pairs = hundreds | (fours &- 100 &* hundreds) &<< 16
    let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
    return tens | (pairs &- 10 &* tens) &<< 8
  }
}

/// The digits of a whole number below 10¹⁶, with zeros before them.
struct SixteenDigits {
  static let count = 16

  /// Each byte a digit, the first the lowest.
  private var first: UInt64
  private var last: UInt64

  @inline(__always)
  init(_ number: UInt64) {
    let high = number / 100_000_000
    first = EightDigits.digits(of: high)
    last = EightDigits.digits(of: number &- 100_000_000 &* high)
  }

  /// How many zeros come first.
  @inline(__always)
  var leadingZeros: Int {
    (first != 0 ? first.trailingZeroBitCount : 64 &+ last.trailingZeroBitCount) &>> 3
  }

  /// How many zeros come last.
  @inline(__always)
  var trailingZeros: Int {
    (last != 0 ? last.leadingZeroBitCount : 64 &+ first.leadingZeroBitCount) &>> 3
  }

  /// The digits behind so many, up to 16, with zeros behind them.
  @inline(__always)
  func dropping(_ count: Int) -> SixteenDigits {
    // Shifts too far give zero, shifts by less than nothing go the other way.
    var rest = self
    rest.first = first >> (8 &* count) | last << (64 &- 8 &* count)
    rest.last = last >> (8 &* count)
    return rest
  }

  /// Writes them as text into room that is there.
  @unsafe @inline(__always)
  func write(into room: inout MutableRawSpan, at offset: Int) {
    let text = (first | 0x3030_3030_3030_3030).littleEndian
    let rest = (last | 0x3030_3030_3030_3030).littleEndian
    unsafe room.storeBytes(of: text, toUncheckedByteOffset: offset, as: UInt64.self)
    unsafe room.storeBytes(of: rest, toUncheckedByteOffset: offset &+ 8, as: UInt64.self)
  }
}
