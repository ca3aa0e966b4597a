// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import NearbyFusion
import NearbyImports
import NearbyRecordings

extension ExitCode {
  /// The command line is wrong (`EX_USAGE`).
  static let usage = ExitCode(64)
  /// The data is wrong (`EX_DATAERR`).
  static let badData = ExitCode(65)
  /// An internal error of the program (`EX_SOFTWARE`).
  static let internalError = ExitCode(70)
  /// The output could not be written and is lost (`EX_IOERR`).
  static let outputLost = ExitCode(74)
}

/// The failure of a command: a message in one line, and the exit code.
struct CommandFailure: Error {
  var exitCode: ExitCode
  var message: String

  init(_ exitCode: ExitCode, _ message: String) {
    self.exitCode = exitCode
    self.message = message
  }

  /// The failure for an error of the library; `nil` for other errors.
  init?(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as RecordingError:
      let isOutputLost = error.code == .unwritableFile
      self.init(isOutputLost ? .outputLost : .badData, error.description)
    case let error as FusionConfigurationError: self.init(.badData, error.description)
    default: return nil
    }
  }
}

/// Messages to the user on standard error, one line each.
enum Diagnostics {
  static func error(_ message: String) { write("nearby: error: \(message.printable())\n") }

  static func warning(_ message: String) { write("nearby: warning: \(message.printable())\n") }

  static func note(_ message: String) { write("nearby: \(message.printable())\n") }

  /// Prints the warnings about a recording.
  static func warn(of warnings: RecordingWarnings, in recording: RecordingReader) {
    for item in warnings.kept {
      var item = item
      item.file = recording.path(of: item.file)
      warning(item.description)
    }
    for (kind, count) in warnings.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where count > RecordingWarnings.keptOfEachKind {
      warning("\(count - RecordingWarnings.keptOfEachKind) more of the kind \(kind.rawValue)")
    }
  }

  /// Prints what is wrong with the recording of a run.
  static func warn(of findings: [RunFinding]) {
    for finding in findings {
      warning(
        ([finding.message] + [finding.remedy].compactMap(\.self))
          .map { $0.printable(limit: RecordingError.longestMessage) }.joined(separator: "; "))
    }
  }

  /// Prints the warnings and errors of a recording's checks.
  static func warn(of findings: [RecordingFinding]) {
    for finding in findings {
      switch finding.severity {
      case .note: break
      case .warning: warning(finding.description)
      case .error: error(finding.description)
      }
    }
  }

  /// Writes text unchanged.
  ///
  /// A failure cannot be reported anywhere.
  static func write(_ text: String) {
    _ = FileDescriptor.write(Array(text.utf8), to: STDERR_FILENO)
  }
}

extension RecordingError {
  /// The error, mentioning `--recording` if a result's recording is not where the result says.
  ///
  /// - Parameter results: The results that were named.
  /// - Returns: The error for a person to read.
  func mentioningRecording(of results: [String]) -> RecordingError {
    guard code == .missingFolder || code == .missingFile, !results.contains(file),
      !results.contains(where: { file.hasPrefix($0 + "/") })
    else { return self }
    var error = self
    error.remedy =
      "the result names it as its recording, relative to where it was run; go there, or name the "
      + "recording with --recording DIR"
    return error
  }
}

extension RecordingReader {
  /// The path of one of the recording's files, relative to the current folder.
  func path(of file: String) -> String {
    folder.hasSuffix("/") ? folder + file : "\(folder)/\(file)"
  }
}
