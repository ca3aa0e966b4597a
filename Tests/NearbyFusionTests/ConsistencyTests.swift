// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// Whether the claimed uncertainty is the real one, over many seeded runs.
///
/// NEES: the error of the relative position, normalised by the claimed covariance; its mean over
/// three is one when the claim is right. Bound: the posterior Cramér-Rao bound of the same samples.
@Suite("Consistency", .serialized, .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct ConsistencyTests {
  static var find: Scenario { Scenario(.sweepThenWalk) }

  static var rangesOnly: Scenario {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.measuresAngles = false
    return scenario
  }

  @Test("sweep, then walk, with ranges and angles: the claims are right and near the bound")
  func sweepThenWalk() async throws {
    let report = try await ConsistencyRun(Self.find).report(seeds: SeedCount.seeds)
    expectHonest(report)
    #expect(report.convergedSeeds.count >= SeedCount.seeds.count * 95 / 100)
  }

  @Test("a wandering walk with ranges only: the claims are right and near the bound")
  func wanderingWalkRangesOnly() async throws {
    let report = try await ConsistencyRun(Self.rangesOnly).report(seeds: SeedCount.seeds)
    expectHonest(report)
    #expect(report.convergedSeeds.count >= SeedCount.seeds.count * 95 / 100)
  }

  @Test(
    "with scale errors as the prior says: the claims are right and near the bound",
    arguments: [true, false])
  func rangeScale(withAngles: Bool) async throws {
    var scenario = withAngles ? Self.find : Self.rangesOnly
    scenario.radio.rangeScaleSigma = 0.03
    expectHonest(
      try await ConsistencyRun(scenario).report(seeds: SeedCount.seeds),
      boundRatio: SeedCount.largestBoundRatioWithScale, mostFalse: SeedCount.fewFalse)
  }

  @Test("much drift, known to the engine: the claims are right")
  func muchDrift() async throws {
    let report = try await ConsistencyRun(Self.drifting).report(seeds: SeedCount.seeds)
    expectHonest(report)
  }

  @Test("a lever arm of 0.3 m, known to the engine: the claims are right")
  func longLeverArm() async throws {
    let report = try await ConsistencyRun(Self.longArm).report(seeds: SeedCount.seeds)
    expectHonest(report)
  }

  @Test("a fifth of the ranges too long, in bursts: claims within the band")
  func outliers() async throws {
    var scenario = Self.find
    scenario.radio.rangeFaults = .init(share: 0.2, persistence: 0.7)
    let report = try await ConsistencyRun(scenario).report(seeds: SeedCount.seeds)
    #expect(isHonest(report), "\(report)")
    #expect(report.falseConvergences.isEmpty, "\(report), seeds \(report.falseConvergences)")
  }

  // MARK: - Broken on purpose: each must show

  /// Odometry as bad as it gets: 3 cm and 0.6 degrees per square root of a metre.
  static var drifting: Scenario {
    var scenario = Scenario(.wanderingWalk)
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftRadians = 0.6.degreesAsRadians
    return scenario
  }

  static var longArm: Scenario {
    var scenario = Scenario(.sweepThenWalk)
    scenario.radio.antennaInDevice = Vector3(0.1, 0.25, 0.13)
    return scenario
  }

  @Test("process noise 25 times too small shows")
  func brokenProcessNoise() async throws {
    var run = ConsistencyRun(Self.drifting)
    run.configuration.odometry.positionDrift /= 5
    run.configuration.odometry.yawDriftRadians /= 5
    expectBroken(try await run.report(seeds: SeedCount.seeds))
  }

  @Test("measurement noise with a third of the sigma shows")
  func brokenMeasurementNoise() async throws {
    var run = ConsistencyRun(Self.find)
    run.configuration.ranging.rangeSigma /= 3
    run.configuration.ranging.azimuthSigmaRadians /= 3
    run.configuration.ranging.elevationSigmaRadians /= 3
    expectBroken(try await run.report(seeds: SeedCount.seeds))
  }

  @Test("ranging stamped 100 ms off shows")
  func brokenTime() async throws {
    var scenario = Self.find
    scenario.radio.clockOffset = -0.1
    expectBroken(try await ConsistencyRun(scenario).report(seeds: SeedCount.seeds))
  }

  @Test("a lever arm with the wrong sign shows")
  func brokenLeverArm() async throws {
    var run = ConsistencyRun(Self.longArm)
    run.configuration.ranging.antennaInDevice = -run.configuration.ranging.antennaInDevice
    expectBroken(try await run.report(seeds: SeedCount.seeds))
  }

  private func expectHonest(
    _ report: ConsistencyReport, boundRatio: Double = SeedCount.largestBoundRatio,
    mostFalse: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(isHonest(report), "\(report)", sourceLocation: sourceLocation)
    #expect(
      report.efficiency ?? .infinity <= boundRatio, "\(report)", sourceLocation: sourceLocation)
    #expect(
      report.falseConvergences.count <= mostFalse, "\(report), seeds \(report.falseConvergences)",
      sourceLocation: sourceLocation)
  }

  private func expectBroken(
    _ report: ConsistencyReport, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      report.normalizedErrorSquared?.value ?? 0 > SeedCount.normalizedErrorBand.upperBound,
      "\(report)", sourceLocation: sourceLocation)
  }

  private func isHonest(_ report: ConsistencyReport) -> Bool {
    report.normalizedErrorSquared.map { SeedCount.normalizedErrorBand.contains($0.value) } ?? false
  }
}
