// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("nearby run")
struct RunCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func theCorrectedPathIsOneOfTheOdometrysPoses() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    let corrected = try folder.text(of: "out/trajectory-corrected.txt").split(separator: "\n")
    let raw = try folder.text(of: "walk/trajectory.txt").split(separator: "\n").filter {
      !$0.hasPrefix("#")
    }
    #expect(corrected.count == raw.count)
    func numbers(_ line: Substring) -> [Double] {
      line.split(separator: " ").compactMap { Double($0) }
    }
    for (a, b) in zip(corrected, raw) {
      let (a, b) = (numbers(a), numbers(b))
      #expect(a.count == 8 && abs(a[0] - b[0]) < 1e-6)
      // The walk's odometry does not drift.
      for index in 1...3 { #expect(abs(a[index] - b[index]) < 0.2) }
    }
    // Alone, a peer whose height is measured corrects nothing, and the old file goes.
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("out"), "--peer", "keys")
    #expect(try !folder.contents(of: "out").contains("trajectory-corrected.txt"))
  }

  @Test(arguments: ["plaza1", "plaza2"]) func beaconsOnTripodsWereNotMoved(name: String) throws {
    let recording = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Datasets/" + name).path
    let result = try CommandLineTool.run("run", recording, "--quiet", "-o", folder.path("out"))
    #expect(result.exitCode == 0)
    // By the recording's truth the wheels of plaza1 lose 1.5 to 1.7 m from 1406 to 1408 s, and nothing else.
    for event in try summary("out/summary.json").events ?? [] {
      #expect(name == "plaza1")
      #expect(event.kind == .odometrySlipped || event.kind == .slipMeasured)
      #expect(abs(event.seconds - 1406) < 3)
      if let metres = event.metres { #expect((1.2...1.9).contains(metres)) }
    }
  }

  @Test func writesTheThreeFilesAndNothingElse() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("a/b"))
    #expect(result.exitCode == 0)
    #expect(result.errors.isEmpty, "no progress without a terminal")
    #expect(
      try folder.contents(of: "a/b") == [
        "configuration.json", "estimates.csv", "modes.csv", "summary.json",
        "trajectory-corrected.txt",
      ])
  }

  @Test func everyRowReadGivesARowInTimeOrder() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    let table = EstimateTable(try folder.text(of: "out/estimates.csv"))
    #expect(
      table.columns.joined(separator: ",") == """
        timestamp,peer,status,reasons,distance,direction_x,direction_y,direction_z,\
        horizontal_angle,vertical,world_x,world_y,world_z,mean_x,mean_y,mean_z,cov_xx,cov_xy,\
        cov_xz,cov_yy,cov_yz,cov_zz,distance_sigma,horizontal_angle_sigma,hypotheses,nis,used
        """)
    #expect(table.rows.count == WalkRecording.samples)
    let times = table.rows.compactMap { $0.number("timestamp") }
    #expect(times.count == table.rows.count && times == times.sorted())
    for row in table.rows {
      #expect((row["timestamp"]?.split(separator: ".").last?.count ?? 0) >= 6)
    }
    #expect(Set(table.rows.compactMap { $0["peer"] }) == ["keys", "bag, blue"])
    for row in table.rows {
      #expect(row["status"] == "converged" || row["reasons"]?.isEmpty == false)
      #expect((row["status"] == "converged") == (row.number("world_x") != nil))
    }
  }

  @Test func rejectedSamplesHaveTheirRow() throws {
    var recording = WalkRecording()
    recording.ranging += "10.05,keys,-3,,\n10.06,keys,nan,,\n10.07,keys,1e9,9,9\n"
    let walk = try recording.write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    let rows = EstimateTable(try folder.text(of: "out/estimates.csv")).rows
    #expect(rows.count == WalkRecording.samples + 3)
    for row in rows.suffix(3) {
      #expect(row["used"] == "rejected")
      #expect(row["nis"] == "")
      #expect(row.number("mean_x") != nil)
    }
    let summary = try summary("out/summary.json")
    #expect(summary.samples == WalkRecording.samples + 3)
    #expect(summary.samplesRejected >= 3)
  }

  @Test func answersComeInTheRecordingsOwnFrames() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    let rows = EstimateTable(try folder.text(of: "out/estimates.csv")).rows
    let last = try #require(rows.last { $0["peer"] == "keys" })
    try #require(last["status"] == "converged")
    let expected = WalkRecording.keys
    for (axis, value) in [("x", expected.x), ("y", expected.y), ("z", expected.z)] {
      #expect(abs(try #require(last.number("world_\(axis)")) - value) < 0.2)
      #expect(last.number("world_\(axis)") == last.number("mean_\(axis)"))
    }
    // The device of the walk never turns: its axes are the world's.
    let time = 10.0
    let d = Vector3(
      expected.x - sin(time), expected.y - 1 + cos(time), expected.z - 0.3 * sin(2 * time)
    ).normalized
    let direction = Vector3(
      try #require(last.number("direction_x")), try #require(last.number("direction_y")),
      try #require(last.number("direction_z")))
    #expect(abs(direction.length - 1) < 1e-8)
    #expect(direction.dot(d) > cos(0.1))
    #expect(abs(try #require(last.number("horizontal_angle")) - atan2(-d.y, d.x)) < 0.1)

    let summary = try summary("out/summary.json")
    let keys = try #require(summary.peers.first)
    #expect(keys.id == "keys" && keys.status == .converged)
    let position = try #require(keys.positionInWorld)
    #expect((position - Vector3(expected.x, expected.y, expected.z)).length < 0.3)
    #expect(abs(position.x - (last.number("mean_x") ?? .nan)) < 1e-8)
    #expect(abs(try #require(keys.covarianceInWorld).yz - (last.number("cov_yz") ?? .nan)) < 1e-8)
  }

  @Test func summaryHoldsErrorsWhereTruthExists() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    let summary = try summary("out/summary.json")
    #expect(summary.name == "walk")
    #expect(abs(summary.duration - 10.2) < 1e-9)
    #expect(summary.engine.version == NearbyVersion.current)
    let errors = try #require(summary.errors)
    #expect(errors.samples == WalkRecording.samples)
    #expect(try #require(errors.rmseSecondHalf) < 1)
    #expect(try #require(summary.peers[0].errors?.rmseConverged) < 0.5)
    #expect(result.output.contains("Errors against the truth"))
    #expect(result.output.contains("all"))
  }

  @Test func withoutTruthThereAreNoErrors() throws {
    var recording = WalkRecording()
    recording.truePeers = nil
    let walk = try recording.write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    #expect(try folder.text(of: "out/summary.json").contains("\"errors\" : null"))
    #expect(!result.output.contains("Errors against the truth"))
  }

  @Test func oneSampleSaysWhatToDo() throws {
    var recording = WalkRecording()
    recording.ranging = "timestamp,peer,distance,azimuth,elevation\n1,keys,3,,\n"
    let walk = try recording.write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    #expect(result.exitCode == 0)
    #expect(result.output.contains("not converged"))
    #expect(result.output.contains("keys: the device has hardly moved"))
  }

  @Test func jsonIsTheSummary() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("out"), "--json")
    #expect(result.exitCode == 0)
    #expect(try result.output == folder.text(of: "out/summary.json"))
    #expect(result.errors.isEmpty)
  }

  @Test func quietIsSilent() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("out"), "--quiet")
    #expect(result.exitCode == 0)
    #expect(result.output.isEmpty && result.errors.isEmpty)
    #expect(folder.has("out/summary.json"))
  }

  @Test func theManifestMayBeNamedInstead() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run("run", "\(walk)/recording.json", "-o", folder.path("out"))
    #expect(result.exitCode == 0)
  }

  @Test func odditiesAreWarnings() throws {
    var recording = WalkRecording()
    recording.manifest.replace("\"device\":", with: "\"colour\": 1, \"device\":")
    let walk = try recording.write(to: folder)
    let result = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    #expect(result.exitCode == 0)
    #expect(result.errors.contains("nearby: warning: \(walk)/recording.json:4:3: unknown key"))
    let quiet = try CommandLineTool.run("run", walk, "--output", folder.path("out"), "--quiet")
    #expect(quiet.errors.isEmpty)
  }

  @Test func peersCanBeChosen() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run(
      "run", walk, "--output", folder.path("out"), "--peer", "bag, blue")
    #expect(result.exitCode == 0)
    let table = EstimateTable(try folder.text(of: "out/estimates.csv"))
    #expect(table.rows.count == WalkRecording.samples / 2)
    #expect(table.rows.allSatisfy { $0["peer"] == "bag, blue" })
    #expect(try summary("out/summary.json").peers.map(\.id) == ["bag, blue"])
  }

  @Test func aPeerSharesNothingWithOthersButTheDrift() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("one"), "--peer", "keys")
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("all"))
    let one = EstimateTable(try folder.text(of: "one/estimates.csv")).rows
    let all = EstimateTable(try folder.text(of: "all/estimates.csv")).rows.filter {
      $0["peer"] == "keys"
    }
    #expect(one.map { $0["timestamp"] } == all.map { $0["timestamp"] })
    let distances = zip(one, all).map {
      (Double($0["distance"] ?? ""), Double($1["distance"] ?? ""))
    }
    for case (let alone?, let together?) in distances { #expect(abs(alone - together) < 0.3) }
    #expect(distances.contains { $0.0 != nil && $0.1 != nil })
  }

  @Test func equalInputGivesEqualOutput() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("a"))
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("b"))
    #expect(try folder.text(of: "a/estimates.csv") == folder.text(of: "b/estimates.csv"))
    #expect(try folder.text(of: "a/configuration.json") == folder.text(of: "b/configuration.json"))
  }

  @Test func lineEndsAndByteOrderMarksChangeNothing() throws {
    var recording = WalkRecording()
    let plain = try recording.write(to: folder, name: "plain")
    recording.manifest = "\u{FEFF}" + recording.manifest.replacing("\n", with: "\r\n")
    recording.trajectory = "\u{FEFF}" + recording.trajectory.replacing("\n", with: "\r\n")
    recording.ranging = "\u{FEFF}" + recording.ranging.replacing("\n", with: "\r\n")
    let windows = try recording.write(to: folder, name: "windows")
    #expect(try CommandLineTool.run("run", plain, "-o", folder.path("a")).exitCode == 0)
    #expect(try CommandLineTool.run("run", windows, "-o", folder.path("b")).exitCode == 0)
    #expect(try folder.text(of: "a/estimates.csv") == folder.text(of: "b/estimates.csv"))
  }

  @Test func earlierResultsAreReplaced() throws {
    let walk = try WalkRecording().write(to: folder)
    try FileManager.default.createDirectory(
      atPath: folder.path("out"), withIntermediateDirectories: true)
    for name in ["estimates.csv", "summary.json", "other.txt"] {
      try Data("old".utf8).write(to: folder.url.appending(path: "out/\(name)"))
    }
    _ = try CommandLineTool.run("run", walk, "--output", folder.path("out"))
    #expect(try folder.text(of: "out/estimates.csv").hasPrefix("timestamp,"))
    #expect(try folder.text(of: "out/summary.json").hasPrefix("{"))
    #expect(try folder.text(of: "out/other.txt") == "old")
  }

  private func summary(_ name: String) throws -> RunSummary {
    try JSONDecoder().decode(RunSummary.self, from: Data(folder.text(of: name).utf8))
  }
}
