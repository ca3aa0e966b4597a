// SPDX-License-Identifier: Apache-2.0

/// Converts eight bytes of text from and to decimal digits at once, in one register.
///
/// The first byte of the text is the lowest of the register. The steps join neighbours: digits to
/// pairs, pairs to fours, fours to eight (D. Lemire, "Quickly parsing eight digits", 2018), and back.
struct EightDigits {
  /// Each byte minus the character `0`; bytes before the first non-digit are below ten.
  private let bytes: UInt64

  /// Takes eight bytes of text as they were loaded.
  @inline(__always)
  init(_ text: UInt64) { bytes = UInt64(littleEndian: text) ^ 0x3030_3030_3030_3030 }

  /// The number of digits before the first byte that is not a digit.
  @inline(__always)
  var count: Int {
    // A byte of ten or more sets its highest bit in the sum. It may carry into later bytes, which
    // do not matter.
    let others = (bytes | (bytes &+ 0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080
    return others.trailingZeroBitCount >> 3
  }

  /// The number that the first digits stand for.
  @inline(__always)
  func value(ofFirst count: Int) -> UInt64 {
    // Pads with leading zeros; a shift by 64 gives zero.
    let digits = bytes << UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    let pairs = digits &* 10 &+ digits &>> 8
    let fours = (pairs & 0xFF_0000_00FF) &* (100 &+ 1_000_000 &<< 32)
    return (fours &+ (pairs &>> 16 & 0xFF_0000_00FF) &* (1 &+ 10_000 &<< 32)) &>> 32
  }

  /// The digits of a number below 10⁸, one per byte, the first digit lowest.
  @inline(__always)
  static func digits(of number: UInt64) -> UInt64 {
    // Performance: quotients by multiplication, exact for all values that a lane can hold.
    let high = number / 10_000
    let fours = high | (number &- 10_000 &* high) &<< 32
    let hundreds = (fours &* 10_486) &>> 20 & 0x7F_0000_007F
    let pairs = hundreds | (fours &- 100 &* hundreds) &<< 16
    let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
    return tens | (pairs &- 10 &* tens) &<< 8
  }
}
