// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `nearby tune`, run as a program.
@Suite struct TuneCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func settingsThatAreFoundCanBeRunWith() throws {
    let recording = folder.path("find")
    #expect(
      try CommandLineTool.run("simulate", "find", "--seed", "3", "-o", recording).exitCode == 0)
    let tuned = try CommandLineTool.run("tune", recording, "-o", folder.path("tuned.json"))
    #expect(tuned.exitCode == 0, "\(tuned.errors)")
    #expect(tuned.output.contains("range noise"))
    #expect(tuned.output.contains("evidence: e^"))
    let run = try CommandLineTool.run(
      "run", recording, "--config", folder.path("tuned.json"), "-o", folder.path("out"))
    #expect(run.exitCode == 0, "\(run.errors)")
  }

  @Test func aRecordingWithNothingToTuneByIsSaidToBe() throws {
    let recording = folder.path("short")
    let made = try CommandLineTool.run(
      "simulate", "find", "--set", "duration=2", "-o", recording)
    #expect(made.exitCode == 0, "\(made.errors)")
    let result = try CommandLineTool.run("tune", recording)
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("30 samples of peers at rest are needed"))
    #expect(try CommandLineTool.run("tune", folder.path("none")).exitCode != 0)
  }

  @Test("thousands of peers take no longer than their samples", .timeLimit(.minutes(1)))
  func manyPeers() throws {
    var walk = WalkRecording()
    let header = walk.ranging.prefix { $0 != "\n" }
    walk.ranging = header + "\n"
    for number in 0..<40_000 {
      walk.ranging += "\(1 + Double(number) / 10_000),p\(number / 2),3,,\n"
    }
    let recording = try walk.write(to: folder)
    let start = ContinuousClock.now
    let result = try CommandLineTool.run("tune", recording)
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("30 samples of peers at rest are needed"))
  }
}
