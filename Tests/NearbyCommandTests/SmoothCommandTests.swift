// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEvaluation
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("nearby run --smooth")
struct SmoothCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func summary(_ name: String) throws -> RunSummary {
    try JSONDecoder().decode(RunSummary.self, from: Data(folder.text(of: name).utf8))
  }

  @Test func writesAFourthFileWithARowForEachSample() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--smooth", "-o", folder.path("out"))
    #expect(result.exitCode == 0)
    #expect(result.errors.isEmpty)
    #expect(
      try folder.contents(of: "out") == [
        "configuration.json", "estimates.csv", "modes.csv", "smoothed.csv", "summary.json",
        "trajectory-corrected.txt", "trajectory-smoothed.txt",
      ])
    let table = EstimateTable(try folder.text(of: "out/smoothed.csv"))
    let estimates = EstimateTable(try folder.text(of: "out/estimates.csv"))
    #expect(table.rows.map { $0["timestamp"] } == estimates.rows.map { $0["timestamp"] })
    #expect(table.rows.map { $0["peer"] } == estimates.rows.map { $0["peer"] })
    #expect(result.output.contains("smoothed.csv"))
    #expect(result.output.contains("From the whole recording"))
  }

  /// A recording of a round walk with so many ranges of each of some peers.
  private func crowd(peers: Int, rangesEach: Int) throws -> String {
    let poses = (0..<200).map { index in
      let t = Double(index) / 20
      return "\(t) \(3 * sin(0.3 * t)) \(0.4 * sin(0.33 * t)) \(3 * cos(0.25 * t)) 0 0 0 1\n"
    }
    let count = peers * rangesEach
    let rows = (0..<count).map {
      "\(0.05 + 9.8 * Double($0) / Double(count)),p\($0 % peers),2.5,,\n"
    }
    let name = "crowd-\(peers)-\(rangesEach)"
    try FileManager.default.createDirectory(
      atPath: folder.path(name), withIntermediateDirectories: true)
    try #"{"format":"nearby-recording","version":1,"name":"x"}"#.write(
      toFile: folder.path("\(name)/recording.json"), atomically: true, encoding: .utf8)
    try poses.joined().write(
      toFile: folder.path("\(name)/trajectory.txt"), atomically: true, encoding: .utf8)
    try ("timestamp,peer,distance,azimuth,elevation\n" + rows.joined()).write(
      toFile: folder.path("\(name)/ranging.csv"), atomically: true, encoding: .utf8)
    return folder.path(name)
  }

  @Test("hundreds of peers that were heard once cost nothing")
  func peersHeardOnce() throws {
    let result = try CommandLineTool.run(
      "run", crowd(peers: 300, rangesEach: 1), "--smooth", "-q", "-o", folder.path("out"))
    #expect(result.exitCode == 0)
    #expect(EstimateTable(try folder.text(of: "out/smoothed.csv")).rows.count == 300)
  }

  @Test("more peers than can be smoothed together are refused with a word")
  func tooManyPeers() throws {
    let result = try CommandLineTool.run(
      "run", crowd(peers: 100, rangesEach: 4), "--smooth", "-q", "-o", folder.path("out"))
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("100 peers"))
    #expect(result.errors.contains("--peer"))
  }

  @Test func answersComeInTheRecordingsOwnFramesFromTheFirstRowOn() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--smooth", "-o", folder.path("out"))
    let rows = EstimateTable(try folder.text(of: "out/smoothed.csv")).rows
    let keys = WalkRecording.keys
    for row in rows where row["peer"] == "keys" {
      let time = try #require(row.number("timestamp"))
      for (axis, value) in [("x", keys.x), ("y", keys.y), ("z", keys.z)] {
        #expect(abs(try #require(row.number("mean_\(axis)")) - value) < 0.1)
      }
      // The device of the walk never turns: its axes are the world's.
      let d = Vector3(
        keys.x - sin(time), keys.y - 1 + cos(time), keys.z - 0.3 * sin(2 * time))
      #expect(abs(try #require(row.number("distance")) - d.length) < 0.1)
      let direction = Vector3(
        try #require(row.number("direction_x")), try #require(row.number("direction_y")),
        try #require(row.number("direction_z")))
      #expect(direction.dot(d.normalized) > cos(0.1))
      #expect(abs(try #require(row.number("horizontal_angle")) - atan2(-d.y, d.x)) < 0.1)
      #expect(try #require(row.number("cov_xx")) > 0)
    }
  }

  @Test func theSummaryHoldsTheSmoothedResult() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run(
      "run", walk, "--smooth", "--json", "-o", folder.path("out"))
    #expect(result.exitCode == 0)
    let summary = try summary("out/summary.json")
    for peer in summary.peers {
      let smoothed = try #require(peer.smoothed)
      let errors = try #require(smoothed.errors)
      #expect(errors.samples == WalkRecording.samples / 2)
      #expect(try #require(errors.rmseSecondHalf) < 0.2)
      #expect(smoothed.rangeBiasSigma > 0)
      #expect(smoothed.modes.first?.probability ?? 0 > 0.3)
    }
    let all = try #require(summary.smoothedErrors)
    #expect(all.samples == WalkRecording.samples)
    #expect(try #require(summary.timing?.smoothingSeconds) > 0)
    let trajectory = try #require(summary.trajectory)
    #expect(trajectory.odometry.poses > 100)
    #expect(trajectory.corrected != nil && trajectory.smoothed != nil)
  }

  @Test("Everybody who judges the smoothed rows comes to one verdict", arguments: [0.3, 0])
  func oneVerdict(climb: Double) throws {
    let walk = try WalkRecording(climb: climb).write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--smooth", "-o", folder.path("out"))
    _ = try CommandLineTool.run(
      "batch", walk, "--smooth", "--evaluate", "-o", folder.path("batch"))
    let summary = try summary("out/summary.json")
    let evaluate = try CommandLineTool.run("evaluate", folder.path("out"), "--json")
    struct Output: Decodable { var results: [ResultEvaluation] }
    let decoder = JSONDecoder()
    let evaluated = try decoder.decode(Output.self, from: Data(evaluate.output.utf8)).results[1]
    let batched = try decoder.decode(
      [ResultEvaluation].self,
      from: Data(folder.text(of: "batch/results/walk/evaluation.json").utf8))[1]
    for evaluation in [evaluated, batched] {
      #expect(evaluation.source == .smoothed)
      #expect(evaluation.all.errors == summary.smoothedErrors)
      for peer in evaluation.peers {
        let smoothed = try #require(summary.peers.first { $0.id == peer.id }?.smoothed)
        #expect(peer.figures.errors == smoothed.errors)
      }
    }
    // On the level walk, ranges alone give two modes of equal probability.
    let bag = try #require(evaluated.peers.first { $0.id == "bag, blue" })
    #expect((bag.figures.errors.convergedSamples > 0) == (climb > 0))
  }

  @Test func withoutTheFlagNothingOfItIsWritten() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "-o", folder.path("out"))
    #expect(!folder.has("out/smoothed.csv"))
    #expect(!(try folder.text(of: "out/summary.json").contains("smooth")))
  }

  @Test func aPeerCanBeSmoothedAlone() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run(
      "run", walk, "--smooth", "--peer", "keys", "-o", folder.path("out"))
    let rows = EstimateTable(try folder.text(of: "out/smoothed.csv")).rows
    #expect(rows.count == WalkRecording.samples / 2)
    #expect(rows.allSatisfy { $0["peer"] == "keys" })
  }

  @Test func samplesThatCannotBeUsedHaveEmptyFields() throws {
    var recording = WalkRecording()
    recording.ranging += "10.05,ghost,-3,,\n"
    let walk = try recording.write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--smooth", "-o", folder.path("out"))
    #expect(result.exitCode == 0)
    let row = try #require(EstimateTable(try folder.text(of: "out/smoothed.csv")).rows.last)
    #expect(row["peer"] == "ghost" && row["mean_x"] == "" && row["cov_zz"] == "")
  }

  @Test func aFaultLeavesNothingBehind() throws {
    var recording = WalkRecording()
    recording.ranging += "10.05,keys,not a number,,\n"
    let walk = try recording.write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--smooth", "-o", folder.path("out"))
    #expect(result.exitCode == 65)
    #expect(!folder.has("out"))
  }

  @Test func theMowersBeaconsAreFoundBetterThanByTheFilter() throws {
    let recording = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Datasets/plaza2").path
    let result = try CommandLineTool.run(
      "run", recording, "--smooth", "--quiet", "-o", folder.path("out"))
    #expect(result.exitCode == 0 && result.output.isEmpty)
    let summary = try summary("out/summary.json")
    let smoothed = try #require(summary.smoothedErrors)
    #expect(smoothed.samples == 1816)
    let error = try #require(smoothed.rmseSecondHalf)
    #expect(error < 1.3)
    #expect(error < (try #require(summary.errors?.rmseSecondHalf)))
    #expect((0.4...2).contains(try #require(smoothed.meanNormalizedNEES)))
  }
}
