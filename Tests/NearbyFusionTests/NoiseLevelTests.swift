// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// What the engine learns of the noise, and what makes it doubt.
@Suite("Noise level")
struct NoiseLevelTests {
  private static let stated = 0.1
  /// Floors below all that is learnt here.
  private static let low = NoisePrior(whiteShare: 0.9, whiteFloor: 0.1, wanderFloor: 0.1)

  /// Feeds an AR(1) process of stationary sigma `stated`; correlation zero is white noise.
  private func learned(correlation: Double, seed: UInt64, count: Int = 20_000) -> NoiseLevel {
    var generator = SeededGenerator(seed: seed)
    var level = NoiseLevel(Self.low)
    var residual = generator.normal(sigma: Self.stated)
    let fresh = (1 - correlation * correlation).squareRoot()
    for _ in 0..<count {
      residual = correlation * residual + fresh * generator.normal(sigma: Self.stated)
      level.observe(
        NoiseLevel.Observation(
          before: residual, after: residual, withoutWander: residual,
          decorrelation: 1 - correlation,
          sigma: Self.stated))
    }
    return level
  }

  @Test("white residuals are white", arguments: 0..<12 as Range<UInt64>)
  func white(seed: UInt64) {
    let level = learned(correlation: 0, seed: seed)
    #expect(abs(level.whiteVariance(stated: Self.stated) - 0.01) < 0.0025)
    #expect(level.wanderVariance(stated: Self.stated) < 0.003)
  }

  @Test("residuals that hardly change wander", arguments: 0..<12 as Range<UInt64>)
  func wandering(seed: UInt64) {
    let level = learned(correlation: 0.95, seed: seed)
    // A difference of neighbours has twice the variance σ² (1 - 0.95), and white noise twice its own.
    #expect(abs(level.whiteVariance(stated: Self.stated) - 0.0005) < 0.0002)
    #expect(abs(level.wanderVariance(stated: Self.stated) - 0.0095) < 0.003)
  }

  @Test("floors hold, however good the residuals are")
  func floors() {
    var level = NoiseLevel(NoisePrior(whiteShare: 0.9, whiteFloor: 0.2, wanderFloor: 0.3))
    for _ in 0..<5000 {
      level.observe(
        NoiseLevel.Observation(before: 0, after: 0, withoutWander: 0, decorrelation: 1, sigma: 1))
    }
    #expect(abs(level.whiteVariance(stated: 1) - 0.04) < 1e-12)
    #expect(abs(level.wanderVariance(stated: 1) - 0.09) < 1e-12)
  }

  @Test("ranges too short to be inliers are noise up to eight sigmas, and no others")
  func shortRanges() {
    func variance(after residual: Double) -> Double {
      var level = NoiseLevel(Self.low)
      for _ in 0..<2000 { level.observeShort(residual, decorrelation: 1, sigma: Self.stated) }
      return level.whiteVariance(stated: Self.stated) + level.wanderVariance(stated: Self.stated)
    }
    let before = variance(after: 0.4)
    // The mean of |e| of a normal e is 0.8 of its sigma.
    #expect(abs(variance(after: -0.4).squareRoot() - 0.4 * (Double.pi / 2).squareRoot()) < 0.01)
    #expect(variance(after: -0.81) == before)
    #expect(variance(after: 3) == before)
  }

  @Test("a peer begins between the prior and what the radio has learnt of others, by their weights")
  func shared() {
    let ranging = RangingConfiguration()
    /// The initial white variance of a new peer's ranges.
    ///
    /// - Parameter others: Peers heard before: the difference of consecutive residuals in sigmas, and the
    ///   number of samples.
    func begins(after others: [(sigmas: Double, count: Int)]) -> Double {
      let learnt = others.map { other in
        var levels = NoiseLevels(ranging)
        for index in 0..<other.count {
          let residual = (index % 2 == 0 ? 0.5 : -0.5) * other.sigmas * Self.stated
          levels.range.observe(
            NoiseLevel.Observation(
              before: residual, after: residual, withoutWander: residual, decorrelation: 1,
              sigma: Self.stated))
        }
        return levels
      }
      return NoiseLevels(ranging, learnt: learnt).range.whiteVariance(stated: Self.stated)
    }
    func share(_ variance: Double) -> Double { variance.squareRoot() / Self.stated }
    let prior = ranging.rangeWhiteShare
    #expect(abs(share(begins(after: [])) - prior) < 1e-12)
    // A difference of d sigmas says that the white share is d √π/2. A memory of 200, less the prior's
    // weight of 15, stands against the prior's 200.
    let learnt = 2 * Double.pi.squareRoot() / 2
    let one = (200 * prior + 185 * learnt) / 385
    #expect(abs(share(begins(after: [(2, 4000)])) - one) < 0.001)
    let three = (200 * prior + 3 * 185 * learnt) / 755
    #expect(abs(share(begins(after: [(2, 4000), (2, 4000), (2, 4000)])) - three) < 0.001)
    // A peer with few samples has little weight.
    #expect(abs(share(begins(after: [(2, 6)])) - prior) < 0.03)
  }

  @Test("the first range of a second peer has a variance between the prior's and the first peer's")
  func secondPeer() throws {
    let scenario = Scenario(.sweepThenWalk)
    let run = scenario.simulated(seed: 3)
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = 0.4
    var engine = try FusionEngine(configuration)
    let (first, second) = (engine.addPeer(), engine.addPeer())
    var variances: [Double] = []
    run.feed(&engine, as: first) { _, report, _ in
      if case .fused = report.range.outcome { variances.append(report.range.variance) }
    }
    let last = run.rangingSample(run.samples.count - 1, of: second)
    variances.append(engine.add(last).range.variance)
    #expect(variances[variances.count - 1] < 0.9 * variances[0])
    #expect(variances[variances.count - 1] > variances[variances.count - 2])
  }

  @Test("one absurd residual counts with four sigmas at most")
  func absurdResidual() {
    func level(_ value: Double) -> NoiseLevel {
      var level = learned(correlation: 0, seed: 1)
      level.observe(
        NoiseLevel.Observation(
          before: value, after: 0, withoutWander: value, decorrelation: 1, sigma: Self.stated))
      return level
    }
    #expect(level(1e6) == level(1e9))
  }

  @Test("a broken chain teaches nothing of white noise")
  func brokenChain() {
    var level = NoiseLevel(Self.low)
    let before = level.whiteVariance(stated: 1)
    for index in 0..<100 {
      level.forgetLast()
      let residual = index % 2 == 0 ? 1.0 : -1
      level.observe(
        NoiseLevel.Observation(
          before: residual, after: residual, withoutWander: residual, decorrelation: 0, sigma: 1))
    }
    #expect(level.whiteVariance(stated: 1) == before)
  }
}

/// Where a radio's noise begins, and what it takes to change it.
@Suite("Noise levels of a radio")
struct NoiseLevelsTests {
  private static let shares = [1.0, 0.8, 0.5, 1.0]

  private func known() -> NoiseLevels {
    var ranging = RangingConfiguration()
    ranging.rangeWhiteShare = Self.shares[0]
    ranging.azimuthWhiteShare = Self.shares[1]
    ranging.elevationWhiteShare = Self.shares[2]
    ranging.whiteSharesAreKnown = true
    return NoiseLevels(ranging)
  }

  /// The level after many residuals whose differences say one white share, and whose size, without
  /// what wanders, says one total share.
  private func taught(_ level: NoiseLevel, white: Double, total: Double) -> NoiseLevel {
    var level = level
    for index in 0..<5000 {
      let residual = (index % 2 == 0 ? 1 : -1) * white / Double.pi.squareRoot()
      level.observe(
        NoiseLevel.Observation(
          before: residual, after: residual, withoutWander: total * (2 / Double.pi).squareRoot(),
          decorrelation: 1, sigma: 1))
    }
    return level
  }

  @Test("known shares hold from the start", arguments: MeasurementKind.allCases)
  func knownShares(kind: MeasurementKind) {
    let share = Self.shares[kind.rawValue]
    let level = known()[kind]
    #expect(abs(level.whiteVariance(stated: 0.2) - share * share * 0.04) < 1e-12)
    // The rest wanders; but no radio's noise is quite white.
    let wander = max(1 - share * share, 0.0009)
    #expect(abs(level.wanderVariance(stated: 0.2) - wander * 0.04) < 1e-12)
  }

  @Test("no residual, however good, makes known noise less", arguments: MeasurementKind.allCases)
  func notBetter(kind: MeasurementKind) {
    let level = known()[kind]
    let after = taught(level, white: 0, total: 0)
    #expect(after.whiteVariance(stated: 1) == level.whiteVariance(stated: 1))
    #expect(after.wanderVariance(stated: 1) == level.wanderVariance(stated: 1))
  }

  @Test(
    "a radio that seems slightly worse than known is the known one",
    arguments: MeasurementKind.allCases)
  func slightlyWorse(kind: MeasurementKind) {
    let level = known()[kind]
    let after = taught(level, white: Self.shares[kind.rawValue] + 0.09, total: 1.09)
    #expect(after.whiteVariance(stated: 1) == level.whiteVariance(stated: 1))
    #expect(abs(after.wanderVariance(stated: 1) - level.wanderVariance(stated: 1)) < 1e-12)
  }

  @Test(
    "a radio much worse than known is learnt, less the tolerance",
    arguments: MeasurementKind.allCases)
  func muchWorse(kind: MeasurementKind) {
    let share = Self.shares[kind.rawValue]
    let noisier = taught(known()[kind], white: 2 * share, total: 1)
    #expect(abs(noisier.whiteVariance(stated: 1).squareRoot() - (2 * share - 0.1)) < 1e-6)
    let wandering = taught(known()[kind], white: share, total: 2)
    #expect(wandering.whiteVariance(stated: 1) == share * share)
    #expect(abs(wandering.wanderVariance(stated: 1) - (1.9 * 1.9 - share * share)) < 1e-6)
  }

  @Test("shares that are not known are where learning starts, and begin cautious")
  func unknownShares() {
    let levels = NoiseLevels(RangingConfiguration())
    for kind in MeasurementKind.allCases {
      // A barometer's noise is white; its offset is apart.
      let share = kind == .heightDifference ? 1 : 0.9
      #expect(abs(levels[kind].whiteVariance(stated: 1) - share * share) < 1e-12)
    }
    #expect(abs(levels.range.wanderVariance(stated: 1) - 0.19) < 1e-12)
    // Of angles more together than was stated.
    for kind in MeasurementKind.allCases where kind.isAngle {
      #expect(abs(levels[kind].wanderVariance(stated: 1) - 0.64) < 1e-12)
    }
    var ranging = RangingConfiguration()
    (ranging.azimuthWhiteShare, ranging.elevationWhiteShare) = (0.7, 0.3)
    let others = NoiseLevels(ranging)
    #expect(abs(others.azimuth.whiteVariance(stated: 1) - 0.49) < 1e-12)
    // Not below the floor.
    #expect(abs(others.elevation.whiteVariance(stated: 1) - 0.25) < 1e-12)
    // And better radios are learnt.
    let better = taught(levels.range, white: 0.4, total: 0.5)
    #expect(abs(better.whiteVariance(stated: 1) - 0.16) < 1e-6)
    #expect(abs(better.wanderVariance(stated: 1) - 0.09) < 1e-6)
  }

  @Test("shares out of 0.01 to 1 are refused by name")
  func validation() throws {
    let settings: [(String, WritableKeyPath<RangingConfiguration, Double>)] = [
      ("ranging.rangeWhiteShare", \.rangeWhiteShare),
      ("ranging.azimuthWhiteShare", \.azimuthWhiteShare),
      ("ranging.elevationWhiteShare", \.elevationWhiteShare),
    ]
    for (name, setting) in settings {
      for share in [0, 0.0099, 1.0001, -1, .nan, .infinity] {
        var configuration = FusionConfiguration()
        configuration.ranging[keyPath: setting] = share
        let error = #expect(throws: FusionConfigurationError.self) {
          try configuration.validate()
        }
        #expect(error?.setting == name)
      }
      for share in [0.01, 1] {
        var configuration = FusionConfiguration()
        configuration.ranging[keyPath: setting] = share
        try configuration.validate()
      }
    }
  }
}

/// Doubt comes with time, not with one bad sample.
@Suite("Contradiction monitor")
struct ContradictionMonitorTests {
  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 1_000_000_000).advanced(bySeconds: seconds)
  }

  @Test("begins consistent, and a burst shorter than its patience changes nothing")
  func shortBurst() {
    var monitor = ContradictionMonitor()
    #expect(monitor.isConsistent && !monitor.isContradicted)
    for index in 0..<10 {
      monitor.add(contradicts: true, at: time(0.1 * Double(index)), patience: 1)
    }
    // 1 - exp(-0.9) = 0.593.
    #expect(abs(monitor.share - 0.5934303402594) < 1e-12)
    #expect(!monitor.isContradicted)
    monitor.add(contradicts: true, at: time(1.1), patience: 1)
    #expect(monitor.share > 0.65 && monitor.isContradicted)
  }

  @Test("agreement brings it back")
  func recovery() {
    var monitor = ContradictionMonitor()
    for index in 0..<30 {
      monitor.add(contradicts: true, at: time(0.1 * Double(index)), patience: 1)
    }
    #expect(monitor.isContradicted && !monitor.isConsistent)
    for index in 30..<50 {
      monitor.add(contradicts: false, at: time(0.1 * Double(index)), patience: 1)
    }
    #expect(!monitor.isContradicted && monitor.isConsistent)
  }

  @Test("few samples far apart need four in surplus")
  func fewSamples() {
    var monitor = ContradictionMonitor()
    for index in 0..<3 {
      monitor.add(contradicts: true, at: time(10 * Double(index)), patience: 1)
      #expect(!monitor.isContradicted)
    }
    monitor.add(contradicts: true, at: time(30), patience: 1)
    #expect(monitor.isContradicted)
  }

  @Test("half of the samples is not enough")
  func half() {
    var monitor = ContradictionMonitor()
    for index in 0..<200 {
      monitor.add(contradicts: index % 2 == 0, at: time(0.1 * Double(index)), patience: 1)
      #expect(!monitor.isContradicted)
    }
    #expect(abs(monitor.share - 0.5) < 0.06)
  }
}

/// An angle repeated to the last digit is suspicious only when the device has moved.
@Suite("Stuck angle")
struct StuckAngleTests {
  private func pose(yaw: Double, x: Double) -> RigidTransform {
    RigidTransform(
      rotation: Rotation(angleRadians: yaw, about: Vector3(0, 1, 0)), translation: Vector3(x, 0, 0))
  }

  @Test(
    "thresholds of turn and step",
    arguments: [
      (0.0, 0.0, false), (0.029, 0.0, false), (0.031, 0.0, true), (0.0, 0.099, false),
      (0.0, 0.101, true),
    ] as [(Double, Double, Bool)])
  func thresholds(yaw: Double, x: Double, isStuck: Bool) {
    var angle = StuckAngle()
    let first = angle.isStuck(0.3, at: pose(yaw: 0, x: 0))
    #expect(!first)
    let second = angle.isStuck(0.3, at: pose(yaw: yaw, x: x))
    #expect(second == isStuck)
    // The least change of the value frees it.
    let changed = angle.isStuck(0.3.nextUp, at: pose(yaw: yaw, x: x))
    #expect(!changed)
  }

  @Test("counts from where the value was first seen, step by small step")
  func slow() {
    var angle = StuckAngle()
    let judged = (0..<10).map { angle.isStuck(0.3, at: pose(yaw: 0.01 * Double($0), x: 0)) }
    #expect(
      judged == [false, false, false, false] + [Bool](repeating: true, count: 6) || judged[3])
    #expect(judged.prefix(3).allSatisfy { !$0 } && judged.suffix(6).allSatisfy { $0 })
  }
}
