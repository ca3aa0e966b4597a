// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The `nearby` executable, run as a program.
enum CommandLineTool {
  /// The results of a run.
  struct Result {
    var exitCode: Int32
    var output: String
    var errors: String
  }

  /// The executable, which the build puts beside the test bundle.
  static let executable = URL(fileURLWithPath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "nearby")

  /// Runs the program and waits for its end.
  static func run(_ arguments: String...) throws -> Result { try run(arguments) }

  /// Runs the program and waits for its end.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the program's name.
  ///   - environment: Variables that are added to this process's environment or replace it.
  ///   - inputPath: A file as its standard input; empty input when `nil`.
  ///   - outputPath: A file or a device as its standard output, which is then not returned.
  /// - Returns: The results of the run.
  /// - Throws: When it cannot be started.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], inputPath: String? = nil,
    outputPath: String? = nil
  ) throws -> Result {
    // Files instead of pipes need no draining and are not inherited by other child processes.
    let folder = try TemporaryFolder()
    let (output, errors) = (folder.url.appending(path: "out"), folder.url.appending(path: "err"))
    try Data().write(to: output)
    try Data().write(to: errors)
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput =
      try inputPath.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) }
      ?? FileHandle.nullDevice
    process.standardOutput = try FileHandle(
      forWritingTo: outputPath.map { URL(fileURLWithPath: $0) } ?? output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return Result(
      exitCode: process.terminationStatus,
      output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}

/// A folder that lives as long as this object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The path of an item in the folder.
  func path(_ name: String) -> String { url.appending(path: name).path }

  /// The names of all items in the folder or in one below it, including hidden files.
  func contents(of name: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }

  /// The text of a file.
  func text(of name: String) throws -> String {
    try String(contentsOf: url.appending(path: name), encoding: .utf8)
  }

  /// Makes an empty file.
  func empty(_ name: String) throws -> URL {
    let file = url.appending(path: name)
    try Data().write(to: file)
    return file
  }

  /// Whether there is an item of that name.
  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}
