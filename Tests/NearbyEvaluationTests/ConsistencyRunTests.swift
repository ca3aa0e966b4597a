// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyEvaluation

@Suite("ConsistencyRun", .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct ConsistencyRunTests {
  @Test("the figures do not depend on the number of jobs")
  func jobs() async throws {
    let scenario = try #require(Scenario.preset(named: "pose-jump"))
    var proof = Proof(seeds: 0..<4)
    var texts: [String] = []
    for jobs in [1, 2, 64] {
      proof.jobs = jobs
      texts.append(CanonicalJSON.text(of: try await proof.figures(of: scenario)))
    }
    #expect(texts[0] == texts[1])
    #expect(texts[0] == texts[2])
  }

  @Test("every run is reported as it ends")
  func finished() async throws {
    var runs = 0
    let report = try await ConsistencyRun(Scenario(.straightLine)).report(seeds: 5..<21) {
      runs += 1
    }
    #expect(runs == 16)
    #expect(report.records.map(\.seed) == Array(5..<21))
  }

  @Test("sensors that are said to be three times as good as they are show in NEES and NIS")
  func brokenOnPurpose() async throws {
    let scenario = try #require(Scenario.preset(named: "find"))
    var run = ConsistencyRun(scenario)
    run.configuration.ranging.rangeSigma /= 3
    run.configuration.ranging.azimuthSigmaRadians /= 3
    run.configuration.ranging.elevationSigmaRadians /= 3
    let report = try await run.report(seeds: 0..<10)
    let goals = ProofGoals().misses(of: report, .converges).map(\.goal)
    #expect(goals.contains(.normalizedErrorSquared), "\(report)")
    let errors = try #require(report.normalizedErrorSquared)
    #expect(errors.value > 2, "\(report)")
  }

  @Test("moments come with their truth, and an error of the callback stops the run")
  func moments() throws {
    struct Enough: Error {}
    var seconds: [Double] = []
    #expect(throws: Enough.self) {
      try ConsistencyRun(Scenario(.straightLine)).records(seed: 1) {
        (moment, truth) throws(Enough) in
        #expect(moment.seconds == truth.seconds)
        seconds.append(moment.seconds)
        if seconds.count == 3 { throw Enough() }
      }
    }
    #expect(seconds.count == 3)
  }

  @Test("each peer of a run has its record, that of the engine with all of them")
  func severalPeers() async throws {
    var scenario = Scenario(.straightLine)
    scenario.peer.count = 3
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<2)
    #expect(report.records.map(\.seed) == [0, 0, 0, 1, 1, 1])
    #expect(report.records.map(\.peer) == [0, 1, 2, 0, 1, 2])
    let samples = scenario.simulated(seed: 1, peerCount: 3).samples
    for record in report.records.suffix(3) {
      #expect(record.samples == samples.count { $0.peer == record.peer })
    }
    #expect(Set(report.records.map { $0.last?.distance }).count == 6)
  }

  @Test("the estimate after a late sample is compared with the newest truth")
  func late() throws {
    let scenario = try #require(Scenario.preset(named: "garbage"))
    var last = -Double.infinity
    try ConsistencyRun(scenario).records(seed: 2) { (moment, _) throws(Never) in
      #expect(moment.seconds >= last)
      last = moment.seconds
    }
  }

  @Test("a configuration that makes no sense is an error")
  func invalid() {
    var run = ConsistencyRun(Scenario(.straightLine))
    run.configuration.ranging.rangeSigma = -1
    #expect(throws: FusionConfigurationError.self) { try run.records(seed: 0) }
  }

  @Test("every switch of the ablation changes a configuration, and leaves it valid")
  func switches() throws {
    for feature in FeatureSwitch.all {
      let before = try #require(Scenario.preset(named: "find")).matchingConfiguration
      var after = before
      feature.turnOff(&after)
      #expect(after != before, "\(feature.name)")
      try after.validate()
    }
    #expect(Set(FeatureSwitch.all.map(\.name)).count == FeatureSwitch.all.count)
  }

  @Test("an ablation has a row with everything on, then one for each feature")
  func ablation() async throws {
    let accurateSensors = FeatureSwitch("accurate sensors") {
      $0.ranging.rangeSigma /= 3
      $0.ranging.azimuthSigmaRadians /= 3
      $0.ranging.elevationSigmaRadians /= 3
    }
    let find = try #require(Scenario.preset(named: "find"))
    let result = try await Ablation(Proof(seeds: 0..<3), [accurateSensors]).run([find])
    #expect(result.rows.map(\.featureOff) == [nil, "accurate sensors"])
    let errors = result.rows.map { $0.figures.normalizedErrorSquared?.value ?? .nan }
    // Not by a factor of nine: the claim grows with what the residuals show.
    #expect(errors[1] > 1.15 * errors[0], "\(errors)")
    let summaries = result.summaries
    #expect(summaries.map(\.featureOff) == [nil, "accurate sensors"])
    #expect(summaries[0].errorRatio == 1 && summaries[0].worstScenario == nil)
    #expect(summaries[1].misses > summaries[0].misses)
    #expect(summaries[1].worstScenario == "find")
  }
}
