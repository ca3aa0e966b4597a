// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

@Suite("nearby simulate")
struct SimulateCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aSimulatedRecordingIsFoundByARun() throws {
    let simulated = try simulate("find", "--seed", "3")
    #expect(simulated.exitCode == 0, "\(simulated.errors)")
    #expect(simulated.output.contains("find-0003: 1"))
    #expect(
      try folder.contents(of: "out")
        == ["ranging.csv", "recording.json", "trajectory.txt", "truth"])
    let run = try CommandLineTool.run("run", folder.path("out"), "-o", folder.path("run"))
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.errors.isEmpty, "a simulated recording has no oddities: \(run.errors)")
    let summary = try JSONDecoder().decode(
      RunSummary.self, from: Data(folder.text(of: "run/summary.json").utf8))
    #expect(summary.name == "find-0003")
    #expect((190...200).contains(summary.samples))
    #expect(summary.peers.first?.status == .converged)
    #expect(try #require(summary.errors?.finalError) < 0.5)
  }

  @Test func theSameSeedMakesTheSameFilesAndAnotherMakesOthers() throws {
    for (seed, name) in [("1", "a"), ("1", "b"), ("2", "c")] {
      let made = try CommandLineTool.run(
        "simulate", "garbage", "--seed", seed, "-o", folder.path(name), "--quiet")
      #expect(made.exitCode == 0 && made.output.isEmpty && made.errors.isEmpty)
    }
    for file in [
      "recording.json", "trajectory.txt", "ranging.csv", "truth/trajectory.txt", "truth/peers.csv",
    ] {
      #expect(try folder.text(of: "a/\(file)") == folder.text(of: "b/\(file)"), "\(file)")
      #expect(try folder.text(of: "a/\(file)") != folder.text(of: "c/\(file)"), "\(file)")
    }
  }

  @Test func severalSeedsGetAFolderEach() throws {
    let result = try simulate("ranges-still", "--seed", "9", "--count", "2", "--peers", "2")
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(try folder.contents(of: "out") == ["ranges-still-0009", "ranges-still-0010"])
    let rows = try folder.text(of: "out/ranges-still-0010/ranging.csv").split(separator: "\n")
    #expect(rows.contains { $0.contains(",peer1,") } && rows.contains { $0.contains(",peer2,") })
    #expect(rows.dropFirst().allSatisfy { $0.hasSuffix(",,") }, "ranges only")
    let again = try simulate("ranges-still", "--seed", "9", "--count", "2")
    #expect(again.exitCode == 65)
    expectOneLine(again.errors, containing: "ranges-still-0009: the folder exists")
    #expect(
      try simulate("ranges-still", "--seed", "9", "--count", "2", "--overwrite").exitCode == 0)
  }

  @Test func aPeerThatMovesAndALossOfTrackingAreInTheFiles() throws {
    let result = try simulate("tracking-lost", "--set", "peer.motion=walking", "--seed", "2")
    #expect(result.exitCode == 0, "\(result.errors)")
    let tracking = try folder.text(of: "out/tracking.csv")
    #expect(tracking.contains("notAvailable") && tracking.contains("relocalizing"))
    let truth = try folder.text(of: "out/truth/peers.csv").split(separator: "\n")
    #expect(truth.count > 600)
    #expect(truth[1].split(separator: ",")[2] != truth[300].split(separator: ",")[2])
    let info = try CommandLineTool.run("info", folder.path("out"))
    #expect(info.exitCode == 0, "\(info.errors)")
  }

  @Test func theListNamesEveryPresetWithItsExpectation() throws {
    let result = try CommandLineTool.run("simulate", "--list")
    #expect(result.exitCode == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("name") == true)
    #expect(lines.count == 116)
    #expect(lines.contains { $0.hasPrefix("find-behind ") && $0.contains("  converges  ") })
    #expect(lines.contains { $0.hasPrefix("ranges-level ") && $0.contains("never converges") })
    #expect(lines.contains { $0.hasPrefix("pose-jump ") && $0.contains("recovers after 25 s") })
    #expect(lines.allSatisfy { $0.count <= 110 && $0.last != " " })
  }

  @Test func aShownScenarioMakesTheSameRecordingAsItsName() throws {
    let shown = try CommandLineTool.run("simulate", "indoor", "--show")
    #expect(shown.exitCode == 0)
    try Data(shown.output.utf8).write(to: folder.url.appending(path: "mine.json"))
    #expect(
      try CommandLineTool.run("simulate", "indoor", "-o", folder.path("a"), "-q").exitCode == 0)
    let fromFile = try CommandLineTool.run(
      "simulate", folder.path("mine.json"), "-o", folder.path("b"), "-q")
    #expect(fromFile.exitCode == 0, "\(fromFile.errors)")
    #expect(try folder.text(of: "a/ranging.csv") == folder.text(of: "b/ranging.csv"))
    #expect(try folder.text(of: "a/recording.json") == folder.text(of: "b/recording.json"))
  }

  @Test func aFileSetsWhatItNames() throws {
    let text = """
      { "motion": "wanderingWalk", "duration": 5,
        "radio": { "rangeNoise": 0, "measuresAzimuth": false, "latency": 0.01 } }
      """
    try Data(text.utf8).write(to: folder.url.appending(path: "mine.json"))
    let shown = try CommandLineTool.run(
      "simulate", folder.path("mine.json"), "--show", "--set", "radio.rate=2", "--set",
      "peer.distance=3...4", "--set", "peer.motion=carried")
    #expect(shown.exitCode == 0, "\(shown.errors)")
    for part in [
      #""name" : "mine""#, #""motion" : "wanderingWalk""#, #""duration" : 5"#,
      #""rangeNoise" : 0"#, #""rate" : 2"#, #""motion" : "carried""#,
    ] {
      #expect(shown.output.contains(part), "\(part) in \(shown.output)")
    }
    let words = shown.output.split { " \n[],".contains($0) }.joined(separator: " ")
    #expect(words.contains(#""latency" : 0.01 0.01"#))
    #expect(words.contains(#""distance" : 3 4"#))
  }

  @Test(arguments: [
    (["fnd"], 64, "there is no scenario fnd; did you mean find?; 'nearby simulate --list'"),
    (["none.json"], 65, "none.json: there is no such file"),
    (["find", "--set", "radio.rangeNiose=1"], 64, "did you mean rangeNoise? known here: angleF"),
    (
      ["find", "--set", "rangeNoise=1"], 64,
      "there is no setting rangeNoise; known here: barometers, d"
    ),
    (["find", "--set", "radio.rangeNoise=loud"], 64, "is a string, not a number"),
    (["find", "--set", "radio.rangeNoise=-1"], 64, "radio.rangeNoise: is -1.0, must be 0.0 to"),
    (["find", "--set", "radio.rangeNoise"], 64, "it sets nothing; write key=value"),
    (
      ["find", "--set", "motion=wanderingWlak"], 64, "did you mean wanderingWalk? it can be: sweep"
    ),
    (
      ["find", "--set", "peer.distance=5...2"], 64, "peer.distance has a value that it cannot have"
    ),
    (["find", "--set", "radio=3"], 64, "radio is 3, not an object"),
    (["find", "--set", "duration=1e9"], 64, "duration: is 1000000000.0, must be 1.0 to"),
    (["find", "--count", "0"], 64, "--count is 0, must be"),
    (["find", "--peers", "0"], 64, "--peers is 0, must be"),
    (["find", "--trajectory", "nowhere"], 65, "nowhere: there is no such folder"),
    ([], 64, "no scenario is named; 'nearby simulate --list' lists them"),
  ])
  func aMistakeIsNamed(arguments: [String], exitCode: Int32, message: String) throws {
    let result = try CommandLineTool.run(
      ["simulate"] + arguments + ["-o", folder.path("out")])
    #expect(result.exitCode == exitCode)
    expectOneLine(result.errors, containing: message)
    #expect(!folder.has("out"))
  }

  @Test(arguments: [
    (#"{ "radio": { "rnageNoise": 1 } }"#, ":1:14: there is no setting radio.rnageNoise; did you"),
    ("{ \"radio\": {\n  \"rangeNoise\": -1 } }", ":2:17: radio.rangeNoise: is -1.0, must be"),
    (#"{ "peer": { "side": "left" } }"#, ":1:21: peer.side cannot be left; it can be: either"),
    (
      #"{ "peer": { "distance": [1, 2, "x"] } }"#,
      ":1:25: peer.distance is an array of 3, not"
    ),
    ("{ \"duration\": }", ":1:15: "),
  ])
  func aMistakeInAFileIsLocated(text: String, message: String) throws {
    try Data(text.utf8).write(to: folder.url.appending(path: "mine.json"))
    let result = try CommandLineTool.run(
      "simulate", folder.path("mine.json"), "-o", folder.path("out"))
    #expect(result.exitCode == 65)
    expectOneLine(result.errors, containing: folder.path("mine.json") + message)
    #expect(!folder.has("out"))
  }

  @Test func aFolderThatIsNoRecordingIsNeverReplaced() throws {
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "out"), withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: folder.url.appending(path: "out/notes.txt"))
    let result = try simulate("find", "--overwrite")
    #expect(result.exitCode == 65)
    #expect(try folder.contents(of: "out") == ["notes.txt"])
  }

  @Test func peersAreSimulatedOverARecordedTrajectory() throws {
    // A recording whose odometry drifts away from its truth.
    let drifting = try CommandLineTool.run(
      "simulate", "drift", "--set", "duration=40", "-o", folder.path("walk"), "-q")
    #expect(drifting.exitCode == 0, "\(drifting.errors)")
    let result = try simulate("find", "--trajectory", folder.path("walk"), "--peers", "2")
    #expect(result.exitCode == 0, "\(result.errors)")
    for file in ["trajectory.txt", "truth/trajectory.txt"] {
      let (before, after) = try (poses("walk/\(file)"), poses("out/\(file)"))
      #expect(before.count == after.count)
      for (a, b) in zip(before, after) {
        #expect(zip(a, b).allSatisfy { abs($0 - $1) < 1e-6 }, "\(a) \(b)")
      }
    }
    let run = try CommandLineTool.run("run", folder.path("out"), "-o", folder.path("run"))
    #expect(run.exitCode == 0, "\(run.errors)")
    let summary = try JSONDecoder().decode(
      RunSummary.self, from: Data(folder.text(of: "run/summary.json").utf8))
    #expect((790...802).contains(summary.samples))
    #expect(summary.peers.allSatisfy { $0.status == .converged })
    #expect(try #require(summary.errors?.finalError) < 0.8)
  }

  private func simulate(_ arguments: String...) throws -> CommandLineTool.Result {
    try CommandLineTool.run(["simulate"] + arguments + ["-o", folder.path("out")])
  }

  private func poses(_ file: String) throws -> [[Double]] {
    try folder.text(of: file).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
      $0.split(separator: " ").compactMap { Double($0) }
    }
  }
}
