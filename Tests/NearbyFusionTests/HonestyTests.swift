// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// Motion that cannot resolve the geometry never converges, and says what is missing.
@Suite("Honesty", .serialized, .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct HonestyTests {
  private func rangesOnly(_ motion: ScenarioMotion.Kind) -> Scenario {
    var scenario = Scenario(motion)
    scenario.radio.measuresAngles = false
    return scenario
  }

  private func finalReasons(_ record: RunRecord) -> ConvergenceReasons {
    if case .notConverged(let reasons) = record.last?.convergence { reasons } else { [] }
  }

  @Test(
    "ranges only, without moving: never converges, and asks for movement",
    arguments: [ScenarioMotion.Kind.rotationInPlace, .standingStill])
  func withoutMovement(motion: ScenarioMotion.Kind) async throws {
    let report = try await ConsistencyRun(rangesOnly(motion)).report(seeds: SeedCount.seeds)
    #expect(report.convergedSeeds.isEmpty, "\(report), seeds \(report.convergedSeeds)")
    let silent = report.records.filter { !finalReasons($0).contains(.insufficientMovement) }
    #expect(silent.isEmpty, "\(silent.map { "\($0.seed): \(finalReasons($0))" })")
  }

  @Test("ranges only, along a straight line: never converges, and names a missing sweep")
  func straightLine() async throws {
    let report = try await ConsistencyRun(rangesOnly(.straightLine)).report(seeds: SeedCount.seeds)
    #expect(report.convergedSeeds.isEmpty, "\(report), seeds \(report.convergedSeeds)")
    let sweeps: ConvergenceReasons = [.insufficientHorizontalSweep, .insufficientVerticalSweep]
    let silent = report.records.filter {
      finalReasons($0).isDisjoint(with: sweeps.union(.insufficientMovement))
    }
    #expect(silent.isEmpty, "\(silent.map { "\($0.seed): \(finalReasons($0))" })")
  }

  /// A peer two metres above or below a level walk.
  private var level: Scenario {
    var scenario = rangesOnly(.constantHeightWalk)
    scenario.peer.heightDifference = 1.9...2.1
    return scenario
  }

  @Test("ranges only, exactly level: the mirror stays, as aboveOrBelow and on no side")
  func mirror() async throws {
    // The odometry is level too, which the engine does not know: above and below have the same
    // likelihood to the last bit of information, so that any side named is made up.
    var run = ConsistencyRun(level)
    run.scenario.odometry.positionDrift = 0
    // Nor has it a scale error, with which a peer far away is not located well enough to have a direction at all.
    run.configuration.odometry.scaleSigma = 0
    let report = try await run.report(seeds: SeedCount.seeds)
    #expect(report.convergedSeeds.isEmpty, "\(report), seeds \(report.convergedSeeds)")
    #expect(report.wrongSides.isEmpty, "wrong side in seeds \(report.wrongSides)")
    let answers = report.records.compactMap(\.last?.outputs.verticalDirection)
    let mirrored = answers.count { $0 == .aboveOrBelow }
    #expect(mirrored >= answers.count * 95 / 100, "\(mirrored) of \(answers.count)")
  }

  @Test(
    "ranges only, level but for drift: sides are named wrongly no more than their probability allows"
  )
  func driftingMirror() async throws {
    // Drift along gravity looks like a little motion up and down. To an estimator that does not know
    // that the walk is level it favours one side by a likelihood ratio about e^±1.5, by chance.
    let report = try await ConsistencyRun(level).report(seeds: SeedCount.seeds)
    #expect(
      report.falseConvergences.count <= SeedCount.fewFalse,
      "\(report), seeds \(report.falseConvergences)")
    let answers = report.records.compactMap(\.last)
    let wrong = answers.count(where: \.isOnWrongSide)
    #expect(wrong <= answers.count * 20 / 100, "\(wrong) of \(answers.count)")
    #expect(!answers.contains { $0.outputs.verticalDirection == .same })
  }

  @Test("with angles, standing still is enough")
  func standingStillWithAngles() async throws {
    // Angles alone fix the direction: 3.6 and 5 degrees are within 7 % of the distance.
    let report = try await ConsistencyRun(Scenario(.standingStill)).report(seeds: SeedCount.seeds)
    #expect(report.falseConvergences.isEmpty, "\(report), seeds \(report.falseConvergences)")
  }
}
