// SPDX-License-Identifier: Apache-2.0

/// Reads a piece of a binary file from beginning to end.
///
/// Every error names the byte.
package struct ByteCursor: Sendable {
  package let bytes: [UInt8]
  /// The file's path, for errors.
  package let file: String
  /// The position of the first byte in the file, or in the data unpacked from it.
  package let origin: Int
  /// The next byte.
  package private(set) var position: Int
  /// The position after the last byte.
  package let end: Int
  /// Whether numbers come with their least byte first.
  package var isLittleEndian = true

  package init(_ bytes: [UInt8], file: String, origin: Int = 0) {
    (self.bytes, self.file, self.origin) = (bytes, file, origin)
    (position, end) = (0, bytes.count)
  }

  private init(_ parent: ByteCursor, _ range: Range<Int>) {
    (bytes, file, origin) = (parent.bytes, parent.file, parent.origin)
    (position, end) = (range.lowerBound, range.upperBound)
    isLittleEndian = parent.isLittleEndian
  }

  /// How many bytes are left.
  package var count: Int { end - position }
  /// The bytes that were not read yet.
  package var rest: ArraySlice<UInt8> { bytes[position..<end] }

  /// Moves over bytes.
  package mutating func skip(_ count: Int, _ what: String) throws(RecordingError) {
    guard count >= 0, count <= self.count else { throw cutShort(what, needed: count) }
    position += count
  }

  /// Takes bytes as a piece of their own.
  package mutating func take(_ count: Int, _ what: String) throws(RecordingError) -> ByteCursor {
    let start = position
    try skip(count, what)
    return ByteCursor(self, start..<position)
  }

  /// Takes bytes whose number does not fit into a signed integer when the file is damaged.
  package mutating func take(_ count: UInt64, _ what: String) throws(RecordingError) -> ByteCursor {
    try take(Int(clamping: count), what)
  }

  /// Takes a whole number.
  package mutating func take<Number: FixedWidthInteger>(
    _: Number.Type, _ what: String
  ) throws(RecordingError) -> Number {
    let start = position
    try skip(MemoryLayout<Number>.size, what)
    var number: Number = 0
    for place in start..<position {
      let byte = isLittleEndian ? bytes[position - 1 - (place - start)] : bytes[place]
      number = (MemoryLayout<Number>.size == 1 ? 0 : number << 8) | Number(truncatingIfNeeded: byte)
    }
    return number
  }

  /// Takes a text that follows its length in 32 bits.
  package mutating func takeString(_ what: String) throws(RecordingError) -> String {
    let length = try take(UInt32.self, what)
    return String(decoding: try take(Int(length), what).rest, as: UTF8.self)
  }

  /// An error at the next byte.
  package func error(
    _ problem: String, code: RecordingError.Code = .malformedField,
    remedy: String = "the file is damaged or cut short; fetch it again"
  ) -> RecordingError {
    RecordingError(
      code, "\(problem) at byte \(origin + position)", file: file, remedy: remedy)
  }

  private func cutShort(_ what: String, needed: Int) -> RecordingError {
    error("\(what) needs \(needed) bytes where \(count) are left,")
  }
}
