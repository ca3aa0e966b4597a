// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads a binary file in pieces.
///
/// Only the piece that was asked for is in memory.
package struct BinaryReader: ~Copyable, Sendable {
  /// The file's path.
  package let file: String
  /// The file's size, bytes.
  package let totalBytes: Int
  /// The position of the next piece.
  package private(set) var position = 0

  private static let bufferSize = 1 << 16

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The first byte of the buffer that was not taken yet.
  private var head = 0

  package init(path: String) throws(RecordingError) {
    (descriptor, totalBytes) = try InputFile.open(path: path, file: path)
    file = path
  }

  deinit { close(descriptor) }

  /// How many bytes are left.
  package var bytesLeft: Int { totalBytes - position }

  /// The next bytes, fewer at the end of the file, without taking them.
  package mutating func peek(_ count: Int) throws(RecordingError) -> ArraySlice<UInt8> {
    try fill(count)
    return buffer[head...].prefix(count)
  }

  /// Takes the next bytes.
  ///
  /// - Parameters:
  ///   - count: How many; nothing is allocated when the file has fewer.
  ///   - what: What they are, for the error.
  /// - Returns: The bytes, read from their beginning.
  /// - Throws: When the file has fewer, or the system fails.
  package mutating func take(_ count: Int, _ what: String) throws(RecordingError) -> ByteCursor {
    guard count >= 0, count <= bytesLeft else { throw cutShort(what, needed: count) }
    try fill(count)
    guard buffer.count - head >= count else { throw cutShort(what, needed: count) }
    let piece = Array(buffer[head..<head + count])
    let origin = position
    head += count
    position += count
    return ByteCursor(piece, file: file, origin: origin)
  }

  /// Moves over bytes without reading them.
  package mutating func skip(_ count: Int, _ what: String) throws(RecordingError) {
    guard count >= 0, count <= bytesLeft else { throw cutShort(what, needed: count) }
    position += count
    let inBuffer = min(count, buffer.count - head)
    head += inBuffer
    if inBuffer < count, lseek(descriptor, off_t(position), SEEK_SET) < 0 {
      throw InputFile.unreadable(file, errno)
    }
  }

  /// An error at a byte of the file.
  package func error(
    _ problem: String, at byte: Int, code: RecordingError.Code = .malformedField,
    remedy: String = "the file is damaged or cut short; fetch it again"
  ) -> RecordingError {
    RecordingError(code, "\(problem) at byte \(byte)", file: file, remedy: remedy)
  }

  private mutating func fill(_ count: Int) throws(RecordingError) {
    guard buffer.count - head < count else { return }
    buffer.removeFirst(head)
    head = 0
    while buffer.count < count {
      let length = buffer.count
      // A small file takes no larger buffer than it needs.
      let left = max(totalBytes - position - length, 1)
      let wanted = max(count - length, min(left, Self.bufferSize))
      buffer.append(contentsOf: repeatElement(0, count: wanted))
      let fd = descriptor
      let read = unsafe buffer.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return 0 }
        return unsafe Glibc.read(fd, base + length, wanted)
      }
      buffer.removeLast(wanted - max(read, 0))
      if read < 0 {
        if errno == EINTR { continue }
        throw InputFile.unreadable(file, errno)
      }
      if read == 0 { return }
    }
  }

  private func cutShort(_ what: String, needed: Int) -> RecordingError {
    error("\(what) needs \(needed) bytes where \(bytesLeft) are left,", at: position)
  }
}
