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
    let opened = try opened(walk, options)
    for name in [
      "recording.json", "trajectory.txt", "ranging.csv", "truth/trajectory.txt", "truth/peers.csv",
    ] {
      #expect(opened.count { $0 == name } == 1, "\(name)")
    }
  }

  /// The smoother takes the samples from the pass in which they are fused.
  ///
  /// There is no truth here, because the evaluation reads the samples once more.
  @Test(
    .enabled(if: strace != nil), arguments: [[], ["--smooth"]])
  func aFileThatIsTooLargeToBeKeptIsReadOnceToo(options: [String]) throws {
    let file = try #require(FileHandle(forWritingAtPath: walk + "/ranging.csv"))
    try file.seekToEnd()
    try file.write(contentsOf: Data(repeating: UInt8(ascii: "\n"), count: 17 << 20))
    try file.close()
    try FileManager.default.removeItem(atPath: walk + "/truth")
    let once = try opened(walk, options + ["--calibration", "off"])
    #expect(once.count { $0 == "ranging.csv" } == 1)
    // The radio's clock is compared with that of the poses in a pass of its own.
    #expect(try opened(walk, options).count { $0 == "ranging.csv" } == 2)
  }

  /// The files of a recording that a run of it opens, in their order.
  private func opened(_ recording: String, _ options: [String]) throws -> [String] {
    let log = folder.path("log")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.strace))
    process.arguments =
      ["-f", "-qq", "-e", "trace=openat,open", "-o", log, CommandLineTool.executable.path]
      + ["run", recording, "-q", "-o", folder.path("out")] + options
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let prefix = "\"\(recording)/"
    return try folder.text(of: "log").split(separator: "\n").compactMap { call in
      guard let start = call.firstRange(of: prefix)?.upperBound,
        let end = call[start...].firstIndex(of: "\"")
      else { return nil }
      return String(call[start..<end])
    }
  }
}
