// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

@Suite("Review of slips")
struct SlipReviewTests {
  private func device(_ seconds: Double) -> TrajectoryPoint {
    var point = TrajectoryPoint.nowhere
    point.timestamp = Timestamp(nanoseconds: Int64(seconds * 1e9))
    return point
  }

  @Test("a slip is undecided until its neighbours are ruled out, or the fit has taken it back")
  func decision() {
    var review = SlipReview()
    _ = review.note(
      since: device(10).timestamp, until: device(11).timestamp, foundAt: device(12))
    #expect(review.isUndecided(at: device(20).timestamp))
    for number in 0..<SlipReview.rivalCount { review.rivals[number] = 10 }
    #expect(!review.isUndecided(at: device(20).timestamp))
    review.rivals[2] = 1
    #expect(review.isUndecided(at: device(20).timestamp))
    review.end()
    #expect(!review.isUndecided(at: device(20).timestamp))
    // It may still go on shortly after.
    #expect(review.isUndecided(at: device(14).timestamp))
  }

  @Test(
    "peers are claimed again after a slip that the fit has taken back",
    arguments: [8, 12] as [UInt64])
  func claimedAgain(seed: UInt64) throws {
    let scenario = try #require(Scenario.preset(named: "slip-small"))
    let run = scenario.simulated(seed: seed)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peers = run.peers.map { _ in engine.addPeer() }
    var (count, converged) = (0, 0)
    run.feed(&engine, as: peers) { index, _, engine in
      count += 1
      if engine.estimate(of: peers[run.samples[index].peer]).convergence == .converged {
        converged += 1
      }
    }
    // 0.43 while it stayed undecided for 40 s.
    #expect(Double(converged) > 0.7 * Double(count), "\(converged) of \(count)")
  }
}
