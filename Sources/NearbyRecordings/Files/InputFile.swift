// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Opens files for reading: regular ones only, so that no pipe or device holds a reader up for ever.
enum InputFile {
  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: Its name, for errors.
  ///   - missingRemedy: What to do when there is none.
  /// - Returns: A descriptor, which the caller closes, and the file's size, bytes.
  /// - Throws: `missingFile` or `unreadableFile`.
  static func open(
    path: String, file: String, missingRemedy: String = "check the path of the file"
  ) throws(RecordingError) -> (descriptor: Int32, size: Int) {
    // A pipe without a writer would hold up an open that waits.
    let descriptor = unsafe Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw errno == ENOENT
        ? RecordingError(
          .missingFile, "there is no such file", file: file, remedy: missingRemedy)
        : unreadable(file, errno)
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw RecordingError(
        .unreadableFile, "is \(kind(status.st_mode))", file: file,
        remedy: "put a regular file in its place")
    }
    // What waits never is a regular file; some file systems take the flag for another one.
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    return (descriptor, Int(status.st_size))
  }

  /// The system would not let us read.
  static func unreadable(_ file: String, _ number: Int32) -> RecordingError {
    RecordingError(
      .unreadableFile, "cannot be read (\(unsafe String(cString: strerror(number))))", file: file,
      remedy: "check the file's permissions and the disk")
  }

  /// What something is that is no regular file.
  private static func kind(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    default: "no regular file"
    }
  }
}
