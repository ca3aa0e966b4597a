// SPDX-License-Identifier: Apache-2.0

/// Eight bytes of text in one register, the first byte lowest.
struct EightBytes {
  private let bytes: UInt64

  /// Takes eight bytes of text as they were loaded.
  @inline(__always)
  init(_ text: UInt64) { bytes = UInt64(littleEndian: text) }

  /// A mask with the highest bit of each byte that equals the given one.
  @inline(__always)
  func places(of byte: UInt8) -> UInt64 {
    // Equal bytes become zero, and only zero bytes have a clear highest bit in both terms.
    let others = bytes ^ UInt64(byte) &* 0x0101_0101_0101_0101
    let low = (others & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F
    return ~(low | others) & 0x8080_8080_8080_8080
  }

  /// A mask of the first `count` bytes; all of them for eight and more.
  @inline(__always)
  static func first(_ count: Int) -> UInt64 {
    // Shifts by 64 and more give zero.
    ~(~0 << UInt64(truncatingIfNeeded: 8 &* count))
  }
}
