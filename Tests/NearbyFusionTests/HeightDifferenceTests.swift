// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Height differences tell above from below where ranges cannot, and cost nothing where there are none.
@Suite("Height differences")
struct HeightDifferenceTests {
  /// A level walk with ranges only, past a peer two metres above or below.
  private static func levelWalk(seed: UInt64) -> SimulatedRun {
    var scenario = Scenario(.constantHeightWalk)
    scenario.radio.measuresAngles = false
    scenario.odometry.positionDrift = 0
    scenario.peer.heightDifference = 1.9...2.1
    scenario.duration = 40
    return scenario.simulated(seed: seed)
  }

  /// Barometers of which the offset is drawn once, with white noise of 0.1 m.
  private struct Barometers {
    var generator: SeededGenerator
    let offset: Double

    init(seed: UInt64) {
      generator = SeededGenerator(seed: seed, stream: 7)
      offset = generator.normal(sigma: 0.5)
    }

    mutating func difference(_ sample: SimulatedRun.Sample) -> Double {
      sample.peerInOdometry.y - sample.odometryFromDevice.translation.y + offset
        + generator.normal(sigma: 0.1)
    }
  }

  /// Feeds a run with a height difference in every `period`-th sample, none when zero; that of one sample
  /// may be 8 m off.
  private static func fed(
    _ run: SimulatedRun, seed: UInt64, period: Int, faultAt fault: Int? = nil,
    afterSample: (FusionEngine, PeerID, SampleReport, SimulatedRun.Sample) throws -> Void
  ) throws {
    var configuration = FusionConfiguration()
    configuration.ranging.antennaInDevice = run.antennaInDevice
    var engine = try FusionEngine(configuration)
    let peer = engine.addPeer(.stationary)
    var barometers = Barometers(seed: seed)
    for event in run.events {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index):
        var sample = run.rangingSample(index, of: peer)
        if period > 0, index % period == 0 {
          sample.heightDifference =
            barometers.difference(run.samples[index]) + (index == fault ? 8 : 0)
        }
        try afterSample(engine, peer, engine.add(sample), run.samples[index])
      }
    }
  }

  @Test("a level walk finds the right one of two mirror images", arguments: 0..<12 as Range<UInt64>)
  func levelWalk(seed: UInt64) throws {
    let run = Self.levelWalk(seed: seed)
    var (converged, falselyConverged) = (false, false)
    try Self.fed(run, seed: seed, period: 10) { engine, peer, _, truth in
      let estimate = engine.estimate(of: peer)
      guard estimate.convergence == .converged, let position = estimate.positionInWorld else {
        return
      }
      converged = true
      if (position - truth.peerInOdometry).length > 1 { falselyConverged = true }
    }
    #expect(converged && !falselyConverged, "seed \(seed)")
  }

  @Test("without them it never converges", arguments: 0..<3 as Range<UInt64>)
  func withoutHeights(seed: UInt64) throws {
    try Self.fed(Self.levelWalk(seed: seed), seed: seed, period: 0) { engine, peer, report, _ in
      #expect(engine.estimate(of: peer).convergence != .converged)
      #expect(report.heightDifference.outcome == .absent)
    }
  }

  @Test("the report holds the innovation, and its square is what is expected of it")
  func report() throws {
    var (sum, count) = (0.0, 0.0)
    for seed in 0..<4 as Range<UInt64> {
      let run = Self.levelWalk(seed: seed)
      try Self.fed(run, seed: seed, period: 10) { _, _, report, truth in
        guard truth.seconds > 10, report.heightDifference.isUsed else { return }
        let height = report.heightDifference
        #expect(abs(height.variance - 0.01) < 0.006)
        sum += height.innovation * height.innovation / height.innovationVariance
        count += 1
      }
    }
    #expect(count > 100)
    #expect((0.7...1.3).contains(sum / count), "\(sum / count)")
  }

  @Test("a barometer that fails is an outlier, and sticks out of the report")
  func fault() throws {
    var rejected = 0
    let run = Self.levelWalk(seed: 3)
    var index = -1
    try Self.fed(run, seed: 3, period: 10, faultAt: 300) { _, _, report, _ in
      index += 1
      guard case .rejectedAsOutlier = report.heightDifference.outcome else { return }
      rejected += 1
      #expect(index == 300)
    }
    #expect(rejected == 1)
  }

  @Test(
    "heights that cannot be are rejected and nothing else of the sample",
    arguments: [
      (Double.nan, nil, ComponentReport.Rejection.notFinite), (.infinity, nil, .notFinite),
      (2000, nil, .outOfBounds), (-2000, nil, .outOfBounds), (1, -0.1, .invalidSigma),
      (1, .nan, .invalidSigma),
    ] as [(Double, Double?, ComponentReport.Rejection)])
  func rejected(value: Double, sigma: Double?, reason: ComponentReport.Rejection) throws {
    var engine = try FusionEngine(FusionConfiguration())
    let peer = engine.addPeer(.stationary)
    let time = SimulatedRun.timestamp(at: 1)
    engine.add(DevicePose(timestamp: time, worldFromDevice: .identity))
    let report = engine.add(
      RangingSample(
        peer: peer, timestamp: time, distance: 3, heightDifference: value,
        heightDifferenceSigma: sigma))
    #expect(report.heightDifference.outcome == .rejected(reason))
    #expect(report.range.isUsed)
    #expect(report.use == .partial)
  }

  @Test("the first sample's height tells above from below at once")
  func firstSample() throws {
    var engine = try FusionEngine(FusionConfiguration())
    let peer = engine.addPeer(.stationary)
    let time = SimulatedRun.timestamp(at: 1)
    engine.add(DevicePose(timestamp: time, worldFromDevice: .identity))
    engine.add(RangingSample(peer: peer, timestamp: time, distance: 5, heightDifference: 3))
    let position = try #require(engine.estimate(of: peer).positionInWorld)
    #expect(abs(position.y - 3) < 1)
  }

  @Test("a height alone does not say that the radio is heard")
  func silence() throws {
    var scenario = Scenario(.standingStill)
    scenario.radio.measuresAngles = false
    let run = scenario.simulated(seed: 1)
    var engine = try FusionEngine(FusionConfiguration())
    let peer = engine.addPeer(.stationary)
    run.feed(&engine, as: peer)
    let before = engine.estimate(of: peer).convergence
    for step in 1...30 {
      let time = SimulatedRun.timestamp(at: 40 + Double(step) * 0.1)
      engine.add(
        DevicePose(timestamp: time, worldFromDevice: run.poses[run.poses.count - 1].worldFromDevice)
      )
      engine.add(RangingSample(peer: peer, timestamp: time, heightDifference: 2))
    }
    guard case .notConverged(let reasons) = engine.estimate(of: peer).convergence,
      case .notConverged(let earlier) = before
    else {
      Issue.record("a device that stands still has converged")
      return
    }
    #expect(
      reasons.contains(.insufficientSignalStrength)
        == earlier.contains(.insufficientSignalStrength))
  }

  // MARK: The offset in a bank

  @Test(
    "an offset that is added later starts at its prior and leaves the rest as it is",
    arguments: [1, 5])
  func addedOffset(count: Int) {
    var generator = SeededGenerator(seed: 4)
    var bank = HypothesisBank(mayMove: false)
    bank.replace(
      with: (0..<count).map { index in
        var seed = HypothesisBank.Seed(
          mean: StateVector(repeating: 0), covariance: StateCovariance(repeating: 0), weight: 1)
        for state in 0..<StateIndex.restingCount {
          seed.mean[state] = generator.normal()
          seed.covariance[StateIndex.packed(state, state)] = 1 + generator.uniform()
        }
        return seed
      })
    let before = bank
    bank.addHeightOffset(variance: 0.25)
    let offset = StateIndex.wander(.heightDifference)
    for index in 0..<count {
      #expect(bank[.mean(offset), index] == 0)
      #expect(bank[.covariance(StateIndex.packed(offset, offset)), index] == 0.25)
      for state in 0..<StateIndex.restingCount {
        #expect(bank[.covariance(StateIndex.packed(state, offset)), index] == 0)
        #expect(bank[.mean(state), index] == before[.mean(state), index])
      }
    }
    let once = bank
    bank.addHeightOffset(variance: 9)
    #expect(bank[.covariance(StateIndex.packed(offset, offset)), 0] == 0.25)
    // Packing keeps all its rows.
    bank.pack()
    bank.unpack()
    for index in 0..<count {
      for element in 0..<StateIndex.packed(0, StateIndex.heightCount) {
        #expect(bank[.covariance(element), index] == once[.covariance(element), index])
      }
    }
  }
}
