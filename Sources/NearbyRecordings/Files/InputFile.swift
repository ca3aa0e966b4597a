// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Opens files for reading.
///
/// Only regular files are accepted, since a pipe or a device could block a reader for ever.
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
    // Without O_NONBLOCK, opening a pipe without a writer blocks.
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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
    // Reading a regular file never blocks, so the flag is not needed any more, and some file
    // systems interpret it differently.
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    return (descriptor, Int(status.st_size))
  }

  /// The error of a file that the system does not let us read.
  static func unreadable(_ file: String, _ number: Int32) -> RecordingError {
    RecordingError(
      .unreadableFile, "cannot be read (\(unsafe String(cString: strerror(number))))", file: file,
      remedy: "check the file's permissions and the disk")
  }

  /// The name of a kind of file that is not a regular one.
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
