// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyEvaluation

@Suite("Recovery")
struct RecoveryTests {
  private static let event = RunEvent(span: 10...12, formerPlace: .zero)
  private static let wrong = Vector3(2, 0, 0)

  /// Moments a second apart, from 8 s on.
  ///
  /// `c` is converged and right, `f` falsely converged, `n` not converged. From
  /// 11 s on samples contradict.
  private func record(_ states: String, event: RunEvent? = event) -> RunRecord {
    let moments = states.enumerated().map { index, state in
      Moment.at(
        Double(8 + index), isConverged: state != "n", error: state == "f" ? Self.wrong : .zero,
        contradicts: index >= 3)
    }
    return RunRecord.of(moments, event: event)
  }

  @Test("from the contradiction to the withdrawal, from the end of the event to convergence")
  func timeline() throws {
    //  8  9 10 11 12 13 14 15 16
    //  c  c  f  f  f  n  n  c  c
    let record = record("ccfffnncc")
    let recovery = try #require(record.recovery)
    #expect(recovery.contradictionSeconds == 11)
    #expect(recovery.settledSeconds == 12)
    // The false convergence at 10 s does not count, that from 11 to 13 s does.
    #expect(recovery.withdrawalSeconds == 2)
    #expect(recovery.regainedSeconds == 3)
    // False convergences within 2 s of the contradiction are excused.
    #expect(record.falseSamples == 0)
    // The claims are those at 8, 9, 15 and 16 s.
    #expect(record.converged.squaredError.count == 4)
  }

  @Test("a false convergence that lasts longer counts, and so does one that comes later")
  func slow() throws {
    //  8  9 10 11 12 13 14 15 16 17
    //  c  c  c  f  f  f  f  n  c  f
    let record = record("cccffffncf")
    #expect(record.recovery?.withdrawalSeconds == 4)
    // At 14 and at 17 s.
    #expect(record.falseSamples == 2)
    #expect(ConsistencyReport(records: [record]).slowWithdrawals == [0])
  }

  @Test("an engine that is never wrong has nothing to regain")
  func unimpressed() {
    #expect(record("cccccccccccc").recovery?.regainedSeconds == 0)
  }

  @Test("who never converges again has not regained")
  func neverAgain() {
    let recovery = record("ccnnnnnnnn").recovery
    #expect(recovery?.regainedSeconds == nil)
    #expect(recovery?.isUnderWay == true)
  }

  @Test("what goes wrong long after the event is a false convergence, not a matter of the event")
  func later() {
    let record = record("ccccccccccccff")
    #expect(record.recovery?.regainedSeconds == 0)
    #expect(record.falseSamples == 2)
  }

  @Test("regained late against a fresh start")
  func ratio() throws {
    var record = record("ccfffnncc")
    record.recovery?.freshStartSeconds = 1.9
    // (3 + 0.1) / (1.9 + 0.1).
    let ratio = try #require(ConsistencyReport(records: [record]).regainRatios.first)
    #expect(abs(ratio - 1.55) < 1e-12)
  }

  // MARK: - Contradiction

  /// A sample from the origin to a peer at (0, 0, -4) that measures the given components.
  private func sample(
    range: Bool, azimuth: Bool, isFaulty: Bool = false, seconds: Double = 11
  ) -> SimulatedRun.Sample {
    var scenario = Scenario(.standingStill)
    scenario.radio.antennaInDevice = .zero
    var sample = scenario.simulated(seed: 0).samples[0]
    sample.seconds = seconds
    sample.distance = range ? 4 : nil
    sample.azimuthRadians = azimuth ? 0 : nil
    sample.elevationRadians = nil
    sample.isRangeFaulty = isFaulty
    sample.isAzimuthFaulty = isFaulty
    sample.odometryFromDevice = .identity
    sample.peerInOdometry = Vector3(0, 0, -4)
    return sample
  }

  /// Range: 3.4 · 0.1 m; azimuth: 3.4 · √(3² + 2²) = 12.26 degrees, at 4 m 0.869 m.
  @Test(
    "a component contradicts when it would be off by 3.4 sigma",
    arguments: [
      (Vector3(0, 0, -4.33), true, false, false), (Vector3(0, 0, -4.35), true, false, true),
      (Vector3(0, 0, -4.35), false, true, false), (Vector3(0.86, 0, -4), false, true, false),
      (Vector3(0.88, 0, -4), false, true, true), (Vector3(0.88, 0, -4), true, false, false),
    ])
  func contradiction(former: Vector3, range: Bool, azimuth: Bool, isContradicted: Bool) {
    var scenario = Scenario(.standingStill)
    scenario.radio.antennaInDevice = .zero
    let event = RunEvent(span: 10...10, formerPlace: former)
    let inlier = sample(range: range, azimuth: azimuth)
    #expect(event.isContradicted(by: inlier, in: scenario) == isContradicted)
    let faulty = sample(range: range, azimuth: azimuth, isFaulty: true)
    #expect(!event.isContradicted(by: faulty, in: scenario))
    let early = sample(range: range, azimuth: azimuth, seconds: 9.9)
    #expect(!event.isContradicted(by: early, in: scenario))
  }

  /// 3.4 · √(0.1² + 0.5²) = 1.734 m.
  @Test(
    "a height difference contradicts when it would be off by 3.4 sigma",
    arguments: [(1.72, false), (1.75, true), (-1.75, true)])
  func contradictingHeight(height: Double, isContradicted: Bool) {
    var scenario = Scenario(.standingStill)
    scenario.radio.antennaInDevice = .zero
    let event = RunEvent(span: 10...10, formerPlace: Vector3(0, height, -4))
    var sample = sample(range: false, azimuth: false)
    #expect(!event.isContradicted(by: sample, in: scenario))
    sample.heightDifference = 0
    #expect(event.isContradicted(by: sample, in: scenario) == isContradicted)
    sample.isHeightDifferenceFaulty = true
    #expect(!event.isContradicted(by: sample, in: scenario))
  }

  @Test(
    "the events of scenarios",
    arguments: [
      "pose-jump", "tracking-lost", "peer-carried", "beacon-moved", "beacon-moved-unheard",
      "slip-turn-14", "slip-wheel", "kidnapped",
    ])
  func eventOfScenario(name: String) throws {
    let scenario = try #require(Scenario.preset(named: name))
    let event = try #require(RunEvent(of: scenario, in: scenario.simulated(seed: 1)))
    guard case .recovers(let after) = scenario.expectation else {
      Issue.record("\(name) recovers")
      return
    }
    #expect(event.span.upperBound == after)
    let find = Scenario(.sweepThenWalk)
    #expect(RunEvent(of: find, in: find.simulated(seed: 1)) == nil)
  }

  @Test("a peer handed over has one event, from the first walk to the end of the second")
  func handedOver() throws {
    let scenario = try #require(Scenario.preset(named: "peer-handed-over"))
    let run = scenario.simulated(seed: 1)
    let event = try #require(RunEvent(of: scenario, in: run))
    #expect(event.span.lowerBound == 20)
    #expect(event.span.upperBound == run.peers[0].path.walks[1].upperBound)
    #expect((33.0...34).contains(event.span.upperBound))
  }

  @Test("a slip's event lasts as long as the slip, and the former place is that before it")
  func slip() throws {
    var scenario = try #require(Scenario.preset(named: "slip-turn-14"))
    let run = scenario.simulated(seed: 1, peerCount: 2)
    for peer in run.peers.indices {
      let event = try #require(RunEvent(of: scenario, in: run, peer: peer))
      #expect(event.span == 30...34)
      let samples = run.samples.filter { $0.peer == peer }
      let before = try #require(samples.last { $0.seconds < 30 })
      #expect(event.formerPlace == before.peerInOdometry)
      #expect(!event.isContradicted(by: before, in: scenario))
      #expect(samples.contains { $0.seconds > 34 && event.isContradicted(by: $0, in: scenario) })
    }
    scenario.odometry.slip.turnDegrees = 0...0
    scenario.odometry.slip.shift = 0...0
    #expect(RunEvent(of: scenario, in: run) == nil)
  }

  @Test("walks and outings are no events", arguments: ["walker-angles", "peer-outings"])
  func noEvent(name: String) throws {
    let scenario = try #require(Scenario.preset(named: name))
    #expect(RunEvent(of: scenario, in: scenario.simulated(seed: 1)) == nil)
  }
}
