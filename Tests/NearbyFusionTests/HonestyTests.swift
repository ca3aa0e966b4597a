// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

/// Motion that cannot resolve the geometry never converges, and says what is missing.
@Suite("Honesty", .serialized)
struct HonestyTests {
  private func rangesOnly(_ motion: ScenarioMotion.Kind) -> Scenario {
    var scenario = Scenario(motion)
    scenario.radio.measuresAngles = false
    return scenario
  }

  private func finalReasons(_ record: RunRecord) -> ConvergenceReasons {
    if case .notConverged(let reasons) = record.moments.last?.convergence { reasons } else { [] }
  }

  @Test(
    "ranges only, without moving: never converges, and asks for movement",
    arguments: [ScenarioMotion.Kind.rotationInPlace, .standingStill])
  func withoutMovement(motion: ScenarioMotion.Kind) async throws {
    let report = try await ConsistencyRun(rangesOnly(motion)).report(seeds: SeedCount.seeds)
    #expect(report.convergedSeeds.isEmpty, "\(report), seeds \(report.convergedSeeds)")
    for record in report.records {
      let reasons = finalReasons(record)
      #expect(reasons.contains(.insufficientMovement), "seed \(record.seed): \(reasons)")
    }
  }

  @Test("ranges only, along a straight line: never converges, and names a missing sweep")
  func straightLine() async throws {
    let report = try await ConsistencyRun(rangesOnly(.straightLine)).report(seeds: SeedCount.seeds)
    #expect(report.convergedSeeds.isEmpty, "\(report), seeds \(report.convergedSeeds)")
    let sweeps: ConvergenceReasons = [.insufficientHorizontalSweep, .insufficientVerticalSweep]
    for record in report.records {
      let reasons = finalReasons(record)
      let isNamed = !reasons.isDisjoint(with: sweeps.union(.insufficientMovement))
      #expect(isNamed, "seed \(record.seed): \(reasons)")
    }
  }

  @Test("ranges only, at constant height: the mirror stays, as aboveOrBelow")
  func mirror() async throws {
    var scenario = rangesOnly(.constantHeightWalk)
    scenario.peerHeightDifference = 1.9...2.1
    let report = try await ConsistencyRun(scenario).report(seeds: SeedCount.seeds)
    #expect(report.convergedSeeds.isEmpty, "\(report), seeds \(report.convergedSeeds)")
    #expect(report.wrongSides.isEmpty, "wrong side in seeds \(report.wrongSides)")
    let answers = report.records.compactMap(\.moments.last?.verticalDirection)
    let mirrored = answers.count { $0 == .aboveOrBelow }
    #expect(mirrored >= answers.count * 95 / 100, "\(mirrored) of \(answers.count)")
    #expect(!answers.contains(.same))
  }

  @Test("with angles, standing still is enough")
  func standingStillWithAngles() async throws {
    // Angles alone fix the direction: 3.6 and 5 degrees are within 7 % of the distance.
    let report = try await ConsistencyRun(Scenario(.standingStill)).report(seeds: SeedCount.seeds)
    #expect(report.falseConvergences.isEmpty, "\(report), seeds \(report.falseConvergences)")
  }
}
