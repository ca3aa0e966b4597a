// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// The locator of range differences against its bound; `nearby prove --downlink` does the same with more
/// seeds.
@Suite("Downlink proof")
struct DownlinkProofTests {
  /// With 10 seeds the ratio of an efficient estimator strays by about a tenth, NEES/3 by a sixth.
  ///
  /// Obstructed ranges can look like a displaced anchor, so that one in ten surveys is not believed.
  @Test(arguments: [("downlink", 0.98), ("downlink-nlos", 0.89), ("downlink-synchronized", 0.98)])
  func theLocatorIsEfficientAndConsistent(_ name: String, claimedShare: Double) async throws {
    let scenario = try #require(DownlinkScenario.presets.first { $0.name == name })
    let figures = try await DownlinkProof(seeds: 0..<10).figures(of: scenario)
    #expect(figures.runs == 10)
    #expect(figures.claimedShare > claimedShare)
    #expect((0.7...1.3).contains(figures.ratio))
    #expect((0.55...1.5).contains(figures.consistency))
    #expect(figures.wrongRuns == 0)
    #expect(figures.secondsToFix < 20)
  }

  /// A locator that is told half of the noise is caught.
  @Test func anOverconfidentLocatorMissesItsGoals() async throws {
    let scenario = try #require(
      DownlinkScenario.presets.first { $0.name == "downlink-synchronized" })
    var proof = DownlinkProof(seeds: 0..<4)
    proof.change = { $0.ranging.rangeSigma /= 2 }
    let figures = try await proof.figures(of: scenario)
    #expect(figures.consistency > 1.25)
    #expect(figures.misses.contains { $0.hasPrefix("NEES") })
  }

  /// One round of a device at rest with clocks that are right: the bound is that of plain geometry.
  @Test func theBoundOfOneRoundIsThatOfItsGeometry() throws {
    var scenario = DownlinkScenario(name: "test", summary: "")
    scenario.clocks = AnchorClocks(offsetSigma: 0, rateSigma: 0, rateWalk: 0)
    scenario.walk.radio.antennaInDevice = .zero
    scenario.anchors = [Vector3(1, 0, 0), Vector3(-1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)]
    var bound = DownlinkBound(scenario)
    bound.add(
      DownlinkRun.Round(
        timestamp: Timestamp(nanoseconds: 0), siteFromDevice: .identity, clockErrors: []),
      anchors: scenario.anchors)
    // Rows of H: (2, 0, 0), (1, -1, 0), (1, 0, -1); the inverse of HᵀH by hand.
    let variance = scenario.noise * scenario.noise
    #expect(abs(bound.place.xx - 0.25 * variance) < 1e-6)
    #expect(abs(bound.place.yy - 1.25 * variance) < 1e-6)
    #expect(abs(bound.place.xy - 0.25 * variance) < 1e-6)
  }
}
