// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Programs that are told to end, or killed, at any moment.
///
/// `NEARBY_KILLS` says how often each is killed; a hundred take some minutes.
@Suite("Ending programs at any moment", .serialized)
struct InterruptionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let kills =
    ProcessInfo.processInfo.environment["NEARBY_KILLS"].flatMap(Int.init) ?? 4

  /// All files below a folder by their paths, hidden ones and folders included.
  private func files(_ name: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for path in FileManager.default.enumerator(atPath: folder.path(name)) ?? .init() {
      guard let path = path as? String, !path.hasPrefix(".lock") else { continue }
      let url = folder.url.appending(path: "\(name)/\(path)")
      files[path] = (try? Data(contentsOf: url)) ?? Data()
    }
    return files
  }

  /// Starts the program, and signals it after a moment.
  ///
  /// - Returns: How it ended.
  private func interrupt(
    _ arguments: [String], by signal: Int32, after moment: Duration
  ) throws -> Process.TerminationReason {
    let process = Process()
    process.executableURL = CommandLineTool.executable
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    usleep(UInt32(moment / .microseconds(1)))
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    return process.terminationReason
  }

  @Test("batch goes on to the same files", arguments: [SIGKILL, SIGTERM, SIGINT])
  func batch(signal: Int32) throws {
    _ = try CommandLineTool.run(
      "simulate", "find", "--count", "6", "-o", folder.path("data"), "-q")
    let arguments = ["batch", folder.path("data"), "--resume", "-q", "-o"]
    let start = ContinuousClock.now
    _ = try CommandLineTool.run(arguments + [folder.path("whole")])
    let duration = start.duration(to: .now)
    let whole = try files("whole")
    for _ in 0..<Self.kills {
      let reason = try interrupt(
        arguments + [folder.path("out")], by: signal,
        after: duration * Double.random(in: 0...1))
      let left = try files("out")
      if reason == .uncaughtSignal, signal != SIGKILL {
        #expect(!left.keys.contains { $0.hasSuffix(".partial") }, "\(left.keys.sorted())")
      }
      for (path, data) in left where !path.contains(".partial") {
        #expect(data == whole[path], "\(path)")
      }
      let result = try CommandLineTool.run(arguments + [folder.path("out")])
      #expect(result.exitCode == 0, "\(result.errors)")
      #expect(try files("out") == whole)
      try FileManager.default.removeItem(atPath: folder.path("out"))
    }
  }

  @Test("run leaves whole files or none", arguments: [SIGKILL, SIGTERM, SIGINT])
  func run(signal: Int32) throws {
    let walk = try WalkRecording().write(to: folder)
    let arguments = ["run", walk, "--smooth", "--quiet", "-o"]
    let start = ContinuousClock.now
    _ = try CommandLineTool.run(arguments + [folder.path("whole")])
    let duration = start.duration(to: .now)
    func exact(_ name: String) throws -> [String: Data] {
      // The summary says how long things took.
      try files(name).filter { $0.key != "summary.json" }
    }
    let whole = try exact("whole")
    for _ in 0..<Self.kills {
      let reason = try interrupt(
        arguments + [folder.path("out")], by: signal,
        after: duration * Double.random(in: 0...1))
      let left = try exact("out")
      if reason == .uncaughtSignal, signal != SIGKILL {
        #expect(!left.keys.contains { $0.hasSuffix(".partial") }, "\(left.keys.sorted())")
        #expect(!left.isEmpty || !folder.has("out") || folder.has("out/summary.json"))
      }
      for (path, data) in left where !path.contains(".partial") {
        #expect(data == whole[path], "\(path)")
      }
      let result = try CommandLineTool.run(arguments + [folder.path("out")])
      #expect(result.exitCode == 0, "\(result.errors)")
      #expect(try exact("out") == whole)
      try FileManager.default.removeItem(atPath: folder.path("out"))
    }
  }

  @Test("run over an earlier result leaves files of one run only", arguments: [SIGKILL, SIGTERM])
  func runOver(signal: Int32) throws {
    let walk = try WalkRecording().write(to: folder)
    let settings = folder.path("c.json")
    try Data(#"{ "ranging": { "rangeSigma": 0.3 } }"#.utf8).write(to: URL(filePath: settings))
    let first = ["run", walk, "--quiet", "-o"]
    let second = ["run", walk, "--smooth", "--config", settings, "--quiet", "-o"]
    func exact(_ name: String) throws -> [String: Data] {
      try files(name).filter { $0.key != "summary.json" && !$0.key.hasSuffix(".partial") }
    }
    _ = try CommandLineTool.run(first + [folder.path("first")])
    let start = ContinuousClock.now
    _ = try CommandLineTool.run(second + [folder.path("second")])
    let duration = start.duration(to: .now)
    let whole = (try exact("first"), try exact("second"))
    for _ in 0..<Self.kills {
      _ = try CommandLineTool.run(first + [folder.path("out")])
      _ = try interrupt(
        second + [folder.path("out")], by: signal, after: duration * Double.random(in: 0.6...1.1))
      let left = try exact("out")
      #expect(
        left.allSatisfy { whole.0[$0.key] == $0.value }
          || left.allSatisfy { whole.1[$0.key] == $0.value })
      if folder.has("out/summary.json") { #expect(left == whole.0 || left == whole.1) }
      try FileManager.default.removeItem(atPath: folder.path("out"))
    }
  }

  @Test("A signal that the caller ignores stays ignored, as under nohup")
  func ignored() throws {
    let walk = try WalkRecording().write(to: folder)
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c",
      """
      trap '' HUP; '\(CommandLineTool.executable.path)' run '\(walk)' -q -o '\(folder.path("out"))' &
      sleep 0.05; kill -HUP $!; wait $!
      """,
    ]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    #expect(folder.has("out/summary.json"))
  }
}
