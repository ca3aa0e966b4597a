// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// How often the files of a recording are opened, counted by `strace` where there is one.
@Suite("Files are read once")
struct ReadOnceTests {
  private static let strace = ["/usr/bin/strace", "/bin/strace"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private let folder: TemporaryFolder
  private let walk: String

  init() throws {
    folder = try TemporaryFolder()
    walk = try WalkRecording().write(to: folder)
  }

  @Test(
    .enabled(if: strace != nil), arguments: [[], ["--smooth"]])
  func aRunOpensEachFileOnce(options: [String]) throws {
    let log = folder.path("log")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.strace))
    process.arguments =
      ["-f", "-qq", "-e", "trace=openat,open", "-o", log, CommandLineTool.executable.path]
      + ["run", walk, "-q", "-o", folder.path("out")] + options
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let calls = try folder.text(of: "log").split(separator: "\n")
    for name in [
      "recording.json", "trajectory.txt", "ranging.csv", "truth/trajectory.txt", "truth/peers.csv",
    ] {
      #expect(calls.count { $0.contains("\"\(walk)/\(name)\"") } == 1, "\(name)")
    }
  }
}
