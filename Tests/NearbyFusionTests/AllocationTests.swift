// SPDX-License-Identifier: Apache-2.0
import CAllocationCounter
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

/// In unoptimised builds the compiler allocates everywhere.
@Suite("Allocations", .enabled(if: SeedCount.isOptimized, "needs an optimised build"))
struct AllocationTests {
  @Test("the counter counts: one for each array")
  func counterCounts() {
    let before = allocation_count()
    var total = 0
    for size in 1...1000 {
      let array = [Int](repeating: size, count: size)
      total += withExtendedLifetime(array) { $0[size / 2] }
    }
    let counted = allocation_count() - before
    #expect(total == 500_500)
    #expect(counted == 1000)
  }

  @Test("once settled on one hypothesis, poses, samples and estimates allocate nothing")
  func convergedPath() throws {
    let scenario = Scenario(.wanderingWalk)
    let run = scenario.simulated(seed: 1)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    let samples = run.samples.indices.map { run.rangingSample($0, of: peer) }
    // For poses, samples, estimates at the last sample and at the newest pose.
    var allocations = [Int64](repeating: 0, count: 4)
    var counted = 0
    var sum = 0.0
    for event in run.events {
      let before = engine.estimate(of: peer)
      let isCounted = before.hypothesisCount == 1 && !before.isSearching
      let start = allocation_count()
      var isPose = false
      var time = engine.estimate(of: peer).timestamp
      switch event {
      case .pose(let index):
        isPose = true
        time = run.poses[index].timestamp
        engine.add(run.poses[index])
      case .sample(let index):
        engine.add(samples[index])
      }
      let added = allocation_count()
      sum += engine.estimate(of: peer).progress.totalSigma
      let estimated = allocation_count()
      sum += engine.estimate(of: peer, at: time).distance.sigma
      let predicted = allocation_count()
      if isCounted {
        allocations[isPose ? 0 : 1] += added - start
        allocations[2] += estimated - added
        allocations[3] += predicted - estimated
        counted += 1
      }
    }
    #expect(sum > 0)
    #expect(counted > 1000, "only \(counted) events with one hypothesis")
    #expect(
      allocations == [0, 0, 0, 0],
      "poses, samples, estimates, predicted estimates in \(counted) events")
  }
}
