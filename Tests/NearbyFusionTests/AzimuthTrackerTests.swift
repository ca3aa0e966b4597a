// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Distance and bearing of a radio without odometry.
@Suite("Azimuth tracker")
struct AzimuthTrackerTests {
  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  /// A device that turns as the model says, through all angles: errors as large as stated.
  @Test func errorsAreAsLargeAsStated() throws {
    var configuration = FusionConfiguration()
    configuration.ranging.azimuthWhiteShare = 1
    configuration.ranging.fieldOfViewRadians = 2 * .pi
    let lasts = configuration.motion.velocitySeconds
    var (sum, count) = (0.0, 0.0)
    for seed in UInt64(0)..<300 {
      var generator = SeededGenerator(seed: seed)
      var tracker = AzimuthTracker(configuration)
      var angle = generator.uniform(in: -Double.pi...Double.pi)
      var rate = generator.normal(sigma: AzimuthTracker.turnRateSigma)
      for step in 1...60 {
        let fine = 0.1 / 40
        for _ in 0..<40 {
          angle += fine * rate
          rate +=
            -fine / lasts * rate
            + generator.normal(
              sigma: AzimuthTracker.turnRateSigma * (2 * fine / lasts).squareRoot())
        }
        let noise = generator.normal(sigma: configuration.ranging.azimuthSigmaRadians)
        tracker.add((angle + noise).wrappedAngle, at: Self.time(0.1 * Double(step)))
        guard step % 5 == 0 else { continue }
        let estimate = try #require(tracker.estimate(at: Self.time(0.1 * Double(step))))
        sum += pow((estimate.azimuthRadians - angle).wrappedAngle / estimate.sigma, 2)
        count += 1
      }
    }
    #expect((0.9...1.1).contains(sum / count))
  }

  @Test("a radio alone is told distance and angle, as long as it measures them")
  func radioAlone() throws {
    var engine = try FusionEngine()
    let peer = engine.addPeer(.moving)
    for step in 0..<30 {
      engine.add(
        RangingSample(
          peer: peer, timestamp: Self.time(0.1 * Double(step)), distance: 4, azimuthRadians: 0.3))
    }
    let now = engine.estimate(of: peer, at: Self.time(2.9))
    #expect(abs(try #require(now.distance.value) - 4) < 0.1)
    #expect(abs(try #require(now.horizontalAngleRadians.value) - 0.3) < 0.03)
    #expect(now.direction.value == nil && now.worldTransform.value == nil)
    #expect(now.convergence != .converged)
    // One that differs is no turn that a person makes in a tenth of a second.
    engine.add(
      RangingSample(peer: peer, timestamp: Self.time(3), distance: 4, azimuthRadians: -0.9))
    let then = engine.estimate(of: peer, at: Self.time(3))
    #expect(abs(try #require(then.horizontalAngleRadians.value) - 0.3) < 0.1)
    // The device may have turned since.
    let later = engine.estimate(of: peer, at: Self.time(5))
    #expect(later.horizontalAngleRadians.value == nil)
    #expect(later.horizontalAngleRadians.unavailability == .tooUncertain)
  }
}
