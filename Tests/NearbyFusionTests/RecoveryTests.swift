// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// After a wrong start or a jump of the odometry's world, convergence is withdrawn and regained.
@Suite("Recovery", .serialized, .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct RecoveryTests {
  static let jumpSeconds = 25.0

  @Test(
    "a jump of 2 m: from 2 s after it the engine is hardly ever wrongly converged, and it converges again",
    arguments: [true, false])
  func poseJump(withAngles: Bool) async throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.measuresAngles = withAngles
    scenario.odometry.jump = .init(
      seconds: Self.jumpSeconds, displacement: Vector3(1.6, 0, -1.2))
    let report = try await ConsistencyRun(scenario).report(seeds: SeedCount.seeds)
    #expect(
      report.falseConvergences.count <= SeedCount.fewFalse,
      "\(report), seeds \(report.falseConvergences)")
    let regained = report.records.count { $0.last?.isConverged == true }
    #expect(regained >= report.records.count * 95 / 100, "\(regained) of \(report.records.count)")
  }

  @Test("a jump is reported with its size, within a fifth")
  func jumpOutcome() throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.odometry.jump = .init(seconds: 25, displacement: Vector3(1.6, 0, -1.2))
    var engine = try FusionEngine(scenario.matchingConfiguration)
    var jumps: [Double] = []
    for pose in scenario.simulated(seed: 0).poses {
      if case .acceptedAfterJump(let metres) = engine.add(pose) { jumps.append(metres) }
    }
    #expect(jumps.count == 1)
    #expect(jumps.allSatisfy { abs($0 - 2) < 0.4 })
  }

  @Test("a first range that is 3 m too long does no lasting harm", arguments: [true, false])
  func wrongStart(withAngles: Bool) async throws {
    var scenario = Scenario(withAngles ? .sweepThenWalk : .wanderingWalk)
    scenario.radio.measuresAngles = withAngles
    scenario.radio.firstRangeError = 3
    let report = try await ConsistencyRun(scenario).report(seeds: SeedCount.seeds)
    #expect(
      report.falseConvergences.count <= SeedCount.fewFalse,
      "\(report), seeds \(report.falseConvergences)")
    let right = report.records.count { record in
      record.last.map { $0.isConverged && $0.error < 0.7 } ?? false
    }
    #expect(right >= report.records.count * 90 / 100, "\(right) of \(report.records.count)")
  }
}
