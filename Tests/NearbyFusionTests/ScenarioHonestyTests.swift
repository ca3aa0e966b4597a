// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbySimulation
import Testing

/// Scenarios of the proving ground in which the engine once was confidently wrong.
@Suite("Honesty: lost tracking, moving peers, bursts", .enabled(if: SeedCount.isOptimized))
struct ScenarioHonestyTests {
  @Test(
    "hardly ever converged and wrong",
    arguments: [
      // Found again in another world with no pose in between.
      ("tracking-lost", 40),
      // The peer walks all the time, in and out of the cone in which there are angles.
      ("peer-moving", 24),
      // Nobody says that the peer rests.
      ("peer-still-unknown", 24),
      // Bursts of long ranges, and nothing else.
      ("ranges-nlos-20", 40),
    ])
  func honest(name: String, seeds: Int) async throws {
    let scenario = try #require(Scenario.preset(named: name))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<UInt64(seeds))
    #expect(report.falseConvergences.count <= SeedCount.fewFalse, "\(report)")
  }

  @Test("a peer of unknown motion that rests is found as one that is known to rest")
  func restingIsFound() async throws {
    let scenario = try #require(Scenario.preset(named: "peer-still-unknown"))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<24)
    #expect(report.convergedSeeds.count == 24, "\(report)")
  }
}
