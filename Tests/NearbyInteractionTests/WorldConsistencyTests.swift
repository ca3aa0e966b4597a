// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyInteraction

/// The consistency of sessions' outputs with their sigmas, in the world that a program gets by
/// default.
///
/// Devices and peers are swept by hand there. An engine that assumes stationary peers is
/// overconfident by a factor of two.
@Suite(.enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct WorldConsistencyTests {
  private static let seeds: Range<UInt64> = 100..<140
  private static let seconds = 60

  /// The newest pose that a device's odometry reported.
  private final class PoseKeeper: @unchecked Sendable {
    // Unchecked: read and written by the thread that steps the world.
    var pose: RigidTransform?
  }

  /// Sums over all sessions and seeds, every five seconds of those that have converged.
  private struct Figures {
    var normalizedErrors: [Double] = []
    var normalizedDistanceErrors: [Double] = []
    /// For each end, how many sessions have converged.
    var converged = [0, 0]
    /// Their times to convergence, from the start of the world.
    var secondsToConvergence: [Double] = []

    static func mean(_ values: [Double]) -> Double {
      values.reduce(0, +) / Double(max(values.count, 1))
    }
  }

  private func figures(_ capabilities: DeviceCapabilities) throws -> Figures {
    var figures = Figures()
    for seed in Self.seeds {
      var settings = SimulatedWorldSettings()
      settings.seed = seed
      settings.capabilities = capabilities
      let pair = SessionPair(settings)
      let keepers = [PoseKeeper(), PoseKeeper()]
      let followers = zip(pair.devices, keepers).map { device, keeper in
        device.follow { if case .pose(let pose) = $0 { keeper.pose = pose.worldFromDevice } }
      }
      pair.run(usesCamera: true)
      for _ in 0..<Self.seconds / 5 {
        pair.advance(5)
        for here in 0..<2 {
          try add(pair, here, try #require(keepers[here].pose), to: &figures)
        }
      }
      for here in 0..<2 {
        let first = pair.recorders[here].convergences.first { $0.status == .converged }
        guard let time = first?.object?.timestamp else { continue }
        figures.converged[here] += 1
        figures.secondsToConvergence.append(time.seconds - 1000)
      }
      withExtendedLifetime(followers) {}
    }
    return figures
  }

  private func add(
    _ pair: SessionPair, _ here: Int, _ worldFromDevice: RigidTransform, to figures: inout Figures
  ) throws {
    let object = try #require(pair.recorders[here].objects.last)
    let estimate = try #require(object.estimate)
    guard estimate.convergence == .converged, let mean = estimate.positionInWorld else { return }
    let (mine, theirs) = (pair.devices[here].truePose, pair.devices[1 - here].truePose)
    let antenna = theirs.act(pair.world.settings.radio.antennaInDevice)
    let truth = mine.rotation.inverse.act(antenna - mine.translation)
    let error = mean - worldFromDevice.act(truth)
    let inverse = try #require(estimate.covarianceInWorld.positiveDefiniteInverse)
    figures.normalizedErrors.append(inverse.quadraticForm(error) / 3)
    let distance = Double(try #require(object.distance))
    let sigma = try #require(object.distanceSigma)
    figures.normalizedDistanceErrors.append(pow((distance - truth.length) / sigma, 2))
  }

  @Test func amongHandsWithAntennaArrays() throws {
    let figures = try figures(.phoneWithAntennaArray)
    let (position, distance) = (
      Figures.mean(figures.normalizedErrors), Figures.mean(figures.normalizedDistanceErrors)
    )
    #expect((0.8...1.25).contains(position))
    // One constant error of the radio for each pair: as few independent errors as seeds.
    #expect((0.6...1.5).contains(distance))
    #expect(figures.converged == [Self.seeds.count, Self.seeds.count])
    // Two sessions of one program converge quickly.
    let seconds = figures.secondsToConvergence.sorted()
    #expect(seconds[seconds.count / 2] < 4 && seconds[seconds.count * 95 / 100] < 15)
  }

  /// The devices walk in turn, and the one that walks finds the other one at rest.
  @Test func amongWalkersWithoutAntennaArrays() throws {
    let figures = try figures(.phoneWithoutAntennaArray)
    let (position, distance) = (
      Figures.mean(figures.normalizedErrors), Figures.mean(figures.normalizedDistanceErrors)
    )
    // The engine does not know that the other one rests, so its covariance allows for motion. A mirror image is
    // taken for the place now and then, and the other one may just have begun to walk: at most in one of 50.
    let gross = figures.normalizedErrors.count { $0 > 5 }
    #expect(gross * 50 <= figures.normalizedErrors.count, "\(gross)")
    let usual = Figures.mean(figures.normalizedErrors.filter { $0 <= 5 })
    #expect((0.5...1.25).contains(usual), "\(position)")
    #expect((0.5...1.5).contains(distance))
    #expect(
      figures.converged[0] >= Self.seeds.count * 95 / 100
        && figures.converged[1] >= Self.seeds.count * 8 / 10, "\(figures.converged)")
  }
}
