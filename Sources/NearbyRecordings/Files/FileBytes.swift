// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Reads files: small ones as a whole, others in pieces.
package enum FileBytes {
  /// The largest size of a file of settings or of a description, bytes.
  package static let usualLimit = 16 << 20

  /// The file's bytes.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: Its name for errors; the path when `nil`.
  ///   - limit: The most that it may have, bytes.
  /// - Returns: The bytes.
  /// - Throws: When the file is missing, too large, or cannot be read.
  package static func read(
    path: String, as file: String? = nil, limit: Int = usualLimit
  ) throws(RecordingError) -> [UInt8] {
    let file = file ?? path
    if let bytes = MemoryPlace(path)?.bytes {
      guard bytes.count <= limit else { throw tooLarge(file, limit) }
      return bytes
    }
    let (descriptor, size) = try InputFile.open(path: path, file: file)
    defer { close(descriptor) }
    // Some files report size zero and are not empty.
    var bytes = [UInt8](repeating: 0, count: min(size, limit) + 1)
    var filled = 0
    while true {
      let count = try fill(&bytes, from: filled, descriptor, file: file)
      filled += count
      if filled > limit { throw tooLarge(file, limit) }
      if count == 0 { return Array(bytes[..<filled]) }
      if filled == bytes.count { bytes.append(contentsOf: repeatElement(0, count: filled)) }
    }
  }

  /// The size of a file.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: Bytes; `nil` when there is no such file.
  package static func size(path: String) -> Int? {
    if let place = MemoryPlace(path) { return place.bytes?.count }
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// The first bytes of a file.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - count: The most bytes to read.
  /// - Returns: The bytes; fewer when the file has fewer.
  /// - Throws: When the file is missing, is no regular one, or cannot be read.
  package static func beginning(path: String, count: Int) throws(RecordingError) -> [UInt8] {
    if let bytes = MemoryPlace(path)?.bytes { return Array(bytes.prefix(count)) }
    let descriptor = try InputFile.open(path: path, file: path).descriptor
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let more = try fill(&bytes, from: filled, descriptor, file: path)
      if more == 0 { break }
      filled += more
    }
    return Array(bytes[..<filled])
  }

  /// Reads a file of any size in pieces of a megabyte or less.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - body: Called with one piece after the other.
  /// - Throws: When the file is missing, is no regular one, or cannot be read.
  package static func forEachPiece(
    path: String, _ body: (ArraySlice<UInt8>) -> Void
  ) throws(RecordingError) {
    if let bytes = MemoryPlace(path)?.bytes { return body(bytes[...]) }
    let descriptor = try InputFile.open(path: path, file: path).descriptor
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = try fill(&bytes, from: 0, descriptor, file: path)
      if count == 0 { return }
      body(bytes[..<count])
    }
  }

  /// Reads into the rest of a buffer.
  ///
  /// - Returns: The number of bytes, which is zero at the end of the file.
  private static func fill(
    _ bytes: inout [UInt8], from filled: Int, _ descriptor: CInt, file: String
  ) throws(RecordingError) -> Int {
    guard let count = FileDescriptor.read(descriptor, into: &bytes, from: filled) else {
      throw InputFile.unreadable(file, errno)
    }
    return count
  }

  private static func tooLarge(_ file: String, _ limit: Int) -> RecordingError {
    RecordingError(
      .unreadableFile, "is larger than \(limit >> 20) MiB", file: file,
      remedy: "check that it is the file that is meant")
  }
}
