// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// A place that is open in one direction, and the Gaussians side by side that stand for it.
@Suite("Weak direction")
struct WeakDirectionTests {
  /// A random turn of a covariance that is much wider along one axis.
  private static func elongated(
    _ generator: inout SeededGenerator, sigma: Double
  ) -> (axis: Vector3, covariance: SymmetricMatrix3) {
    let axis = generator.normalVector().normalized
    let across = 0.01
    return (
      axis,
      SymmetricMatrix3(xx: across, xy: 0, xz: 0, yy: across, yz: 0, zz: across)
        + SymmetricMatrix3(outer: axis, scale: sigma * sigma - across)
    )
  }

  @Test("it is the axis of the greatest variance", arguments: 0..<20 as Range<UInt64>)
  func axis(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let (axis, covariance) = Self.elongated(&generator, sigma: 0.7)
    let direction = WeakDirection(covariance)
    #expect(abs(abs(direction.axis.dot(axis)) - 1) < 1e-9)
    #expect(abs(direction.variance - 0.49) < 1e-9)
  }

  @Test("a place that is flat within itself, or as wide in every direction, stays one")
  func noSplit() {
    var generator = SeededGenerator(seed: 1)
    let narrow = Self.elongated(&generator, sigma: 0.21).covariance
    #expect(WeakDirection(narrow).parts(distance: 100, rangeSigma: 0.1) == nil)
    let round = SymmetricMatrix3(xx: 0.5, xy: 0, xz: 0, yy: 0.5, yz: 0, zz: 0.3)
    #expect(WeakDirection(round).parts(distance: 5, rangeSigma: 0.1) == nil)
    #expect(WeakDirection(.zero).parts(distance: 5, rangeSigma: 0.1) == nil)
  }

  @Test("the parts are flat, even about the mean, and together as wide as the whole")
  func parts() throws {
    var generator = SeededGenerator(seed: 2)
    let direction = WeakDirection(Self.elongated(&generator, sigma: 0.8).covariance)
    let parts = try #require(direction.parts(distance: 10, rangeSigma: 0.1))
    #expect(parts.offsets.count % 2 == 1 && parts.offsets.count > 5)
    // Bent by at most a fiftieth of a range's sigma, and a little for the rounding of their number.
    #expect(parts.variance / 20 < 0.0021)
    let total = parts.offsets.reduce(0) { $0 + $1.share }
    let mean = parts.offsets.reduce(0) { $0 + $1.share * $1.metres } / total
    let spread = parts.offsets.reduce(0) { $0 + $1.share * $1.metres * $1.metres } / total
    #expect(abs(mean) < 1e-12)
    // What lies beyond two and a half sigmas is cut off.
    #expect(abs((spread + parts.variance) / 0.64 - 1) < 0.1)
  }

  @Test(
    "split and put together, a hypothesis has the moments that it had",
    arguments: 0..<10 as Range<UInt64>, [false, true])
  func moments(seed: UInt64, hasHeights: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    let order = hasHeights ? KernelBank.heightOrder : KernelBank.restingOrder
    let drawn = KernelBank.Hypothesis(
      &generator, position: Vector3(6, 1, -8), sigma: 0.1, order: order)
    var seed = HypothesisBank.Seed(
      mean: StateVector(repeating: 0), covariance: StateCovariance(repeating: 0), weight: 1)
    for column in 0..<order {
      seed.mean[column] = drawn.mean[column]
      for row in 0...column {
        seed.covariance[StateIndex.packed(row, column)] = drawn.covariance[row * order + column]
      }
    }
    // Height, and with it the range's bias, is open.
    for (row, column, variance) in [(1, 1, 1.0), (1, 4, -0.05), (4, 4, 0.02)] {
      seed.covariance[StateIndex.packed(row, column)] += variance
    }
    var bank = HypothesisBank(mayMove: false)
    bank.replace(with: [seed])
    if hasHeights { bank.addHeightOffset(variance: 0.25) }
    let before = bank
    let direction = WeakDirection(bank.positionCovariance(0))
    let parts = try #require(direction.parts(distance: 10, rangeSigma: 0.1))
    bank.split(along: direction, into: parts)
    #expect(bank.count == parts.offsets.count)
    let (mean, covariance) = bank.positionMoments()
    #expect((mean - before.position(0)).length < 1e-9)
    #expect(abs(covariance.trace / before.positionCovariance(0).trace - 1) < 0.1)
    let bias = StateIndex.rangeBias
    func mixture(_ moment: (Int) -> Double) -> Double {
      (0..<bank.count).reduce(0) { $0 + bank.weight($1) * moment($1) }
    }
    #expect(abs(mixture { bank[.mean(bias), $0] } - before[.mean(bias), 0]) < 1e-9)
    // The bias follows the height as it did before.
    let together = mixture {
      bank[.covariance(StateIndex.packed(1, bias)), $0]
        + (bank[.mean(1), $0] - before[.mean(1), 0])
        * (bank[.mean(bias), $0] - before[.mean(bias), 0])
    }
    let expected = before[.covariance(StateIndex.packed(1, bias)), 0]
    #expect(abs(together - expected) < 0.1 * abs(expected) + 0.01)
  }

  @Test(
    "a level walk with ranges alone claims no side that it cannot know",
    arguments: 0..<6 as Range<UInt64>)
  func levelWalk(seed: UInt64) throws {
    let scenario = try #require(Scenario.preset(named: "level-hand"))
    let run = scenario.simulated(seed: seed)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer(.stationary)
    var wasWrong = false
    run.feed(&engine, as: peer) { index, _, engine in
      let estimate = engine.estimate(of: peer)
      guard estimate.convergence == .converged, let mean = estimate.positionInWorld else { return }
      if (mean - run.samples[index].peerInOdometry).length > 1 { wasWrong = true }
    }
    #expect(!wasWrong, "seed \(seed)")
  }
}
