// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Each fault of the radio matches its setting and leaves everything else unchanged.
@Suite("Radio faults")
struct RadioFaultTests {
  private static let seeds: Range<UInt64> = 0..<30

  /// The direction to the peer from the antenna, device axes.
  private func ray(_ sample: SimulatedRun.Sample, _ run: SimulatedRun) -> Vector3 {
    let device = sample.odometryFromDevice
    return device.rotation.inverse.act(sample.peerInOdometry - device.act(run.antennaInDevice))
  }

  @Test("a constant bias is the same in every run, and has its share of the prior")
  func bias() {
    var scenario = Scenario(.standingStill)
    scenario.radio.rangeBias = 0.3
    scenario.radio.rangeBiasSigma = 0
    var errors = RunningMoments()
    for seed in Self.seeds {
      let run = scenario.simulated(seed: seed)
      #expect(run.peers[0].rangeBias == 0.3)
      for sample in run.samples { errors.add((sample.distance ?? .nan) - ray(sample, run).length) }
    }
    #expect(abs(errors.mean - 0.3) < 0.005)
    #expect(abs(errors.deviation - 0.1) < 0.005)
    #expect(scenario.matchingConfiguration.ranging.rangeBiasSigma == 0.3)
  }

  @Test("garbage is one of four kinds, in the share that is asked for, and marked")
  func garbage() {
    var scenario = Scenario(.wanderingWalk)
    let clean = Self.seeds.map { scenario.simulated(seed: $0) }
    scenario.radio.garbageShare = 0.05
    var counts = [0, 0, 0, 0]
    var total = 0
    for (seed, clean) in zip(Self.seeds, clean) {
      for (sample, clean) in zip(scenario.simulated(seed: seed).samples, clean.samples) {
        total += 1
        guard sample.isRangeFaulty else {
          #expect(sample.distance == clean.distance)
          continue
        }
        let distance = sample.distance ?? .nan
        let kind = distance < 0 ? 0 : [0: 1, 226: 2, 645: 3][distance]
        guard let kind else {
          Issue.record("\(distance) is no garbage")
          return
        }
        counts[kind] += 1
      }
    }
    // 15 000 samples, 750 of them garbage: four standard deviations.
    let share = Double(counts.reduce(0, +)) / Double(total)
    #expect(abs(share - 0.05) < 0.0072)
    #expect(counts.allSatisfy { abs($0 - counts.reduce(0, +) / 4) < 50 }, "\(counts)")
  }

  @Test("lost samples are gone, duplicates arrive twice, late ones out of order")
  func delivery() {
    var scenario = Scenario(.wanderingWalk)
    let whole = scenario.simulated(seed: 1)
    scenario.radio.lostShare = 0.2
    scenario.radio.duplicateShare = 0.1
    scenario.radio.lateShare = 0.15
    var (kept, sent, twice, backwards) = (0, 0, 0, 0)
    for seed in Self.seeds {
      let run = scenario.simulated(seed: seed)
      sent += whole.samples.count
      kept += run.samples.count
      var arrived: [Int: Int] = [:]
      var newest = -1
      for case .sample(let index) in run.events {
        arrived[index, default: 0] += 1
        if index < newest, arrived[index] == 1 { backwards += 1 }
        newest = max(newest, index)
      }
      #expect(arrived.count == run.samples.count)
      #expect(arrived.values.allSatisfy { $0 <= 2 })
      twice += arrived.values.count { $0 == 2 }
    }
    #expect(abs(Double(kept) / Double(sent) - 0.8) < 0.014)
    #expect(abs(Double(twice) / Double(kept) - 0.1) < 0.012)
    #expect(abs(Double(backwards) / Double(kept) - 0.15) < 0.02)
  }

  @Test("out of reach there are no samples, and what is not measured is missing")
  func reachAndKinds() {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.reach = 2...5
    scenario.radio.measuresElevation = false
    let run = scenario.simulated(seed: 3)
    #expect(run.samples.count > 50)
    #expect(run.samples.allSatisfy { (2...5).contains(ray($0, run).length) })
    #expect(run.samples.allSatisfy { $0.elevationRadians == nil })
    #expect(run.samples.contains { $0.azimuthRadians != nil })
    scenario.radio.measuresRange = false
    #expect(scenario.simulated(seed: 3).samples.allSatisfy { $0.distance == nil })
  }

  @Test("mirrored azimuths are folded about the side, beyond the limit and nowhere else")
  func mirror() {
    var scenario = Scenario(.sweepThenWalk)
    scenario.radio.fieldOfViewDegrees = 360
    let plain = Self.seeds.map { scenario.simulated(seed: $0) }
    scenario.radio.azimuthMirror.share = 0.5
    var runs = 0
    for (seed, plain) in zip(Self.seeds, plain) {
      let run = scenario.simulated(seed: seed)
      if run.samples.contains(where: \.isAzimuthFaulty) { runs += 1 }
      for (sample, plain) in zip(run.samples, plain.samples) {
        guard let mirrored = sample.azimuthRadians, let azimuth = plain.azimuthRadians else {
          Issue.record("a full circle has an angle everywhere")
          return
        }
        #expect(sample.elevationRadians == plain.elevationRadians && !sample.isElevationFaulty)
        if sample.isAzimuthFaulty {
          let truth = ArrivalAngles(ofDirection: ray(sample, run)).azimuthRadians
          #expect(abs(truth) > 57.0.degreesAsRadians)
          #expect(abs((mirrored + azimuth).magnitude - .pi) < 1e-12 || abs(azimuth) < 1e-9)
        } else {
          #expect(mirrored == azimuth)
        }
      }
    }
    #expect((8...22).contains(runs), "half of 30 runs: \(runs)")
  }

  @Test("a slow radio is slow, and an idle one slower")
  func rates() {
    var scenario = Scenario(.sweepThenStand)
    scenario.duration = 200
    scenario.radio.rate = 4
    scenario.idle.afterSeconds = 50
    let run = scenario.simulated(seed: 2)
    let times = run.samples.map(\.seconds)
    #expect(abs(times.count { $0 < 50 } - 200) <= 2)
    #expect(abs(times.count { $0 >= 50 } - 150) <= 2)
    #expect(abs(run.poses.count - (50 * 60 + 150 * 20)) <= 2)
    #expect(times == times.sorted())
    // Odometry does not drift at rest.
    #expect(run.samples.last?.travelled == run.samples.first { $0.seconds > 51 }?.travelled)
  }

  @Test("several peers of one device share the poses; each is as it would be alone")
  func severalPeers() {
    let scenario = Scenario(.sweepThenWalk)
    let run = scenario.simulated(seed: 5, peerCount: 3)
    #expect(run.peers.count == 3)
    #expect(run.samples.map(\.seconds) == run.samples.map(\.seconds).sorted())
    for peer in 0..<3 {
      let alone = scenario.simulated(seed: 5, peer: UInt64(peer))
      #expect(alone.poses == run.poses)
      let shared = run.samples.filter { $0.peer == peer }
      #expect(shared.map(\.distance) == alone.samples.map(\.distance))
      #expect(shared.map(\.azimuthRadians) == alone.samples.map(\.azimuthRadians))
    }
    var arrivals: [Int] = []
    for case .sample(let index) in run.events { arrivals.append(index) }
    #expect(arrivals == Array(run.samples.indices))
  }
}
