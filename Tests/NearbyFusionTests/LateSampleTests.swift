// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Samples that come too late to be used, and moments that are asked for too late.
@Suite("Late samples and past moments")
struct LateSampleTests {
  /// How often a peer loses convergence in a walk of which a share of the samples comes late.
  private static func losses(lateShare share: Double, by delay: Double, seed: UInt64) throws -> Int
  {
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = 60
    let run = scenario.simulated(seed: seed)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    var generator = SeededGenerator(seed: seed, stream: 99)
    var waiting: [RangingSample] = []
    var wasConverged = false
    var losses = 0
    for event in run.events {
      guard case .sample(let index) = event else {
        if case .pose(let index) = event { engine.add(run.poses[index]) }
        continue
      }
      let sample = run.rangingSample(index, of: peer)
      let now = sample.timestamp
      var due = waiting.filter { now.seconds(since: $0.timestamp) >= delay }
      waiting.removeFirst(due.count)
      if generator.uniform(in: 0...1) < share { waiting.append(sample) } else { due.append(sample) }
      for sample in due {
        engine.add(sample)
        let isConverged = engine.estimate(of: peer, at: now).convergence == .converged
        if wasConverged, !isConverged { losses += 1 }
        wasConverged = isConverged
      }
    }
    #expect(wasConverged)
    return losses
  }

  @Test(
    "samples that are too late take no convergence away", arguments: [1.1, 1.5, 10], [0.01, 0.1])
  func lateSamples(delay: Double, share: Double) throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let without = try Self.losses(lateShare: 0, by: delay, seed: seed)
      let with = try Self.losses(lateShare: share, by: delay, seed: seed)
      #expect(with <= without)
    }
  }

  /// An engine after a walk past a peer, and the true distances at its samples.
  private static func walked(
    _ motion: PeerMotion
  ) throws -> (engine: FusionEngine, peer: PeerID, run: SimulatedRun) {
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = 40
    let run = scenario.simulated(seed: 5)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer(motion)
    run.feed(&engine, as: peer)
    return (engine, peer, run)
  }

  @Test("the past is seen from where the device was, and not at all once that is forgotten")
  func pastMoments() throws {
    let (engine, peer, run) = try Self.walked(.stationary)
    let end = try #require(run.samples.last).timestamp
    var changes = 0.0
    var (seen, forgotten) = (0, 0)
    for sample in run.samples.suffix(60) {
      let estimate = engine.estimate(of: peer, at: sample.timestamp)
      #expect(estimate.timestamp == sample.timestamp)
      #expect(estimate.convergence == .converged)
      // The peer rests: its place is the same at any time.
      #expect(estimate.worldTransform.value != nil)
      let age = end.seconds(since: sample.timestamp)
      let truth = (sample.peerInOdometry - sample.odometryFromDevice.translation).length
      guard let distance = estimate.distance.value else {
        forgotten += 1
        #expect(age > 1)
        #expect(estimate.distance.unavailability == .noData)
        #expect(estimate.horizontalAngleRadians.unavailability == .noData)
        #expect(estimate.direction.unavailability == .noData)
        #expect(estimate.heightDifference.unavailability == .noData)
        continue
      }
      seen += 1
      changes = max(changes, abs(distance - truth))
      #expect(abs(distance - truth) < 4 * estimate.distance.sigma + 0.05)
    }
    #expect(seen > 9)
    #expect(forgotten > 10)
  }

  @Test("of a peer that moves only the distance of a past moment is told")
  func pastOfAMovingPeer() throws {
    let (engine, peer, run) = try Self.walked(.moving)
    let end = try #require(run.samples.last).timestamp
    for sample in run.samples.suffix(6).dropLast() {
      let estimate = engine.estimate(of: peer, at: sample.timestamp)
      let truth = (sample.peerInOdometry - sample.odometryFromDevice.translation).length
      let distance = try #require(estimate.distance.value)
      #expect(abs(distance - truth) < 4 * estimate.distance.sigma)
      #expect(estimate.horizontalAngleRadians.unavailability == .noData)
    }
    #expect(engine.estimate(of: peer, at: end).horizontalAngleRadians.unavailability != .noData)
  }
}
