// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("nearby run on bad input")
struct RunFaultTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: - The command line

  @Test(arguments: [
    (["run"], "Missing expected argument"),
    (["run", "walk"], "--output"),
    (["run", "walk", "--output", "out", "--nonsense"], "Unknown option '--nonsense'"),
    (["run", "walk", "--output", ""], "--output is empty"),
    (["run", "walk", "--output", "out", "--json", "--quiet"], "--json and --quiet"),
    (["walk"], "walk"),
  ])
  func wrongUsageIs64(arguments: [String], message: String) throws {
    let result = try CommandLineTool.run(arguments)
    #expect(result.exitCode == 64)
    #expect(result.output.isEmpty)
    expectOneLine(result.errors, containing: message)
    #expect(result.errors.contains("--help'"))
  }

  @Test func anUnknownPeerIsWrongUsage() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", walk, "-o", folder.path("a/b"), "--peer", "kezs")
    #expect(result.exitCode == 64)
    expectOneLine(result.errors, containing: "it has keys, bag, blue")
    #expect(!folder.has("a"), "folders made for the output are gone again")
  }

  // MARK: - The recording

  @Test func aMissingRecordingIsBadData() throws {
    let result = try CommandLineTool.run("run", folder.path("none"), "-o", folder.path("out"))
    #expect(result.exitCode == 65)
    expectOneLine(result.errors, containing: "\(folder.path("none")): there is no such folder")
    #expect(!folder.has("out"))
  }

  @Test(arguments: ["recording.json", "trajectory.txt", "ranging.csv"])
  func aMissingFileIsBadData(name: String) throws {
    let walk = try WalkRecording().write(to: folder)
    try FileManager.default.removeItem(atPath: "\(walk)/\(name)")
    try expectBadData(walk, at: "\(name) is missing")
  }

  @Test(arguments: ["trajectory.txt", "ranging.csv", "recording.json"])
  func anEmptyFileIsBadData(name: String) throws {
    let walk = try WalkRecording().write(to: folder)
    try Data().write(to: URL(fileURLWithPath: "\(walk)/\(name)"))
    try expectBadData(walk, at: "\(walk)/\(name)")
  }

  @Test func badJSONIsLocated() throws {
    var recording = WalkRecording()
    recording.manifest = "{\n  \"format\": nearby\n}\n"
    let walk = try recording.write(to: folder)
    try expectBadData(walk, at: "\(walk)/recording.json:2:13: ")
  }

  @Test func aWrongVersionIsLocated() throws {
    var recording = WalkRecording()
    recording.manifest = recording.manifest.replacing("\"version\": 1", with: "\"version\": 2")
    let walk = try recording.write(to: folder)
    try expectBadData(walk, at: "\(walk)/recording.json:2:44: version 2 is not supported")
  }

  @Test func aTruncatedSampleIsLocated() throws {
    var recording = WalkRecording()
    recording.ranging += "10.1,keys,3.4"
    let walk = try recording.write(to: folder)
    try expectBadData(walk, at: "\(walk)/ranging.csv:\(WalkRecording.samples + 2)")
  }

  @Test func aTruncatedPoseIsLocated() throws {
    var recording = WalkRecording()
    recording.trajectory += "10.2 0 0 0 0 0"
    let walk = try recording.write(to: folder)
    try expectBadData(walk, at: "\(walk)/trajectory.txt:105")
  }

  @Test func aZeroQuaternionIsLocated() throws {
    var recording = WalkRecording()
    recording.trajectory += "10.2 0 0 0 0 0 0 0\n"
    let walk = try recording.write(to: folder)
    try expectBadData(walk, at: "\(walk)/trajectory.txt:105")
  }

  @Test func afterAFaultEarlierResultsStand() throws {
    var recording = WalkRecording()
    let good = try recording.write(to: folder, name: "good")
    recording.ranging += "10.1,keys,abc,,\n"
    let bad = try recording.write(to: folder, name: "bad")
    #expect(try CommandLineTool.run("run", good, "-o", folder.path("out")).exitCode == 0)
    let before = try folder.text(of: "out/estimates.csv")
    #expect(try CommandLineTool.run("run", bad, "-o", folder.path("out")).exitCode == 65)
    #expect(try folder.text(of: "out/estimates.csv") == before)
    #expect(
      try folder.contents(of: "out") == [
        "configuration.json", "estimates.csv", "modes.csv", "summary.json",
        "trajectory-corrected.txt",
      ])
  }

  @Test func anOutputInTheWayOfAFileIsNamed() throws {
    let walk = try WalkRecording().write(to: folder)
    try Data().write(to: folder.url.appending(path: "file"))
    let result = try CommandLineTool.run("run", walk, "-o", folder.path("file/out"))
    #expect(result.exitCode == 74)
    expectOneLine(result.errors, containing: folder.path("file/out"))
  }

  private func expectBadData(
    _ recording: String, at place: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let result = try CommandLineTool.run("run", recording, "-o", folder.path("out"))
    #expect(result.exitCode == 65, sourceLocation: sourceLocation)
    #expect(result.output.isEmpty, sourceLocation: sourceLocation)
    expectOneLine(result.errors, containing: place, sourceLocation: sourceLocation)
    #expect(!folder.has("out"), "nothing is left of it", sourceLocation: sourceLocation)
  }
}

/// Expects a message of one line, in the form that all have.
func expectOneLine(
  _ errors: String, containing text: String, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(errors.hasPrefix("nearby: error: "), sourceLocation: sourceLocation)
  #expect(errors.contains(text), "\(errors)", sourceLocation: sourceLocation)
  #expect(errors.hasSuffix("\n"), sourceLocation: sourceLocation)
  #expect(errors.split(separator: "\n").count == 1, "\(errors)", sourceLocation: sourceLocation)
}
