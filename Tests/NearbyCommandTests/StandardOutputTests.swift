// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Output that cannot be written to standard output is lost, and the exit status reports it.
@Suite("Standard output")
struct StandardOutputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "on a full disk every command ends with status 74 and one line",
    arguments: [
      ["run", "WALK", "--output", "OUT"], ["run", "WALK", "--output", "OUT", "--json"],
      ["run", "-"], ["info", "WALK"], ["info", "WALK", "--json"], ["evaluate", "RESULT"],
      ["evaluate", "RESULT", "--json"], ["datasets", "list"], ["datasets", "list", "--json"],
      ["simulate", "--list"], ["simulate", "find", "--show"],
      ["simulate", "find", "--output", "OUT"], ["batch", "WALK", "--output", "OUT"],
      ["batch", "WALK", "--output", "OUT", "--list"],
      ["batch", "WALK", "--output", "OUT", "--json"],
      ["export", "jsonl", "WALK", "--output", "OUT"],
      ["export", "tum", "WALK", "--output", "OUT"],
      ["prove", "find", "--seed", "1"], ["--help"], ["run", "--help"], ["--version"],
    ])
  func fullDisk(arguments: [String]) throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("result"))
    let lines = folder.path("lines.jsonl")
    _ = try CommandLineTool.run("export", "jsonl", walk, "--output", lines)
    let paths = ["WALK": walk, "RESULT": folder.path("result"), "OUT": folder.path("out")]
    let result = try CommandLineTool.run(
      arguments.map { paths[$0] ?? $0 }, inputPath: lines, outputPath: "/dev/full")
    #expect(result.exitCode == 74, "\(result.errors)")
    #expect(result.errors.hasPrefix("nearby: error: standard output cannot be written"))
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test("the end of a reader is not reported as an error")
  func closedPipe() throws {
    let walk = try WalkRecording().write(to: folder)
    let errors = folder.path("errors")
    // The reader ends at once, with SIGPIPE ignored as by some callers and with its default action.
    for prefix in ["", "trap '' PIPE; "] {
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = [
        "-c",
        "\(prefix){ sleep 0.2; '\(CommandLineTool.executable.path)' info '\(walk)' 2>'\(errors)'; } | true",
      ]
      try shell.run()
      shell.waitUntilExit()
      #expect(try folder.text(of: "errors").isEmpty)
    }
  }

  @Test("messages that cannot be written do not end a command")
  func fullStandardError() throws {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", "'\(CommandLineTool.executable.path)' info nowhere 2>/dev/full"]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationReason == .exit)
    #expect(shell.terminationStatus == 65)
  }
}
