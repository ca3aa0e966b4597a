// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads a text file line by line, in memory that does not depend on the file's size.
///
/// The file passes through one buffer of at most 256 KiB. A line is a range of that buffer, valid until the
/// next one is asked for, so that nothing is copied and nothing is allocated.
package struct LineReader: ~Copyable, Sendable {
  /// The largest size of the buffer, and so of a line, bytes.
  static let bufferSize = 256 * 1024
  /// The smallest size of the buffer, bytes; a smaller one would hardly be cheaper.
  private static let leastBufferSize = 16 * 1024

  /// The number of bytes that may be loaded at once from any position in a line.
  static let padding = 8

  /// The file's name inside the recording, for errors.
  package let file: String
  /// The file's size when it was opened, bytes.
  let totalBytes: Int
  /// The bytes read so far.
  private(set) var bytesRead = 0
  /// The number of the line that ``next()`` returned last, from 1.
  package private(set) var line = 0
  /// The bytes that hold the last line, followed by ``padding`` unused bytes.
  package private(set) var buffer: [UInt8]

  /// -1 when the file is in memory.
  private let descriptor: Int32
  /// The bytes of a file that is in memory.
  private let kept: [UInt8]?
  /// The size of the buffer without the padding.
  private var room: Int
  private var position = 0
  private var filled = 0
  private var isAtEnd = false
  /// Whether the rest of a line that does not fit is still to be skipped.
  private var isSkipping = false

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The file's name inside the recording.
  /// - Throws: `missingFile` or `unreadableFile`.
  init(path: String, file: String) throws(RecordingError) {
    try self.init(TextFile(path: path, name: file))
  }

  /// Opens a file.
  ///
  /// - Parameter file: The file; bytes that are in memory already are not read again.
  /// - Throws: `missingFile` or `unreadableFile`.
  init(_ file: TextFile) throws(RecordingError) {
    if let bytes = file.bytes {
      self.init(bytes, file: file.name)
      return
    }
    let descriptor = try InputFile.open(
      path: file.path, file: file.name,
      missingRemedy: file.path == file.name
        ? "check the path of the file"
        : "see the recording format for the files that a recording needs"
    ).descriptor
    try self.init(descriptor: descriptor, file: file.name)
  }

  private init(_ bytes: [UInt8], file: String) {
    self.file = file
    descriptor = -1
    kept = bytes
    totalBytes = bytes.count
    room = Self.room(forSize: bytes.count)
    buffer = Self.emptyBuffer(room)
  }

  /// Reads from a descriptor, and closes it at the end.
  ///
  /// - Parameters:
  ///   - descriptor: A file, a pipe or a terminal, open for reading.
  ///   - file: Its name, for errors.
  /// - Throws: `unreadableFile`.
  init(descriptor: Int32, file: String) throws(RecordingError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      close(descriptor)
      throw RecordingError(
        .unreadableFile, "is not a file", file: file, remedy: "put a file in its place")
    }
    self.file = file
    self.descriptor = descriptor
    kept = nil
    totalBytes = Int(status.st_size)
    // A pipe, or a file that reports size zero, may have any size.
    let isSmall = status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    room = isSmall ? Self.room(forSize: Int(status.st_size)) : Self.bufferSize
    buffer = Self.emptyBuffer(room)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// A small file needs a buffer of its size, plus one byte to detect its end.
  private static func room(forSize size: Int) -> Int {
    min(max(size + 1, leastBufferSize), bufferSize)
  }

  private static func emptyBuffer(_ room: Int) -> [UInt8] {
    // `Array(repeating:count:)` takes milliseconds in a debug build.
    unsafe [UInt8](unsafeUninitializedCapacity: room + padding) { bytes, count in
      guard let base = bytes.baseAddress else { return }
      unsafe memset(base, 0, bytes.count)
      count = bytes.count
    }
  }

  /// The next line, without its LF or CRLF and without a byte order mark.
  ///
  /// - Returns: Its range in ``buffer``; `nil` after the last line.
  /// - Throws: When the system fails, or when a line does not fit into the buffer; the next call goes on with the line
  ///   after it.
  @inline(__always)
  package mutating func next() throws(RecordingError) -> Range<Int>? {
    if let end = indexOfNewline(from: position) { return take(upTo: end, next: end + 1) }
    return try nextBeyondBuffer()
  }

  @inline(never)
  private mutating func nextBeyondBuffer() throws(RecordingError) -> Range<Int>? {
    if isSkipping {
      try skipLine()
      return try next()
    }
    while !isAtEnd {
      let searched = filled - position
      try fill()
      if let end = indexOfNewline(from: position + searched) {
        return take(upTo: end, next: end + 1)
      }
    }
    return position < filled ? take(upTo: filled, next: filled) : nil
  }

  /// Skips to the end of a line that did not fit.
  private mutating func skipLine() throws(RecordingError) {
    defer { isSkipping = false }
    while !isAtEnd {
      position = filled
      try fill()
      if let end = indexOfNewline(from: position) {
        position = end + 1
        return
      }
    }
    position = filled
  }

  @inline(__always)
  private mutating func take(upTo end: Int, next: Int) -> Range<Int> {
    let start = position
    position = next
    line += 1
    return start..<(end > start && buffer[end - 1] == .cr ? end - 1 : end)
  }

  @inline(__always)
  private func indexOfNewline(from start: Int) -> Int? {
    unsafe buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < filled,
        let found = unsafe memchr(base + start, Int32(UInt8.lf), filled - start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - base
    }
  }

  /// Moves the unread bytes to the beginning of the buffer and reads into the rest.
  private mutating func fill() throws(RecordingError) {
    let rest = filled - position
    if rest == room, room < Self.bufferSize {
      // The file has grown since it was opened.
      buffer += [UInt8](repeating: 0, count: Self.bufferSize - room)
      room = Self.bufferSize
    }
    guard rest < room else {
      isSkipping = true
      position = filled
      line += 1
      throw RecordingError(
        .lineTooLong, "the line is longer than \(Self.bufferSize) bytes", file: file, line: line,
        remedy: "the file must be lines of text")
    }
    let (from, fd, room) = (position, descriptor, room)
    let (kept, start) = (kept, bytesRead)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return 0 }
      unsafe memmove(base, base + from, rest)
      guard let kept else { return unsafe read(fd, base + rest, room - rest) }
      let piece = kept[start..<min(kept.count, start + room - rest)]
      return unsafe piece.withUnsafeBytes { piece in
        if let source = piece.baseAddress { unsafe memcpy(base + rest, source, piece.count) }
        return piece.count
      }
    }
    position = 0
    filled = rest
    if count < 0 {
      if errno == EINTR { return }
      throw InputFile.unreadable(file, errno)
    }
    filled += count
    isAtEnd = count == 0
    if bytesRead == 0 { try skipByteOrderMark() }
    bytesRead += count
  }

  private mutating func skipByteOrderMark() throws(RecordingError) {
    if filled >= 3, buffer[0] == 0xEF, buffer[1] == 0xBB, buffer[2] == 0xBF {
      position = 3
    } else if filled >= 2, (buffer[0] ^ buffer[1]) == 1, min(buffer[0], buffer[1]) == 0xFE {
      throw RecordingError(
        .unreadableFile, "the file is UTF-16", file: file, line: 1, remedy: "save it as UTF-8")
    }
  }
}

extension LineReader {
  /// Whether a piece of the last line holds only blanks.
  @inline(__always)
  func isBlank(_ range: Range<Int>) -> Bool {
    let text = buffer.span
    for position in range where !text[position].isBlank { return false }
    return true
  }

  /// An error in the last line, at a place in ``buffer`` if one is given.
  package func error(
    _ code: RecordingError.Code, _ message: String, at position: Int? = nil,
    in lineRange: Range<Int>, remedy: String
  ) -> RecordingError {
    RecordingError(
      code, message, file: file, line: line, column: position.map { $0 - lineRange.lowerBound + 1 },
      remedy: remedy)
  }

  /// A piece of the last line.
  func bytes(_ range: Range<Int>) -> [UInt8] { range.map { buffer[$0] } }

  /// A piece of the last line as it is shown in messages: quoted, on one line, not too long.
  func excerpt(_ range: Range<Int>) -> String {
    let shown = range.count > 40 ? range.lowerBound..<range.lowerBound + 40 : range
    let text = DecimalText.string(buffer.span, shown)
    let printable = text.unicodeScalars.map {
      $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : String($0)
    }
    return "\"\(printable.joined())\(range.count > 40 ? "…" : "")\""
  }
}
