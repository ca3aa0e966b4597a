// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbySimulation
import NearbyTestSupport
import Testing

/// Scenarios of the proving ground in which the engine once was confidently wrong.
@Suite("Honesty: lost tracking, moving peers, bursts", .enabled(if: BuildMode.isOptimized))
struct ScenarioHonestyTests {
  @Test(
    "never converged and wrong",
    arguments: [
      // Found again in another world with no pose in between.
      ("tracking-lost", 40),
      // Nobody says that tracking was lost.
      ("poses-stop", 40),
      ("odometry-restarts", 40),
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
    #expect(report.falseConvergences.isEmpty, "\(report), seeds \(report.falseConvergences)")
  }

  @Test("25 m away: the claims are right although the shell is bent")
  func farAway() async throws {
    let scenario = try #require(Scenario.preset(named: "far"))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<40)
    let normalizedError = try #require(report.normalizedErrorSquared)
    #expect(normalizedError.value < SeedCount.normalizedErrorBand.upperBound, "\(report)")
    #expect(report.falseConvergences.count <= 1, "\(report), seeds \(report.falseConvergences)")
    #expect(report.convergedSeeds.count >= 38, "\(report)")
  }

  @Test(
    "runs that were wrong once are not again",
    arguments: [
      // Between two fits of a wide shell the filter gained information that is not there.
      ("far", 130), ("far", 182), ("far", 254),
      // A challenger took what it saw of a peer on its way for the place where it came to rest.
      ("peer-carried", 77),
    ] as [(String, UInt64)])
  func wrongOnce(name: String, seed: UInt64) async throws {
    let scenario = try #require(Scenario.preset(named: name))
    let report = try await ConsistencyRun(scenario).report(seeds: seed..<seed + 1)
    #expect(report.falseConvergences.isEmpty, "\(report)")
  }

  @Test(
    "a peer that is carried is hardly ever claimed where it does not rest",
    arguments: [("peer-carried", 1), ("peer-handed-over", 1)])
  func carried(name: String, most: Int) async throws {
    let scenario = try #require(Scenario.preset(named: name))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<100)
    #expect(report.falseConvergences.count <= most, "\(report)")
  }

  @Test("azimuths wrong by a constant are not taken for noise")
  func constantAngleErrors() async throws {
    // White noise of 3 degrees under errors of 6 that hardly change: an engine that takes all of them
    // for noise expects innovations much larger than they are.
    let scenario = try #require(Scenario.preset(named: "indoor"))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<40)
    let azimuth = try #require(report.normalizedInnovationSquared.azimuth)
    #expect(azimuth.value > 0.7, "\(report)")
  }

  @Test("a peer of unknown motion that rests is found as one that is known to rest")
  func restingIsFound() async throws {
    let scenario = try #require(Scenario.preset(named: "peer-still-unknown"))
    let report = try await ConsistencyRun(scenario).report(seeds: 0..<24)
    #expect(report.convergedSeeds.count == 24, "\(report)")
  }
}
