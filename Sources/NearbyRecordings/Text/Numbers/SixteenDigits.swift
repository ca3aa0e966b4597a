// SPDX-License-Identifier: Apache-2.0

/// The digits of an integer below 10¹⁶, with leading zeros.
struct SixteenDigits {
  static let count = 16

  /// One digit per byte, the first digit lowest.
  private var first: UInt64
  private var last: UInt64

  @inline(__always)
  init(_ number: UInt64) {
    let high = number / 100_000_000
    first = EightDigits.digits(of: high)
    last = EightDigits.digits(of: number &- 100_000_000 &* high)
  }

  /// The number of leading zeros.
  @inline(__always)
  var leadingZeros: Int {
    (first != 0 ? first.trailingZeroBitCount : 64 &+ last.trailingZeroBitCount) &>> 3
  }

  /// The number of trailing zeros.
  @inline(__always)
  var trailingZeros: Int {
    (last != 0 ? last.leadingZeroBitCount : 64 &+ first.leadingZeroBitCount) &>> 3
  }

  /// The digits without the first `count`, up to 16, followed by zeros.
  @inline(__always)
  func dropping(_ count: Int) -> SixteenDigits {
    // Shifts beyond the width give zero, negative shifts go the other way.
    var rest = self
    rest.first = first >> (8 &* count) | last << (64 &- 8 &* count)
    rest.last = last >> (8 &* count)
    return rest
  }

  /// Writes them as text into existing storage.
  @unsafe @inline(__always)
  func write(into room: inout MutableRawSpan, at offset: Int) {
    let text = (first | 0x3030_3030_3030_3030).littleEndian
    let rest = (last | 0x3030_3030_3030_3030).littleEndian
    unsafe room.storeBytes(of: text, toUncheckedByteOffset: offset, as: UInt64.self)
    unsafe room.storeBytes(of: rest, toUncheckedByteOffset: offset &+ 8, as: UInt64.self)
  }
}
