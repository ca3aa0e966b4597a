// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

extension FuzzTests {
  /// Estimators that use ranges only, without a position filter: distances with rates, and anchors.
  @Suite("RangeFuzzTests")
  struct RangeFuzzTests {
    @Test("whatever ranges come, distances, rates and fixes make sense")
    func ranges() {
      FuzzCampaign("RangeFuzzTests", share: 0.1).run { one in
        var generator = SeededGenerator(seed: one.seed, stream: 0xF5)
        let share = generator.one(of: [0, 0.3, 1])
        let configuration = FusionConfiguration(changing: share, &generator)
        if generator.happens(0.5) {
          Self.track(configuration, &generator, &one)
        } else {
          try Self.locate(configuration, &generator, &one)
        }
      }.expectNothingWrong()
    }

    /// Follows a distance.
    private static func track(
      _ configuration: FusionConfiguration, _ generator: inout SeededGenerator,
      _ one: inout FuzzCampaign.Case
    ) {
      var tracker = RangeTracker(configuration)
      var time = Timestamp(nanoseconds: 0)
      let step = generator.one(of: [1e-9, 1e-4, 0.1, 0.1, 10, 1e6])
      for _ in 0..<generator.number(1..<200) {
        time = time.advanced(bySeconds: step * generator.uniform())
        let isHostile = generator.happens(0.05)
        tracker.add(
          isHostile ? generator.hostileNumber() : max(0.1, 5 + generator.normal(sigma: 0.3)),
          sigma: generator.happens(0.2) ? generator.hostileNumber() : nil,
          isNonLineOfSight: generator.happens(0.2),
          at: isHostile ? generator.hostileTime(near: time) : time)
        one.count("ranges")
        let later = generator.happens(0.2) ? generator.hostileTime(near: time) : time
        guard let estimate = tracker.estimate(at: later) else { continue }
        one.count("distances with rates")
        let numbers = [
          estimate.distance, estimate.distanceSigma, estimate.rate, estimate.rateSigma,
        ]
        one.expect(numbers.allSatisfy(\.isFinite), "\(estimate)")
        one.expect(
          estimate.distance >= 0 && estimate.distanceSigma >= 0 && estimate.rateSigma >= 0,
          "\(estimate)")
      }
    }

    /// Finds the device among anchors.
    private static func locate(
      _ configuration: FusionConfiguration, _ generator: inout SeededGenerator,
      _ one: inout FuzzCampaign.Case
    ) throws {
      let spread = generator.one(of: [1e-6, 1, 10, 1e5])
      let anchors = (0..<generator.number(0..<6)).map { _ in generator.normalVector(sigma: spread) }
      var locator = try AnchorLocator(anchors: anchors, configuration)
      let run = try DrawnCalls(longest: 4, hostility: 0, &generator)
      for call in run.calls {
        if case .pose(let pose) = call {
          locator.add(generator.happens(0.02) ? generator.hostilePose(pose) : pose)
          for (index, anchor) in anchors.enumerated() {
            let distance = (anchor - pose.worldFromDevice.translation).length
            locator.add(
              generator.happens(0.05) ? generator.hostileNumber() : distance,
              to: generator.happens(0.02) ? generator.number(-2..<9) : index,
              sigma: generator.happens(0.05) ? generator.hostileNumber() : nil,
              at: generator.happens(0.02)
                ? generator.hostileTime(near: pose.timestamp) : pose.timestamp)
            one.count("ranges to anchors")
          }
        }
        guard generator.happens(0.02), let fix = locator.locate() else { continue }
        one.count("fixes")
        one.check(fix.position, "position") { $0.isFinite }
        one.check(fix.siteFromWorld, "transform") { $0.translation.isFinite }
        if fix.position.value != nil { one.check(fix.covariance, "covariance of a fix") }
      }
    }
  }
}
