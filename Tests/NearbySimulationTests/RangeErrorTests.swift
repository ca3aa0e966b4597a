// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Errors of ranges that last or come back: each is what its setting says, and nothing else changes.
@Suite("Lasting errors of ranges")
struct RangeErrorTests {
  /// A room without other errors of ranges.
  private func room(_ change: (inout ScenarioRangeErrors) -> Void) -> (
    with: Scenario, without: Scenario
  ) {
    var scenario = Scenario(.levelWalk)
    scenario.duration = 120
    scenario.radio.measuresAngles = false
    scenario.peer.isInRoom = true
    let without = scenario
    change(&scenario.radio.rangeErrors)
    return (scenario, without)
  }

  /// What the setting adds to each range of a run, with the sample.
  private func errors(
    _ scenarios: (with: Scenario, without: Scenario), seed: UInt64
  ) -> [(error: Double, sample: SimulatedRun.Sample)] {
    zip(
      scenarios.with.simulated(seed: seed).samples, scenarios.without.simulated(seed: seed).samples
    )
    .map { (($0.distance ?? .nan) - ($1.distance ?? .nan), $0) }
  }

  @Test(
    "an error of the attitude and the place has its spread, and changes little from sample to sample"
  )
  func attitude() {
    let scenarios = room {
      $0.attitudeSigma = 0.3
      $0.placeSigma = 0.4
    }
    var moments = RunningMoments()
    var steps = RunningMoments()
    for seed in UInt64(0)..<40 {
      let errors = errors(scenarios, seed: seed).map(\.error)
      for error in errors { moments.add(error) }
      for (error, next) in zip(errors, errors.dropFirst()) { steps.add(next - error) }
    }
    // Some ten independent draws a run: 5 % of the spread is one standard deviation.
    #expect(abs(moments.deviation - 0.5) < 0.1)
    #expect(steps.deviation < 0.1)
  }

  @Test("in a zone ranges are those of one place beyond the peer, elsewhere they are as they were")
  func zones() {
    let scenarios = room {
      $0.zones.count = 1
      $0.zones.excess = 3...3
    }
    var sawZone = false
    for seed in UInt64(0)..<10 {
      let errors = errors(scenarios, seed: seed)
      #expect(errors.first?.error == 0, "the walk begins outside")
      for (error, sample) in errors {
        #expect(sample.isRangeFaulty == (error > 0.34) || abs(error) < 0.34)
        // The image is at most twice as far away as the excess, which is 3 m at the centre.
        #expect(error > -6.1 && error < 6.1)
        if error != 0 { sawZone = true }
      }
    }
    #expect(sawZone)
  }

  @Test("a turned antenna makes about half of the ranges too long, and none too short")
  func turned() {
    let scenarios = room {
      $0.turned.share = 1
      $0.turned.excess = 1...1
    }
    var (long, count) = (0, 0)
    for seed in UInt64(0)..<40 {
      for (error, _) in errors(scenarios, seed: seed) {
        #expect(error > -1e-12 && error < 1 + 1e-9)
        count += 1
        if error > 0 { long += 1 }
      }
    }
    #expect((0.3...0.7).contains(Double(long) / Double(count)))
  }

  @Test("a lapse changes the ranges of its interval and no others")
  func lapse() {
    let scenarios = room {
      $0.lapse.seconds = 40...40
      $0.lapse.duration = 20...20
      $0.lapse.error = -0.5 ... -0.5
      $0.lapse.wildShare = 0.1
    }
    var (wild, count) = (0, 0)
    for (error, sample) in errors(scenarios, seed: 3) {
      guard (40...60).contains(sample.seconds) else {
        #expect(error == 0)
        continue
      }
      count += 1
      if error > 0 { wild += 1 }
      #expect(abs(error + 0.5) < 1e-9 || (10...20).contains(error))
    }
    // 200 samples: 10 % ± 6.4 % are three standard deviations.
    #expect((0.036...0.164).contains(Double(wild) / Double(count)))
  }

  @Test("an engine is not told that such a radio's noise is white")
  func configuration() {
    let scenarios = room { $0.turned.share = 1 }
    #expect(!scenarios.with.matchingConfiguration.ranging.whiteSharesAreKnown)
    #expect(scenarios.without.matchingConfiguration.ranging.whiteSharesAreKnown)
  }
}
