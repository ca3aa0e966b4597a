// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import NearbyRecordings

/// Standard output, every write of which is checked, so that lost output is an error.
///
/// Nothing is buffered, so that a reader sees each line at once.
enum StandardOutput {
  /// Writes a text with a terminator.
  ///
  /// Characters that a terminal would interpret are escaped.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - terminator: The terminator, a newline by default.
  /// - Throws: When it cannot be written.
  static func print(_ text: String, terminator: String = "\n") throws(CommandFailure) {
    try write(text.printable(keepsLines: true) + terminator)
  }

  /// Writes a document unchanged.
  ///
  /// - Parameter document: The text.
  /// - Throws: When it cannot be written.
  static func write(_ document: String) throws(CommandFailure) {
    try write(Array(document.utf8))
  }

  /// Writes bytes.
  ///
  /// - Parameter bytes: The bytes.
  /// - Throws: When they cannot be written. If the reader of a pipe has ended, the process ends
  ///   silently, as is usual.
  static func write(_ bytes: [UInt8]) throws(CommandFailure) {
    guard let reason = FileDescriptor.write(bytes, to: STDOUT_FILENO) else { return }
    if reason == EPIPE { endLikeClosedPipe() }
    throw CommandFailure(
      .outputLost,
      "standard output cannot be written (\(unsafe String(cString: strerror(reason)))); "
        + "check that space is left where it leads")
  }

  private static func endLikeClosedPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    exit(128 + SIGPIPE)
  }
}
