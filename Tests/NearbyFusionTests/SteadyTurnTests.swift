// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// Constant errors of the odometry that the joint fit estimates.
@Suite("Steady turn of the odometry")
struct SteadyTurnTests {
  /// The converged estimates of the second half of some runs among eight peers.
  private struct Tally {
    var squares = 0.0
    var nees = 0.0
    var count = 0.0

    mutating func add(
      _ scenario: Scenario, seed: UInt64, turnRateSigmaRadians: Double
    ) throws {
      let run = scenario.simulated(seed: seed, peerCount: scenario.peer.count)
      var configuration = scenario.matchingConfiguration
      configuration.odometry.turnRateSigmaRadians = turnRateSigmaRadians
      var engine = try FusionEngine(configuration)
      let peers = run.peers.map { _ in engine.addPeer() }
      let half = 0.5 * (run.samples.last?.seconds ?? 0)
      run.feed(&engine, as: peers) { index, report, engine in
        let sample = run.samples[index]
        let estimate = engine.estimate(of: report.peer)
        guard sample.seconds > half, estimate.convergence == .converged,
          let mean = estimate.positionInWorld,
          let inverse = estimate.covarianceInWorld.positiveDefiniteInverse
        else { return }
        let away = mean - sample.peerInOdometry
        squares += away.dot(away)
        nees += inverse.quadraticForm(away) / 3
        count += 1
      }
    }

    var rootMeanSquare: Double { (squares / count).squareRoot() }
  }

  @Test("an odometry that turns by 0.3 degrees per second is corrected, and the sigma is honest")
  func turning() throws {
    var scenario = try #require(Scenario.preset(named: "slope-office-hills"))
    scenario.odometry.steadyTurnDegrees = 0.3
    var (without, with) = (Tally(), Tally())
    for seed in UInt64(0)..<3 {
      try without.add(scenario, seed: seed, turnRateSigmaRadians: 0)
      try with.add(scenario, seed: seed, turnRateSigmaRadians: 0.2.degreesAsRadians)
    }
    #expect(with.count > 0.9 * without.count)
    #expect(with.rootMeanSquare < 0.85 * without.rootMeanSquare)
    #expect(with.nees / with.count < 1.6)
  }

  @Test("of one that does not turn little is lost")
  func straight() throws {
    let scenario = try #require(Scenario.preset(named: "slope-office-hills"))
    var (without, with) = (Tally(), Tally())
    for seed in UInt64(0)..<2 {
      try without.add(scenario, seed: seed, turnRateSigmaRadians: 0)
      try with.add(scenario, seed: seed, turnRateSigmaRadians: 0.2.degreesAsRadians)
    }
    #expect(with.rootMeanSquare < 1.15 * without.rootMeanSquare)
    #expect(with.nees / with.count < 1.6)
  }
}
