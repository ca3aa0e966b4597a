// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion
@testable import NearbySmoothing

/// The engine's joint fit beside the smoother that gets only what had come by then.
@Suite("Joint fit and smoother")
struct JointAndSmootherTests {
  private static func scene(seed: UInt64) -> (SimulatedWalk, FusionConfiguration) {
    var walk = SimulatedWalk()
    walk.duration = 40
    walk.seed = seed
    (walk.rangeNoise, walk.angleNoise) = (0.1, 0.05)
    (walk.positionDrift, walk.yawDrift) = (0.02, 0.01)
    var configuration = FusionConfiguration()
    configuration.odometry.positionDrift = walk.positionDrift
    configuration.odometry.yawDriftRadians = walk.yawDrift
    return (walk, configuration)
  }

  /// An engine after a walk.
  private static func engine(seed: UInt64) throws -> FusionEngine {
    let (walk, configuration) = scene(seed: seed)
    var engine = try FusionEngine(configuration)
    walk.run(&engine)
    return engine
  }

  @Test(
    "fitted step by step, the chain has the minimum that is found from afar",
    arguments: 1...6 as ClosedRange<UInt64>)
  func minimum(seed: UInt64) throws {
    let solution = try #require(Self.engine(seed: seed).joint.newestSolution)
    var (workspace, none) = (ChainWorkspace(), [Double]())
    var state = solution.state
    func fit(_ state: inout [Double], widenings: [Double]) -> Double {
      var problem = solution.problem
      var cost = 0.0
      for widening in widenings {
        problem.widening = widening
        cost =
          problem.fit(
            &state, iterations: 60, tolerance: 1e-13, covariance: &none, workspace: &workspace
          ).cost
      }
      return cost
    }
    let cost = fit(&state, widenings: [1])
    // The engine stops a little before the minimum.
    #expect(solution.cost - cost < 0.1)
    // From a metre and a tenth of a turn away, as the smoother begins.
    var generator = SeededGenerator(seed: seed)
    var far = solution.state
    let layout = solution.problem.layout
    for index in ChainLayout.driftSize..<far.count {
      let isPlace = index >= layout.peer(0, knots: solution.problem.knotCount)
      far[index] += generator.normal(sigma: isPlace ? 0.5 : 0.05)
    }
    let farCost = fit(&far, widenings: [100, 25, 6, 2, 1])
    #expect(abs(farCost - cost) < 1e-6)
    // Within a thousandth of a sigma the cost changes by less than its rounding.
    let size = solution.problem.denseCount
    let first = state.count - size
    for index in 0..<size {
      let sigma = solution.covariance[index * size + index].squareRoot()
      let away = abs(far[first + index] - state[first + index])
      #expect(away < 1e-3 * sigma, "unknown \(index)")
    }
  }

  @Test("a peer is where the smoother has it that gets the same prefix")
  func prefix() throws {
    var distances: [Double] = []
    for seed in 1...6 as ClosedRange<UInt64> {
      let engine = try Self.engine(seed: seed)
      let solution = try #require(engine.joint.newestSolution)
      let (walk, configuration) = Self.scene(seed: seed)
      var smoother = try Smoother(configuration)
      walk.run(&smoother, until: solution.device.timestamp)
      let smoothed = smoother.solve()
      for (member, peer) in engine.joint.peers.enumerated() {
        let mode = solution.mode(of: member)
        let other = try #require(smoothed.tracks[peer].final)
        let away = mode.position - other.positionInWorld
        let covariance = 0.5 * (mode.positionCovariance + other.covarianceInWorld)
        let information = try #require(covariance.positiveDefiniteInverse)
        // Cells average samples, knots are elsewhere, and each learns the noise on its own: some tenths of a sigma.
        let distance = information.quadraticForm(away).squareRoot()
        #expect(distance < 0.4, "peer \(peer), seed \(seed)")
        distances.append(distance)
        let share = mode.positionVariance / other.covarianceInWorld.trace
        #expect((0.8...1.25).contains(share), "peer \(peer), seed \(seed): \(share)")
      }
    }
    #expect(distances.reduce(0, +) / Double(distances.count) < 0.25)
  }
}
