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
