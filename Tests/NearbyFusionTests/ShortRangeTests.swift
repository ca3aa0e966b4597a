// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Ranges that are far too short for the place that is published: no obstacle explains them.
@Suite("Short ranges")
struct ShortRangeTests {
  /// An engine that has followed a walk to the end, and the pose at which the device stays.
  private struct Fixture {
    var engine: FusionEngine
    let peer: PeerID
    var seconds: Double
    let pose: RigidTransform
    var generator = SeededGenerator(seed: 2)

    init(_ motion: PeerMotion, distance: Double) throws {
      var scenario = Scenario(.sweepThenWalk)
      scenario.peer.distance = distance...distance
      scenario.duration = 40
      let run = scenario.simulated(seed: 4)
      var engine = try FusionEngine(scenario.matchingConfiguration)
      peer = engine.addPeer(motion)
      run.feed(&engine, as: peer)
      self.engine = engine
      seconds = scenario.duration
      pose = try #require(run.poses.last).worldFromDevice
    }

    var now: Timestamp { SimulatedRun.timestamp(at: seconds) }

    /// Rests for a time, with poses and without samples.
    mutating func rest(for duration: Double) {
      for _ in 0..<Int(duration * 10) {
        seconds += 0.1
        engine.add(DevicePose(timestamp: now, worldFromDevice: pose))
      }
    }

    /// Adds a sample after a tenth of a second.
    mutating func measure(_ distance: Double) -> PeerEstimate {
      rest(for: 0.1)
      engine.add(
        RangingSample(
          peer: peer, timestamp: now, distance: distance + generator.normal(sigma: 0.1)))
      return engine.estimate(of: peer, at: now)
    }
  }

  @Test(
    "after a gap in which a moving peer may have gone anywhere, the first range is the distance",
    arguments: [PeerMotion.moving], [320.0, 100, 60])
  func afterGap(motion: PeerMotion, gap: Double) throws {
    var fixture = try Fixture(motion, distance: 25)
    fixture.rest(for: gap)
    #expect(fixture.engine.estimate(of: fixture.peer, at: fixture.now).distance.value == nil)
    for _ in 0..<3 {
      let estimate = fixture.measure(4)
      let distance = try #require(estimate.distance.value)
      #expect(abs(distance - 4) < 4 * estimate.distance.sigma + 0.2)
      #expect(estimate.convergence != .converged)
    }
  }

  @Test(
    "three ranges in a row that are far too short are the distance, and convergence is lost",
    arguments: [PeerMotion.stationary, .unknown])
  func nearer(motion: PeerMotion) throws {
    var fixture = try Fixture(motion, distance: 12)
    let before = fixture.engine.estimate(of: fixture.peer, at: fixture.now)
    #expect(before.convergence == .converged)
    var estimate = before
    for _ in 0..<3 { estimate = fixture.measure(3) }
    for _ in 0..<10 {
      let distance = try #require(estimate.distance.value)
      #expect(abs(distance - 3) < 4 * estimate.distance.sigma)
      #expect(estimate.convergence != .converged)
      estimate = fixture.measure(3)
    }
  }

  @Test("ranges that are too long are obstructed: the place holds")
  func obstructed() throws {
    var fixture = try Fixture(.stationary, distance: 6)
    let before = fixture.engine.estimate(of: fixture.peer, at: fixture.now)
    let known = try #require(before.distance.value)
    for _ in 0..<6 {
      let estimate = fixture.measure(known + 4)
      let distance = try #require(estimate.distance.value)
      #expect(abs(distance - known) < 0.5)
    }
  }

  @Test("two short ranges are faults")
  func twoAreFaults() throws {
    var fixture = try Fixture(.stationary, distance: 6)
    let before = fixture.engine.estimate(of: fixture.peer, at: fixture.now)
    let known = try #require(before.distance.value)
    for _ in 0..<2 {
      let estimate = fixture.measure(known - 4)
      #expect(estimate.convergence == .converged)
      let distance = try #require(estimate.distance.value)
      #expect(abs(distance - known) < 0.5)
    }
    #expect(fixture.measure(known).convergence == .converged)
  }
}
