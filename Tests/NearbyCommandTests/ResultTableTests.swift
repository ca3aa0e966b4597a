// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@testable import nearby

@Suite("Advice after a run")
struct ResultTableTests {
  /// The text for a peer that has not converged at the end.
  private func text(sigma: Double, _ reason: String) throws -> String {
    var summary = try filled(RunSummary.self)
    var peer = PeerSummary(id: "keys", motion: .stationary)
    peer.status = .notConverged
    peer.reasons = [reason]
    peer.samples = 1000
    peer.distance = 4
    let variance = sigma * sigma / 3
    peer.covarianceInWorld = SymmetricMatrix3(
      xx: variance, xy: 0, xz: 0, yy: variance, yz: 0, zz: variance)
    summary.peers = [peer]
    summary.engine.settings = FusionConfiguration()
    return ResultTable(summary: summary).text
  }

  @Test(
    "a place that is known closely is not said to be unknown",
    arguments: [
      "insufficientMovement", "insufficientHorizontalSweep", "insufficientVerticalSweep",
    ])
  func narrow(reason: String) throws {
    let narrow = try text(sigma: 0.12, reason)
    #expect(narrow.contains("keys: it may still be at another"))
    #expect(!narrow.contains("not resolved") && !narrow.contains("hardly moved"))
    #expect(!(try text(sigma: 3, reason).contains("may still be")))
  }

  @Test("a peer with samples is not said to have none that can be used")
  func lostAtTheEnd() throws {
    let text = try text(sigma: 0.12, "insufficientSignalStrength")
    #expect(text.contains("keys: its last samples could not be used, or none came: come closer"))
  }
}
