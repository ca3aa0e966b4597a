// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("nearby evaluate")
struct EvaluateCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A recording and a result of it; the paths of both.
  private func walk() throws -> (recording: String, result: String) {
    let recording = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", recording, "-o", folder.path("out"), "--quiet")
    return (recording, folder.path("out"))
  }

  private func evaluations(_ text: String) throws -> [[String: Any]] {
    let root = try #require(
      JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    return try #require(root["results"] as? [[String: Any]])
  }

  private func figures(_ evaluation: [String: Any], _ peer: String) throws -> [String: Any] {
    let peers = try #require(evaluation["peers"] as? [[String: Any]])
    return try #require(peers.first { $0["id"] as? String == peer }?["figures"] as? [String: Any])
  }

  @Test func theRecordingIsFoundThroughTheSummary() throws {
    let (_, result) = try walk()
    let run = try CommandLineTool.run("evaluate", result)
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.errors.isEmpty)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines[1].hasPrefix("keys "))
    #expect(lines[2].hasPrefix("bag, blue "))
    #expect(lines[3].hasPrefix("all "))
    // The walk's odometry is its truth.
    #expect(lines[4].hasPrefix("walk: ") && lines[4].contains("0.000 m RMSE"))
  }

  @Test func theErrorsAreThoseOfTheSummary() throws {
    let (_, result) = try walk()
    let evaluation = try #require(
      try evaluations(CommandLineTool.run("evaluate", result, "--json").output).first)
    let summary = try #require(
      JSONSerialization.jsonObject(with: Data(folder.text(of: "out/summary.json").utf8))
        as? [String: Any])
    let all = try #require(evaluation["all"] as? [String: Any])
    let (mine, theirs) = (
      try #require(all["errors"] as? [String: Any]),
      try #require(summary["errors"] as? [String: Any])
    )
    for (key, value) in theirs {
      let number = try #require(value as? Double)
      // Written numbers have ten significant digits.
      #expect(abs((mine[key] as? Double ?? .nan) - number) <= 1e-5 * (1 + number), "\(key)")
    }
  }

  /// Four samples a second apart of a peer at (2, 3, 0.5), z up, from a device at the origin.
  ///
  /// The estimates are off by 0.3, 0.1, 0.1 and 0.2 m along x, converged from the second on, claimed
  /// with 0.01 m² along each axis; the world is the true one.
  private func handMade() throws -> (recording: String, result: String) {
    var recording = WalkRecording()
    recording.trajectory = (0...4).map { "\($0) 0 0 0 0 0 0 1\n" }.joined()
    recording.ranging = "timestamp,peer,distance,azimuth,elevation\n"
    recording.truePeers = "timestamp,peer,x,y,z\n0,keys,2,3,0.5\n"
    var estimates = """
      timestamp,peer,status,reasons,distance,direction_x,direction_y,direction_z,\
      horizontal_angle,vertical,world_x,world_y,world_z,mean_x,mean_y,mean_z,cov_xx,cov_xy,cov_xz,\
      cov_yy,cov_yz,cov_zz,distance_sigma,horizontal_angle_sigma,hypotheses,nis,used

      """
    for (time, error) in [0.3, 0.1, 0.1, 0.2].enumerated() {
      recording.ranging += "\(time),keys,3.64,\(time == 3 ? "" : "-0.98"),\n"
      let x = 2 + error
      let isFirst = time == 0
      estimates += "\(time),keys,\(isFirst ? "notConverged" : "converged"),,"
      estimates += isFirst ? ",,,,,unknown,,,," : "3.64,0.5,0.8,0.1,-0.9,same,\(x),3,0.5,"
      estimates += "\(x),3,0.5,0.01,0,0,0.01,0,0.01,0.1,,1,\(isFirst ? "" : "\(time)"),all\n"
    }
    let path = try recording.write(to: folder)
    let result = folder.path("result")
    try FileManager.default.createDirectory(atPath: result, withIntermediateDirectories: true)
    for (name, text) in [
      "estimates.csv": estimates, "configuration.json": "{}",
      "summary.json": #"{ "recording": "\#(path)" }"#,
    ] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(result)/\(name)"))
    }
    return (path, result)
  }

  @Test func figuresOfAResultMadeByHand() throws {
    let (_, result) = try handMade()
    let run = try CommandLineTool.run("evaluate", result, "--json")
    #expect(run.exitCode == 0, "\(run.errors)")
    let figures = try figures(try #require(try evaluations(run.output).first), "keys")
    func near(_ value: Any?, _ expected: Double, _ what: String) {
      #expect(abs((value as? Double ?? .nan) - expected) < 1e-6, "\(what): \(value ?? "nothing")")
    }
    let errors = try #require(figures["errors"] as? [String: Any])
    // The second half: 2 and 3 s. √((0.01 + 0.04) / 2).
    near(errors["rmseSecondHalf"], 0.025.squareRoot(), "half")
    // √((0.01 + 0.01 + 0.04) / 3), and over 0.01 m², three axes.
    near(errors["rmseConverged"], 0.02.squareRoot(), "converged")
    near(errors["meanNormalizedNEES"], 0.02 / 0.01 / 3, "NEES")
    // 1 + 2 + 3 over two, two and one components.
    near(figures["normalizedInnovationSquared"], 6.0 / 5, "NIS")
    near(figures["secondsToConverge"], 1, "time")
    // Steps of the error while placed: 0 and 0.1 m.
    near(figures["jitter"], 0.005.squareRoot(), "jitter")
    near(figures["losses"], 0, "losses")
    let availability = try #require(figures["availability"] as? [String: Any])
    for output in ["distance", "direction", "horizontalAngle", "vertical", "worldTransform"] {
      near(availability[output], 0.75, output)
    }
  }

  @Test func smoothedRowsAreEvaluatedToo() throws {
    let (_, result) = try handMade()
    // Off by 0.1 m throughout; convergence by the covariance: 3 · 0.04 m² is too wide in one row.
    var text = "timestamp,peer,mean_x,mean_y,mean_z,cov_xx,cov_xy,cov_xz,cov_yy,cov_yz,cov_zz\n"
    for time in 0..<4 {
      let variance = time == 1 ? 0.06 : 0.01
      text += "\(time),keys,2.1,3,0.5,\(variance),0,0,\(variance),0,\(variance)\n"
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(result)/smoothed.csv"))
    let all = try evaluations(CommandLineTool.run("evaluate", result, "--json").output)
    #expect(all.map { $0["source"] as? String } == ["estimates", "smoothed"])
    let figures = try figures(all[1], "keys")
    let errors = try #require(figures["errors"] as? [String: Any])
    #expect(errors["convergedSamples"] as? Int == 3)
    #expect(abs((errors["rmseConverged"] as? Double ?? .nan) - 0.1) < 1e-6)
    #expect(figures["availability"] == nil || figures["availability"] is NSNull)
    let table = try CommandLineTool.run("evaluate", result).output
    #expect(table.contains("result smoothed "))
  }

  @Test func severalResultsStandSideBySide() throws {
    let (recording, result) = try walk()
    let other = folder.path("other")
    _ = try CommandLineTool.run("run", recording, "-o", other, "--quiet", "--peer", "keys")
    let run = try CommandLineTool.run("evaluate", result, other, "--recording", recording)
    #expect(run.exitCode == 0, "\(run.errors)")
    let names = run.output.split(separator: "\n").dropFirst().dropLast().map {
      $0.split(separator: "  ").first.map(String.init)
    }
    #expect(names == ["keys", "keys", "bag, blue", "all"])
  }

  // MARK: - Faults

  @Test func withoutTruthThereIsNothingToEvaluateBy() throws {
    var recording = WalkRecording()
    recording.truePeers = nil
    let path = try recording.write(to: folder)
    _ = try CommandLineTool.run("run", path, "-o", folder.path("out"), "--quiet")
    let run = try CommandLineTool.run("evaluate", folder.path("out"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "\(path): the recording holds no truth")
  }

  /// A file of the result, the replaced text, its replacement, and the location of the fault.
  @Test(arguments: [
    ("estimates.csv", "2,keys,converged", "2,keys,convergd", "estimates.csv:4:8: status"),
    ("estimates.csv", "2.1,3,0.5,0.01,0,0", "2.1,abc,0.5,0.01,0,0", "is not a number"),
    (
      "estimates.csv", "0.5,0.01,0,0,0.01,0,0.01,0.1,,1,2", "0.5,,0,0,0.01,0,0.01,0.1,,1,2",
      "cov_xx is empty"
    ),
    ("estimates.csv", "mean_x,", "mean_w,", "the header lacks column \"mean_x\""),
    ("estimates.csv", "status,", "state,", "the header lacks column \"status\""),
    (
      "estimates.csv", "3,keys,converged", "3.5,keys,converged",
      "estimates.csv:5: no sample of the recording"
    ),
    ("estimates.csv", ",all\n3,", ",all\n3", "estimates.csv:5"),
    ("estimates.csv", "notConverged,,", "notConverged,rain,", "reasons \"rain\" names no reason"),
    ("estimates.csv", ",all\n1,", ",some\n1,", "used \"some\" does not say what was used"),
    ("summary.json", "{", "[", "summary.json:1:"),
    (
      "summary.json", "\"recording\": \"", "\"recording\": 3, \"x\": \"",
      "summary.json:1:16: recording is a number, not a string"
    ),
    ("summary.json", "recording\"", "recordin\"", "does not say which recording"),
    (
      "configuration.json", "{}", "{ \"rangin\": 1 }", "configuration.json:1:3: there is no setting"
    ),
  ])
  func aDamagedResultIsLocated(
    file: String, text: String, replacement: String, place: String
  ) throws {
    let (_, result) = try handMade()
    let url = URL(fileURLWithPath: "\(result)/\(file)")
    let before = try String(contentsOf: url, encoding: .utf8)
    let range = try #require(before.range(of: text))
    try Data(before.replacingCharacters(in: range, with: replacement).utf8).write(to: url)
    let run = try CommandLineTool.run("evaluate", result)
    #expect(run.exitCode == 65)
    #expect(run.output.isEmpty)
    expectOneLine(run.errors, containing: place)
    expectOneLine(run.errors, containing: "\(result)/\(file)")
  }

  @Test(arguments: ["estimates.csv", "summary.json", "configuration.json"])
  func aMissingFileIsNamed(name: String) throws {
    let (_, result) = try handMade()
    try FileManager.default.removeItem(atPath: "\(result)/\(name)")
    let run = try CommandLineTool.run("evaluate", result)
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "\(result)/\(name)")
  }

  @Test func withTheRecordingNamedTheSummaryIsNotNeeded() throws {
    let (recording, result) = try handMade()
    try FileManager.default.removeItem(atPath: "\(result)/summary.json")
    #expect(try CommandLineTool.run("evaluate", result, "--recording", recording).exitCode == 0)
  }

  @Test func withoutResultsUsageIsWrong() throws {
    let run = try CommandLineTool.run("evaluate")
    #expect(run.exitCode == 64)
    expectOneLine(run.errors, containing: "result")
  }
}
