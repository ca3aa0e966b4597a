// SPDX-License-Identifier: Apache-2.0

/// Memory that grows, aligned as Arrow recommends it.
@safe
struct ColumnStorage: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var byteCount = 0

  private static var alignment: Int { 64 }

  init() { unsafe base = nil }

  deinit { unsafe base?.deallocate() }

  /// Appends a value.
  @inline(__always)
  mutating func append<Value: BitwiseCopyable>(_ value: Value) {
    let end = byteCount + MemoryLayout<Value>.size
    if end > capacity { grow(to: end) }
    // `grow` has made room.
    unsafe base?.storeBytes(of: value, toByteOffset: byteCount, as: Value.self)
    byteCount = end
  }

  /// Appends one bit to a bitmap that has so many.
  @inline(__always)
  mutating func append(bit: Bool, at index: Int) {
    if index & 7 == 0 { append(UInt8(0)) }
    guard bit, let base = unsafe base else { return }
    let byte = unsafe base.load(fromByteOffset: index >> 3, as: UInt8.self)
    unsafe base.storeBytes(
      of: byte | 1 << UInt8(index & 7), toByteOffset: index >> 3, as: UInt8.self)
  }

  private mutating func grow(to count: Int) {
    let size = max(1024, 2 * capacity, count)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Self.alignment)
    if let base = unsafe base {
      unsafe grown.copyMemory(from: base, byteCount: byteCount)
      unsafe base.deallocate()
    }
    unsafe base = grown
    capacity = size
  }

  /// Gives the memory away; never null, as some readers ask for it.
  ///
  /// To be freed by `deallocate`.
  mutating func take() -> UnsafeMutableRawPointer {
    let taken =
      unsafe base
      ?? UnsafeMutableRawPointer.allocate(byteCount: Self.alignment, alignment: Self.alignment)
    unsafe base = nil
    (capacity, byteCount) = (0, 0)
    return unsafe taken
  }
}
