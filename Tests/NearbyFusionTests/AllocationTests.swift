// SPDX-License-Identifier: Apache-2.0
import CAllocationCounter
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

/// In debug builds the compiler allocates everywhere.
private let isOptimized: Bool = {
  #if DEBUG
    false
  #else
    true
  #endif
}()

@Suite("Allocations", .enabled(if: isOptimized, "needs an optimised build"))
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

  @Test("with one hypothesis left, poses, samples and estimates allocate nothing")
  func convergedPath() throws {
    let scenario = Scenario(.wanderingWalk)
    let run = scenario.simulated(seed: 1)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    let samples = run.samples.indices.map { run.rangingSample($0, of: peer) }
    var allocations: Int64 = 0
    var counted = 0
    var sum = 0.0
    for event in run.events {
      let isCounted = engine.estimate(of: peer).hypothesisCount == 1
      let before = allocation_count()
      switch event {
      case .pose(let index):
        engine.add(run.poses[index])
        sum += engine.estimate(of: peer, at: run.poses[index].timestamp).distance.sigma
      case .sample(let index):
        engine.add(samples[index])
        sum += engine.estimate(of: peer).progress.totalSigma
      }
      let after = allocation_count()
      if isCounted {
        allocations += after - before
        counted += 1
      }
    }
    #expect(sum > 0)
    #expect(counted > 1000, "only \(counted) events with one hypothesis")
    #expect(allocations == 0, "\(allocations) allocations in \(counted) events")
  }
}
