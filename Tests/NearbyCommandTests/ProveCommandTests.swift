// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("nearby prove")
struct ProveCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func json(_ text: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func aRowForEachScenarioAndNothingMissed() throws {
    // Ranges alone, standing still or along a line: the only goal is that no run converges.
    let result = try CommandLineTool.run(
      "prove", "ranges-still", "ranges-line", "--seeds", "2", "--jobs", "1")
    #expect(result.exitCode == 0, "\(result.output)\(result.errors)")
    #expect(result.errors.isEmpty, "no progress without a terminal")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 6)
    #expect(lines[0].hasPrefix("scenario "))
    #expect(lines[1].hasPrefix("ranges-still "))
    #expect(lines[2].hasPrefix("  off "))
    #expect(lines[3].hasPrefix("ranges-line "))
    #expect(lines[4].hasPrefix("  off "))
    #expect(lines[5] == "All goals are reached in 2 scenarios.")
  }

  @Test func aMissedGoalIsExplainedAndIsExitStatus1() throws {
    // Configured for ranges with a third of the noise and no bias, and an odometry that hardly drifts, the engine is
    // overconfident.
    let result = try CommandLineTool.run(
      "prove", "ranges-wander", "--seeds", "2", "--calibration", "off", "--set",
      "ranging.rangeSigma=0.03", "--set", "ranging.rangeBiasSigma=0.001", "--set",
      "odometry.positionDrift=0.0001", "--set", "odometry.yawDriftRadians=0.00001", "--set",
      "odometry.scaleSigma=0")
    #expect(result.exitCode == 1)
    #expect(result.errors.isEmpty)
    #expect(result.output.contains("Goals are missed in 1 of 1 scenarios:\n"))
    #expect(result.output.contains("  ranges-wander: NEES/3 is "))
    #expect(result.output.contains("; seeds "))
    #expect(result.output.contains("!"), "the row is marked")
  }

  @Test func theLargestSeedIsDrawn() throws {
    let result = try CommandLineTool.run(
      "prove", "ranges-still", "--seed", "18446744073709551614")
    #expect(result.exitCode == 0, "\(result.errors)")
  }

  @Test func figuresDoNotDependOnTheJobs() throws {
    let texts = try ["1", "2", "7"].map { jobs in
      try CommandLineTool.run(
        "prove", "find", "pose-jump", "--seeds", "2", "--jobs", jobs, "--json"
      ).output
    }
    #expect(texts[0] == texts[1])
    #expect(texts[0] == texts[2])
    let scenarios = try #require(json(texts[0])["scenarios"] as? [[String: Any]])
    #expect(scenarios.map { $0["scenario"] as? String } == ["find", "pose-jump"])
    #expect(scenarios.allSatisfy { $0["runs"] as? Int == 2 })
    #expect(scenarios[0]["recovery"] == nil)
    #expect((scenarios[1]["recovery"] as? [String: Any])?["contradictedRuns"] as? Int == 2)
  }

  @Test func scenariosThatMustNeverConvergeHaveTheirOwnCount() throws {
    let result = try CommandLineTool.run(
      "prove", "find", "ranges-line", "--seeds", "1", "--never-seeds", "3", "--json")
    let scenarios = try #require(json(result.output)["scenarios"] as? [[String: Any]])
    #expect(scenarios.map { $0["runs"] as? Int } == [1, 3])
  }

  @Test func aConfigurationFileIsPutOverTheTruth() throws {
    let file = folder.path("broken.json")
    try Data(#"{ "convergence": { "sigmaFloor": 0.001, "sigmaPerDistance": 0 } }"#.utf8)
      .write(to: URL(fileURLWithPath: file))
    let result = try CommandLineTool.run("prove", "find", "--seeds", "1", "--config", file)
    #expect(result.exitCode == 1)
    #expect(result.output.contains("find: no run was ever converged"))
  }

  @Test func oneRunCanBeTraced() throws {
    let file = folder.path("run.csv")
    let result = try CommandLineTool.run("prove", "find", "--seed", "3", "--trace", file)
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.isEmpty)
    let table = EstimateTable(try folder.text(of: "run.csv"))
    // 20 s of samples at 10 Hz.
    #expect((195...200).contains(table.rows.count))
    let last = try #require(table.rows.last)
    #expect(last["status"] == "converged")
    // The error is the distance between mean and truth, NEES and claim go with it.
    let difference = ["x", "y", "z"].map { axis in
      (last.number("mean_\(axis)") ?? .nan) - (last.number("truth_\(axis)") ?? .nan)
    }
    let error = difference.reduce(0) { $0 + $1 * $1 }.squareRoot()
    #expect(abs((last.number("error") ?? .nan) - error) < 1e-6)
    #expect(try #require(last.number("bound")) < 0.35)
    #expect(try #require(last.number("claimed_sigma")) < 0.35)
  }

  @Test func oneSeedIsNotJudged() throws {
    let result = try CommandLineTool.run(
      "prove", "find", "--seed", "3", "--set", "ranging.rangeSigma=0.01")
    #expect(result.exitCode == 0)
    #expect(!result.output.contains("Goals"))
  }

  @Test func detailsComeInASecondTable() throws {
    let result = try CommandLineTool.run("prove", "ranges-line", "--seeds", "1", "--details")
    #expect(result.exitCode == 0)
    #expect(result.output.contains("dist/dir/angle/vert/place %"))
  }

  @Test func featuresAreSwitchedOffOneByOne() throws {
    let result = try CommandLineTool.run("prove", "ranges-line", "--seeds", "1", "--ablate")
    #expect(result.exitCode == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines[0].hasPrefix("scenario"))
    #expect(lines[1].hasPrefix("ranges-line"))
    #expect(lines.contains { $0.contains("fault persistence") })
    // The effect of each feature over all scenarios comes last.
    #expect(lines.contains { $0.hasPrefix("without") && $0.hasSuffix("most goals lost in") })
    #expect(lines.last?.hasPrefix("hysteresis") == true)
  }

  @Test func theReferenceOfSeveralPeersIsTheSmootherOnPrefixes() throws {
    let file = folder.path("two.json")
    try Data(
      #"{ "motion": "wanderingWalk", "duration": 12, "radio": { "rate": 2 }, "peer": { "count": 2 } }"#
        .utf8
    ).write(to: URL(fileURLWithPath: file))
    let result = try CommandLineTool.run("prove", file, "--reference", "--seeds", "2")
    #expect(result.exitCode == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3, "\(result.output)")
    #expect(lines[0].hasPrefix("scenario "))
    #expect(lines[0].contains(" claimable % wrong claimed % wrong beyond wrong late s "))
    // Twelve moments of two peers in two runs.
    #expect(lines[1].split(separator: " ").prefix(2) == ["two", "48"])
    #expect(lines[2] == "two has no exact posterior: it has several peers")
    let text = try CommandLineTool.run("prove", file, "--reference", "--seeds", "2", "--json")
      .output
    #expect((try json(text)["scenarios"] as? [Any])?.isEmpty == true)
    let prefixes = try #require(json(text)["prefixes"] as? [[String: Any]])
    #expect(prefixes.map { $0["scenario"] as? String } == ["two"])
    let all = try #require(prefixes[0]["all"] as? [String: Any])
    let claimable = try #require(all["claimable"] as? Double)
    #expect(all["claimableShare"] as? Double == claimable / 48)
    #expect((prefixes[0]["times"] as? [Any])?.count == 12)
    #expect((prefixes[0]["delay"] as? [String: Any])?["neverClaimed"] is Int)
  }

  @Test func aScenarioMayBeAFile() throws {
    let file = folder.path("quick.json")
    try Data(#"{ "motion": "straightLine", "duration": 5 }"#.utf8)
      .write(to: URL(fileURLWithPath: file))
    let result = try CommandLineTool.run("prove", file, "--seed", "0")
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.contains("\nquick "))
  }

  @Test(arguments: [
    (["fnd"], "there is no scenario fnd; did you mean find?"),
    (["xyzxyzxyz"], "there is no scenario xyzxyzxyz; 'nearby simulate --list' lists them"),
    (["--seeds", "0"], "--seeds must be 1 to 10000000"),
    (["--seeds", "9223372036854775807"], "--seeds must be 1 to 10000000"),
    (["--seed", "18446744073709551615"], "--seed must be below 18446744073709551615"),
    (["--jobs", "0"], "--jobs must be at least 1"),
    (["--never-seeds", "0"], "--never-seeds must be 1 to 10000000"),
    (["--never-seeds", "9223372036854775807"], "--never-seeds must be 1 to 10000000"),
    (["find", "--trace", "x.csv"], "--trace needs --seed and one scenario"),
    (["find", "--ablate", "--seed", "1"], "--ablate takes many seeds"),
    (["find", "--set", "ranging.rangeSigma"], "write key=value"),
    (["find", "--set", "ranging.rangeSigmo=1"], "did you mean rangeSigma?"),
    (
      ["find", "--set", "ranging.rangeSigma=x"],
      "--set ranging.rangeSigma=x: ranging.rangeSigma is a string"
    ),
    (["find", "--set", "ranging.rangeSigma=-1"], "must be"),
  ])
  func wrongUsageIs64(arguments: [String], message: String) throws {
    let result = try CommandLineTool.run(["prove"] + arguments)
    #expect(result.exitCode == 64)
    #expect(result.output.isEmpty)
    expectOneLine(result.errors, containing: message)
  }

  @Test func aMissingConfigurationIsBadData() throws {
    let result = try CommandLineTool.run("prove", "find", "--config", folder.path("none.json"))
    #expect(result.exitCode == 65)
    expectOneLine(result.errors, containing: "\(folder.path("none.json")): there is no such file")
  }
}
