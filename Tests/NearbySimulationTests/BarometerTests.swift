// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Simulated barometers")
struct BarometerTests {
  /// Barometers in a scenario that stands still, so that the true height difference is constant.
  private func scenario(
    seconds: Double = 20, _ change: (inout ScenarioBarometers) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario(.standingStill)
    scenario.duration = seconds
    // Nothing here depends on poses, whose drawing takes most of the time.
    scenario.odometry.rate = 1
    scenario.barometers.arePresent = true
    change(&scenario.barometers)
    return scenario
  }

  /// The errors of all height differences of a run, with their times.
  private func errors(of run: SimulatedRun) -> [(seconds: Double, error: Double)] {
    run.samples.compactMap { sample in
      sample.heightDifference.map { height in
        let truth =
          run.peers[sample.peer].path.position(at: sample.seconds).y
          - run.device.pose(at: sample.seconds).translation.y
        return (sample.seconds, height - truth)
      }
    }
  }

  @Test("Without barometers there are no heights, and with them nothing else changes")
  func nothingElseChanges() throws {
    for name in ["find", "garbage", "tracking-lost"] {
      let without = try #require(Scenario.preset(named: name))
      var with = without
      with.barometers.arePresent = true
      let (a, b) = (without.simulated(seed: 5, peerCount: 2), with.simulated(seed: 5, peerCount: 2))
      #expect(a.poses == b.poses)
      #expect(a.events == b.events)
      #expect(a.samples.allSatisfy { $0.heightDifference == nil && !$0.isHeightDifferenceFaulty })
      #expect(b.samples.contains { $0.heightDifference != nil })
      for (one, other) in zip(a.samples, b.samples) {
        #expect(one.distance == other.distance && one.timestamp == other.timestamp)
        #expect(one.azimuthRadians == other.azimuthRadians)
        #expect(one.elevationRadians == other.elevationRadians)
      }
    }
  }

  @Test("Heights come at most once per interval", arguments: [0, 0.25, 1, 3.0])
  func interval(seconds: Double) {
    let run = scenario { $0.interval = seconds }.simulated(seed: 1)
    let times = errors(of: run).map(\.seconds)
    let expected = max(seconds, 0.1)
    #expect(abs(Double(times.count) - 20 / expected) <= max(2, 20 / expected * 0.2))
    for (one, next) in zip(times, times.dropFirst()) { #expect(next - one > seconds - 1e-5) }
  }

  @Test("A peer above the device has a positive height difference")
  func sign() {
    var scenario = scenario {
      $0.noise = 0
      $0.offsetSigma = 0
    }
    scenario.motion = .sweepThenClimb
    scenario.peer.heightDifference = 5...6
    for (side, sign) in [(ScenarioPeer.Side.above, 1.0), (.below, -1)] {
      scenario.peer.side = side
      let run = scenario.simulated(seed: 3)
      #expect(errors(of: run).count >= 15)
      #expect(errors(of: run).allSatisfy { abs($0.error) < 1e-9 })
      #expect(run.samples.compactMap(\.heightDifference).allSatisfy { $0 * sign > 0 })
    }
  }

  /// The sample variance of `n` normal numbers has a relative standard deviation of √(2 / n).
  @Test("White noise and offset have their sigmas, the offset drifts as a Gauss-Markov process")
  func statistics() {
    let scenario = scenario(seconds: 41) { $0.offsetSeconds = 40 }
    var white = RunningMoments()
    var (start, drift, product) = (RunningMoments(), RunningMoments(), RunningMoments())
    for seed in 0..<2000 as Range<UInt64> {
      let errors = errors(of: scenario.simulated(seed: seed)).map(\.error)
      // The offset hardly drifts within a second: 0.5² · 2 / 40 = 0.0125 m² beside 0.02 m².
      white.add(errors[1] - errors[0])
      start.add(errors[0])
      drift.add(errors[39])
      product.add(errors[0] * errors[39])
    }
    let offset = 0.25
    #expect(abs(white.squaredDeviation / (0.02 + 2 * offset * (1 - exp(-1 / 40.0))) - 1) < 0.13)
    for moments in [start, drift] {
      #expect(abs(moments.squaredDeviation / (offset + 0.01) - 1) < 0.13)
      #expect(abs(moments.mean) < 4 * 0.51 / 44.7)
    }
    // Its standard deviation over 2000 runs is about 0.28 / √2000 = 0.006.
    #expect(abs(product.mean - offset * exp(-39 / 40.0)) < 0.026)
  }

  @Test("Faults are marked, are as frequent as set, and have their own sigma")
  func faults() {
    let scenario = scenario(seconds: 400) {
      $0.faults = .init(share: 0.2, persistence: 0.5)
      $0.interval = 0
      $0.offsetSigma = 0
    }
    var (good, bad) = (RunningMoments(), RunningMoments())
    for seed in 0..<5 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      for (sample, error) in zip(run.samples, errors(of: run)) {
        if sample.isHeightDifferenceFaulty { bad.add(error.error) } else { good.add(error.error) }
      }
    }
    let share = bad.count / (good.count + bad.count)
    #expect(abs(share - 0.2) < 0.02)
    #expect(abs(bad.squaredDeviation / (25 + 0.01) - 1) < 0.15)
    #expect(abs(good.deviation / 0.1 - 1) < 0.02)
  }

  @Test("Settings outside their intervals are named")
  func validation() {
    let faults: [(String, (inout ScenarioBarometers) -> Void)] = [
      ("interval", { $0.interval = -1 }), ("noise", { $0.noise = .nan }),
      ("offsetSigma", { $0.offsetSigma = 1e9 }), ("offsetSeconds", { $0.offsetSeconds = 0 }),
      ("faults.share", { $0.faults.share = 1 }), ("faultSigma", { $0.faultSigma = -.infinity }),
    ]
    for (setting, change) in faults {
      let error = #expect(throws: ScenarioError.self) {
        try scenario(seconds: 20, change).validate()
      }
      #expect(error?.setting == "barometers.\(setting)")
    }
  }

  @Test("The engine is told the sigmas of the barometers")
  func matchingConfiguration() throws {
    let scenario = scenario {
      $0.noise = 0.3
      $0.offsetSigma = 0.7
      $0.offsetSeconds = 90
    }
    let ranging = scenario.matchingConfiguration.ranging
    #expect(ranging.heightDifferenceSigma == 0.3 && ranging.heightOffsetSigma == 0.7)
    #expect(ranging.heightOffsetSeconds == 90)
    let level = try #require(Scenario.preset(named: "ranges-level-heights"))
    let defaults = RangingConfiguration()
    let told = level.matchingConfiguration.ranging
    #expect(told.heightDifferenceSigma == defaults.heightDifferenceSigma)
    #expect(told.heightOffsetSigma == defaults.heightOffsetSigma)
    #expect(told.heightOffsetSeconds == defaults.heightOffsetSeconds)
  }

  @Test("ranges-level-heights is ranges-level with heights")
  func preset() throws {
    let level = try #require(Scenario.preset(named: "ranges-level"))
    var heights = try #require(Scenario.preset(named: "ranges-level-heights"))
    #expect(heights.barometers.arePresent && heights.expectation == .converges)
    heights.barometers.arePresent = false
    heights.expectation = level.expectation
    (heights.name, heights.summary) = (level.name, level.summary)
    #expect(heights == level)
  }
}

extension RunningMoments {
  fileprivate var squaredDeviation: Double { deviation * deviation }
}
