// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Distance and rate from ranges alone.
@Suite("Range tracker")
struct RangeTrackerTests {
  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  /// A radio whose errors are all white.
  private static var configuration: FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.ranging.rangeBiasSigma = 0
    configuration.ranging.rangeScaleSigma = 0
    return configuration
  }

  /// Peers that move as the model says, heard at uneven times: errors as large as stated.
  @Test func errorsAreAsLargeAsStated() throws {
    let configuration = Self.configuration
    let speed = 2.0.squareRoot() * configuration.motion.horizontalSpeedSigma
    var (sum, rateSum, count) = (0.0, 0.0, 0.0)
    for seed in UInt64(0)..<400 {
      var generator = SeededGenerator(seed: seed)
      var tracker = RangeTracker(configuration)
      var distance = 20.0
      var rate = generator.normal(sigma: speed)
      var seconds = 0.0
      for step in 0..<60 {
        // The process in steps so fine that they need no exact discretisation.
        let interval = generator.uniform(in: 0.02...0.4)
        let fine = interval / 40
        for _ in 0..<40 {
          distance += fine * rate
          rate +=
            -fine / configuration.motion.velocitySeconds * rate
            + generator.normal(
              sigma: speed * (2 * fine / configuration.motion.velocitySeconds).squareRoot())
        }
        seconds += interval
        let range = distance + generator.normal(sigma: configuration.ranging.rangeSigma)
        tracker.add(range, at: Self.time(seconds))
        guard step >= 5, step % 5 == 0, distance > 2 else { continue }
        let estimate = try #require(tracker.estimate(at: Self.time(seconds)))
        sum += pow((estimate.distance - distance) / estimate.distanceSigma, 2)
        rateSum += pow((estimate.rate - rate) / estimate.rateSigma, 2)
        count += 1
      }
    }
    #expect((0.9...1.1).contains(sum / count))
    #expect((0.9...1.1).contains(rateSum / count))
  }

  @Test func aConstantErrorIsInTheStatedSigma() throws {
    var configuration = Self.configuration
    configuration.ranging.rangeBiasSigma = 0.3
    configuration.ranging.rangeScaleSigma = 0.04
    var tracker = RangeTracker(configuration)
    for step in 0..<100 { tracker.add(10, at: Self.time(0.1 * Double(step))) }
    let estimate = try #require(tracker.estimate(at: Self.time(9.9)))
    #expect(abs(estimate.distanceSigma - 0.5) < 0.01)
  }

  @Test func theInnovationIsThatOfTheEstimate() throws {
    var tracker = RangeTracker(Self.configuration)
    #expect(tracker.innovation(of: 5, sigma: 0.1, at: Self.time(0)) == nil)
    for step in 0..<20 { tracker.add(5 + 0.05 * Double(step), at: Self.time(0.1 * Double(step))) }
    let estimate = try #require(tracker.estimate(at: Self.time(2)))
    let innovation = try #require(tracker.innovation(of: 6.2, sigma: 0.1, at: Self.time(2)))
    #expect(abs(innovation.value - (6.2 - estimate.distance)) < 1e-12)
    let variance = estimate.distanceSigma * estimate.distanceSigma + 0.01
    #expect(abs(innovation.variance - variance) < 1e-12)
    #expect(tracker.innovation(of: 6.2, sigma: 0.1, at: Self.time(1.9)) == nil)
  }

  @Test func anOutlierIsLeftOutAndABreakIsFollowed() throws {
    var tracker = RangeTracker(Self.configuration)
    for step in 0..<50 { tracker.add(step % 10 == 9 ? 9 : 4, at: Self.time(0.1 * Double(step))) }
    #expect(abs(try #require(tracker.estimate(at: Self.time(4.9))).distance - 4) < 1e-9)
    for step in 50..<59 { tracker.add(9, at: Self.time(0.1 * Double(step))) }
    #expect(abs(try #require(tracker.estimate(at: Self.time(5.8))).distance - 4) < 1e-9)
    for step in 59..<64 { tracker.add(9, at: Self.time(0.1 * Double(step))) }
    #expect(abs(try #require(tracker.estimate(at: Self.time(6.3))).distance - 9) < 0.01)
  }

  @Test func anObstructedRangeCountsForLittle() throws {
    var tracker = RangeTracker(Self.configuration)
    for step in 0..<50 { tracker.add(4, at: Self.time(0.1 * Double(step))) }
    var plain = tracker
    tracker.add(4.25, isNonLineOfSight: true, at: Self.time(5))
    plain.add(4.25, at: Self.time(5))
    #expect(abs(try #require(tracker.estimate(at: Self.time(5))).distance - 4) < 0.01)
    #expect(abs(try #require(plain.estimate(at: Self.time(5))).distance - 4) > 0.05)
  }

  @Test(arguments: [Double.nan, -1, 0, .infinity, 1e9])
  func whatIsNoRangeIsLeftOut(_ distance: Double) {
    var tracker = RangeTracker(Self.configuration)
    tracker.add(distance, at: Self.time(1))
    #expect(tracker.estimate(at: Self.time(1)) == nil)
    tracker.add(3, at: Self.time(2))
    let before = tracker
    tracker.add(distance, at: Self.time(3))
    // Late, repeated, and with a sigma that is none.
    tracker.add(4, at: Self.time(1))
    tracker.add(4, at: Self.time(2))
    for sigma in [Double.nan, -1, 0, 1e-7, 1e7, 1e150, .infinity] {
      tracker.add(4, sigma: sigma, at: Self.time(3))
    }
    #expect(tracker == before)
  }

  /// Rates that are known as well as never before are not known better than that.
  @Test(arguments: [0.01, 50, 1e4], [1e-9, 1e-6, 2e-4, 0.1, 1e6])
  func sigmasAreNumbers(velocitySeconds: Double, step: Double) throws {
    var configuration = Self.configuration
    configuration.motion.horizontalSpeedSigma = 100
    configuration.motion.velocitySeconds = velocitySeconds
    configuration.ranging.maximumRange = 1e6
    for sigma in [1.1e-6, 1e-5, 1e-4, 0.1, 1e3] {
      var tracker = RangeTracker(configuration)
      for count in 0..<100 {
        let time = Self.time(step * Double(count))
        tracker.add(5, sigma: count == 0 ? 1e-4 : sigma, at: time)
        let estimate = try #require(tracker.estimate(at: time))
        let numbers = [
          estimate.distance, estimate.rate, estimate.distanceSigma, estimate.rateSigma,
        ]
        guard numbers.allSatisfy(\.isFinite) else {
          Issue.record("\(estimate) after \(count) ranges, sigma \(sigma)")
          return
        }
      }
    }
  }
}
