// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// A declared motion that changes on the way: it acts with the next sample, and loses nothing.
@Suite("Change of motion")
struct MotionChangeTests {
  private static let changeAt = 15.0

  /// Engines that are told another motion at ``changeAt`` or not, sample by sample.
  private func estimates(
    from motion: PeerMotion, to other: PeerMotion?, seed: UInt64, at change: Double = changeAt
  ) throws -> [(seconds: Double, estimate: PeerEstimate, truth: Vector3)] {
    let scenario = Scenario(.sweepThenWalk)
    let run = scenario.simulated(seed: seed)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer(motion)
    var result: [(seconds: Double, estimate: PeerEstimate, truth: Vector3)] = []
    for event in run.events {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index):
        let sample = run.samples[index]
        if let other, sample.seconds >= change { engine.setMotion(other, of: peer) }
        engine.add(run.rangingSample(index, of: peer))
        result.append((sample.seconds, engine.estimate(of: peer), sample.peerInOdometry))
      }
    }
    return result
  }

  private static let changes: [(PeerMotion, PeerMotion)] = [
    (.stationary, .unknown), (.stationary, .moving), (.unknown, .stationary), (.unknown, .moving),
    (.moving, .unknown), (.moving, .stationary),
  ]

  @Test("the next estimate differs, and the place stays", arguments: changes)
  func actsAtOnce(from: PeerMotion, to: PeerMotion) throws {
    for seed in 0..<6 as Range<UInt64> {
      let with = try estimates(from: from, to: to, seed: seed)
      let without = try estimates(from: from, to: nil, seed: seed)
      let next = try #require(with.firstIndex { $0.seconds >= Self.changeAt })
      #expect(with[next - 1].estimate == without[next - 1].estimate)
      #expect(with[next].estimate != without[next].estimate)
      // Of a peer that is found nothing is lost: the place is where it was.
      guard without[next - 1].estimate.convergence == .converged else { continue }
      let before = try #require(with[next - 1].estimate.positionInWorld)
      let after = try #require(with[next].estimate.positionInWorld)
      #expect((after - before).length < 0.3, "seed \(seed)")
      #expect(with[next].estimate.hypothesisCount <= 2)
    }
  }

  @Test("at whatever moment a resting peer's motion becomes unknown, it is found at rest")
  func changesDuringSearch() throws {
    var (converged, count) = (0, 0)
    for seed in 0..<6 as Range<UInt64> {
      let always = try #require(try estimates(from: .unknown, to: nil, seed: seed).last)
      guard always.estimate.convergence == .converged else { continue }
      for change in stride(from: 1.0, through: 10, by: 0.5) {
        let end = try #require(
          try estimates(from: .stationary, to: .unknown, seed: seed, at: change).last)
        count += 1
        if end.estimate.convergence == .converged { converged += 1 }
      }
    }
    #expect(count > 50)
    #expect(converged == count)
  }

  @Test("a peer at rest is found as well as if it had been told so from the start")
  func toldLater() throws {
    var errors = (later: 0.0, always: 0.0)
    for seed in 0..<12 as Range<UInt64> {
      let later = try #require(
        try estimates(from: .unknown, to: .stationary, seed: seed, at: 3).last)
      let always = try #require(try estimates(from: .stationary, to: nil, seed: seed).last)
      errors.later += (try #require(later.estimate.positionInWorld) - later.truth).length
      errors.always += (try #require(always.estimate.positionInWorld) - always.truth).length
    }
    #expect(errors.later < 1.15 * errors.always, "\(errors)")
  }
}
