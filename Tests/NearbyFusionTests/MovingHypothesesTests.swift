// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyEvaluation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// Hypotheses of rest and motion side by side.
@Suite("Moving hypotheses")
struct MovingHypothesesTests {
  private static let settings = Settings(FusionConfiguration())

  /// A hypothesis five metres ahead, so wide across the line of sight.
  private static func seed(
    across: Double, weight: Double = 1, moves: Bool = false
  ) -> HypothesisBank.Seed {
    var seed = HypothesisBank.Seed(
      mean: StateVector(repeating: 0), covariance: StateCovariance(repeating: 0), weight: weight,
      moves: moves)
    seed.mean[2] = -5
    for state in 0..<(moves ? StateIndex.movingCount : StateIndex.restingCount) {
      let sigma = state == 0 ? across : state < 3 ? 0.05 : 0.01
      seed.covariance[StateIndex.packed(state, state)] = sigma * sigma
    }
    return seed
  }

  private static func bank(_ seeds: [HypothesisBank.Seed]) -> HypothesisBank {
    var bank = HypothesisBank(mayMove: true)
    bank.replace(with: seeds)
    return bank
  }

  private static func update(_ bank: inout HypothesisBank, range: Double) {
    var measurements = Measurements()
    measurements[.range] = MeasuredValue(value: range, sigma: 0.1)
    var measurement = KernelMeasurement(
      measurements, antenna: .zero, rotation: .identity, variance: PerKind(repeating: 0.01),
      previous: PerKind(repeating: .nan), onset: PerKind { settings.faults.onset(of: $0) },
      rangeExcess: 1, lastingExcessVariance: 0.04, fieldOfViewRadians: 2)
    bank.update(&measurement)
  }

  @Test("the range of a wide hypothesis that moves is as likely as the filter of ranges says")
  func wideIsReweighed() {
    var bank = Self.bank([
      Self.seed(across: 0.1, weight: 0.5), Self.seed(across: 3, weight: 0.5, moves: true),
    ])
    Self.update(&bank, range: 5.05)
    let before = bank
    let range = Innovation(value: 0.05, variance: 0.012)
    bank.reweighMoving(by: range)
    let own = Innovation(
      value: before[.innovation(.range), 1], variance: before[.innovationVariance(.range), 1])
    #expect(own.variance > 0.1)
    let odds = before.movingShare / (1 - before.movingShare)
    let expected = odds * exp(range.logLikelihood - own.logLikelihood)
    #expect(abs(bank.movingShare / (1 - bank.movingShare) / expected - 1) < 1e-9)
    #expect(bank.movingShare > before.movingShare)
  }

  @Test("a narrow hypothesis, and one at rest, keep their likelihood", arguments: [true, false])
  func narrowIsLeft(moves: Bool) {
    var bank = Self.bank([
      Self.seed(across: 0.1, weight: 0.5),
      Self.seed(across: moves ? 0.1 : 3, weight: 0.5, moves: moves),
    ])
    Self.update(&bank, range: 5.05)
    let before = bank.weight(1)
    bank.reweighMoving(by: Innovation(value: 0.05, variance: 0.012))
    #expect(bank.weight(1) == before)
  }

  @Test("hypotheses at rest are replaced beside those that move, which stay as they are")
  func restingAreReplaced() {
    var bank = Self.bank([
      Self.seed(across: 0.1, weight: 0.6), Self.seed(across: 1, weight: 0.1, moves: true),
      Self.seed(across: 0.2, weight: 0.1), Self.seed(across: 2, weight: 0.2, moves: true),
    ])
    Self.update(&bank, range: 5.05)
    let before = (bank[.fault(.range), 1], bank[.fault(.range), 3])
    let ratio = bank.weight(3) / bank.weight(1)
    bank.replaceResting(with: [Self.seed(across: 0.3), Self.seed(across: 0.4)], share: 0.75)
    #expect(bank.count == 4 && abs(bank.movingShare - 0.25) < 1e-12)
    #expect(bank.moves(0) && bank.moves(1) && !bank.moves(2) && !bank.moves(3))
    #expect(abs(bank.weight(1) / bank.weight(0) - ratio) < 1e-9)
    #expect((bank[.fault(.range), 0], bank[.fault(.range), 1]) == before)
    #expect(abs(bank.weight(2) - 0.375) < 1e-12 && abs(bank.weight(3) - 0.375) < 1e-12)
  }

  @Test("shares too small for a double stay finite")
  func tinyShares() {
    var bank = Self.bank([
      Self.seed(across: 0.1, weight: 1), Self.seed(across: 1, weight: 1, moves: true),
      Self.seed(across: 2, weight: 1, moves: true),
    ])
    for index in 1...2 { bank[.logWeight, index] = -900 - Double(index) }
    bank.replaceResting(with: [Self.seed(across: 0.3)], share: 0.75)
    #expect(abs(bank.movingShare - 0.25) < 1e-12)
    #expect(abs(bank.weight(0) / bank.weight(1) - exp(1)) < 1e-9)
  }

  @Test("without one that moves, those at rest have the whole share")
  func restingAlone() {
    var bank = Self.bank([Self.seed(across: 0.1)])
    bank.replaceResting(with: [Self.seed(across: 0.3), Self.seed(across: 0.4)], share: 0.75)
    #expect(bank.count == 2 && !bank.hasMoving && abs(bank.weight(0) - 0.5) < 1e-12)
  }

  @Test(
    "a peer that walks is not taken for one at rest",
    .enabled(if: BuildMode.isOptimized),
    arguments: [("walker-angles", 1), ("walker-ranges", 1), ("walkers-circling", 1)])
  func walkersAreNotAtRest(name: String, most: Int) async throws {
    let scenario = try #require(Scenario.preset(named: name))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<40)
    #expect(report.falseConvergences.count <= most, "\(report), seeds \(report.falseConvergences)")
  }

  @Test(
    "a peer that stops for some seconds and walks on is not claimed where it is no more",
    .enabled(if: BuildMode.isOptimized),
    arguments: [ScenarioMotion.Kind.wanderingWalk, .standingStill], [1.0, 2, 3, 4])
  func stops(device: ScenarioMotion.Kind, seconds: Double) throws {
    var scenario = try #require(Scenario.preset(named: "peer-stops"))
    scenario.motion = device
    scenario.peer.restSeconds = seconds...seconds
    var wrong: [UInt64: Double] = [:]
    for seed in 0..<24 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      var engine = try FusionEngine(scenario.matchingConfiguration)
      let peer = engine.addPeer(scenario.peerMotion)
      run.feed(&engine, as: peer) { index, _, engine in
        let sample = run.samples[index]
        guard sample.peerVelocityInOdometry.length > 0.1,
          let place = engine.estimate(of: peer).worldTransform.value?.translation
        else { return }
        let error = (place - sample.peerInOdometry).length
        if error > 1 { wrong[seed] = max(wrong[seed] ?? 0, error) }
      }
    }
    #expect(wrong.isEmpty)
  }
}
