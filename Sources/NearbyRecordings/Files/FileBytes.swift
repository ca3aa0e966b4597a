// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Reads small files as a whole.
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
    let (descriptor, size) = try InputFile.open(path: path, file: file)
    defer { close(descriptor) }
    // Some files report size zero and are not empty.
    var bytes = [UInt8](repeating: 0, count: min(size, limit) + 1)
    var filled = 0
    while true {
      let room = bytes.count - filled
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe bytes.baseAddress.map {
          unsafe Foundation.read(descriptor, $0 + filled, room)
        } ?? 0
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw InputFile.unreadable(file, errno) }
      filled += count
      if filled > limit { throw tooLarge(file, limit) }
      if count == 0 { return Array(bytes[..<filled]) }
      if filled == bytes.count { bytes.append(contentsOf: repeatElement(0, count: filled)) }
    }
  }

  /// The file, for reading it in pieces.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: A handle that closes it.
  /// - Throws: When the file is missing, is no regular one, or cannot be read.
  package static func handle(path: String) throws(RecordingError) -> FileHandle {
    FileHandle(
      fileDescriptor: try InputFile.open(path: path, file: path).descriptor, closeOnDealloc: true)
  }

  private static func tooLarge(_ file: String, _ limit: Int) -> RecordingError {
    RecordingError(
      .unreadableFile, "is larger than \(limit >> 20) MiB", file: file,
      remedy: "check that it is the file that is meant")
  }
}
