// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Standard output, every write of which is checked.
enum Output {
  /// Writes text unchanged.
  ///
  /// - Parameter text: The text.
  /// - Returns: The error, if it could not be written. Foundation's non-throwing method would end the
  ///   program with a backtrace.
  static func write(_ text: String) -> (any Error)? {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
      return nil
    } catch {
      return error
    }
  }

  /// Writes a line, or ends the program.
  static func print(_ line: String) {
    if let error = write(line + "\n") { fail(error) }
  }

  /// Ends the program because output was lost.
  static func fail(_ error: any Error) -> Never {
    say(
      "nearby-devices: standard output cannot be written (\(reason(error))); "
        + "check that space is left where it leads")
    exit(EX_IOERR)
  }

  /// The system's message of the error.
  private static func reason(_ error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    guard let cause = cause as NSError?, cause.domain == NSPOSIXErrorDomain else {
      return error.localizedDescription
    }
    return String(cString: strerror(Int32(cause.code)))
  }

  /// Writes a line to standard error.
  ///
  /// A failure cannot be reported anywhere.
  static func say(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
