// SPDX-License-Identifier: Apache-2.0
import CAllocationCounter
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// In unoptimised builds the compiler allocates everywhere.
@Suite("Allocations", .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
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

  @Test("once converged on one hypothesis, poses, samples and estimates allocate nothing")
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
    var isSettled = false
    for event in run.events {
      let isPose: Bool
      let time: Timestamp
      let start = allocation_count()
      switch event {
      case .pose(let index):
        isPose = true
        time = run.poses[index].timestamp
        engine.add(run.poses[index])
      case .sample(let index):
        isPose = false
        time = samples[index].timestamp
        engine.add(samples[index])
      case .tracking: continue
      }
      let added = allocation_count()
      let estimate = engine.estimate(of: peer)
      let estimated = allocation_count()
      sum += engine.estimate(of: peer, at: time).progress.parallaxRadians
      let predicted = allocation_count()
      if isSettled {
        allocations[isPose ? 0 : 1] += added - start
        allocations[2] += estimated - added
        allocations[3] += predicted - estimated
        counted += 1
      }
      // Before the walk has left one height, the joint fit collects what it needs.
      isSettled =
        estimate.hypothesisCount == 1 && !estimate.isSearching
        && estimate.convergence == .converged
    }
    #expect(sum > 0)
    #expect(counted > 1000, "only \(counted) events with one hypothesis")
    #expect(
      allocations == [0, 0, 0, 0],
      "poses, samples, estimates, predicted estimates in \(counted) events")
  }
  @Test("peers that are fitted together: a fit allocates only for more than was ever fitted before")
  func jointFit() throws {
    let scenario = Scenario(.wanderingWalk)
    let run = scenario.simulated(seed: 2, peerCount: 6)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peers = run.peers.map { _ in engine.addPeer() }
    let end = run.samples.map(\.seconds).max() ?? 0
    var (allocations, counted) = (Int64(0), 0)
    for event in run.events {
      let start = allocation_count()
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .sample(let index):
        engine.add(run.rangingSample(index, of: peers[run.samples[index].peer]))
        guard run.samples[index].seconds > 0.75 * end else { continue }
        allocations += allocation_count() - start
        counted += 1
      case .tracking: continue
      }
    }
    #expect(engine.mapAlignment != nil, "there was no joint fit")
    #expect(counted > 500, "only \(counted) samples")
    // Where the walk is longer than ever, some arrays grow.
    #expect(allocations < 40, "\(allocations) allocations in \(counted) samples")
  }
}
