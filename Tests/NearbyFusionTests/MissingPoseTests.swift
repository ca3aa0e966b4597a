// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Samples go on and poses do not: the distance follows the radio, and nothing else is claimed.
@Suite("Missing poses")
struct MissingPoseTests {
  static let stop = 25.0

  /// An engine that has followed a walk until poses stop, with a peer that has converged.
  private struct Fixture {
    var engine: FusionEngine
    let peer: PeerID
    let run: SimulatedRun
    /// The events that come after the last pose.
    let rest: ArraySlice<SimulatedRun.Event>

    init(_ change: (inout Scenario) -> Void = { _ in }) throws {
      var scenario = Scenario(.wanderingWalk)
      scenario.duration = 60
      scenario.odometry.loss.seconds = MissingPoseTests.stop
      scenario.odometry.loss.duration = 10
      scenario.odometry.loss.isAnnounced = false
      change(&scenario)
      let run = scenario.simulated(seed: 3)
      engine = try FusionEngine(scenario.matchingConfiguration)
      peer = engine.addPeer()
      var next = 0
      for event in run.events {
        if case .sample(let index) = event,
          run.samples[index].seconds > min(MissingPoseTests.stop, scenario.odometry.loss.seconds)
        {
          break
        }
        next += 1
        Self.feed(event, of: run, to: &engine, as: peer)
      }
      self.run = run
      rest = run.events[next...]
    }

    @discardableResult
    static func feed(
      _ event: SimulatedRun.Event, of run: SimulatedRun, to engine: inout FusionEngine,
      as peer: PeerID
    ) -> SampleReport? {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index): return engine.add(run.rangingSample(index, of: peer))
      }
      return nil
    }

    /// Feeds the rest, and hands on each sample with the estimate after it.
    mutating func feedRest(
      _ consume: (SimulatedRun.Sample, SampleReport, PeerEstimate) -> Void
    ) {
      for event in rest {
        guard let report = Self.feed(event, of: run, to: &engine, as: peer),
          case .sample(let index) = event
        else { continue }
        consume(run.samples[index], report, engine.estimate(of: peer, at: report.timestamp))
      }
    }
  }

  private static func isLackOfPoses(_ convergence: Convergence) -> Bool {
    guard case .notConverged(let reasons) = convergence else { return false }
    return reasons.contains(.limitedTracking)
      && !reasons.contains(.insufficientSignalStrength)
  }

  @Test(
    "carried away for six minutes without poses: only the distance is published, and it is right")
  func carriedAway() throws {
    var fixture = try Fixture()
    #expect(fixture.engine.estimate(of: fixture.peer).convergence == .converged)
    let start = try #require(fixture.engine.estimate(of: fixture.peer).distance.value)
    var generator = SeededGenerator(seed: 1)
    for step in 1...3760 {
      let seconds = Double(step) / 10
      // Away at 1 m/s, and back and forth by a metre from then on.
      let truth = min(start + seconds, 11.3) + 0.5 * max(0, seconds - 20).remainder(dividingBy: 2)
      let time = SimulatedRun.timestamp(at: Self.stop + seconds)
      fixture.engine.add(
        RangingSample(
          peer: fixture.peer, timestamp: time, distance: truth + generator.normal(sigma: 0.1)))
      for estimate in [
        fixture.engine.estimate(of: fixture.peer, at: time),
        fixture.engine.estimate(of: fixture.peer),
      ] {
        let distance = try #require(estimate.distance.value, "after \(seconds) s")
        #expect(abs(distance - truth) < 4 * estimate.distance.sigma, "after \(seconds) s")
        guard seconds > 1.05 else { continue }
        #expect(Self.isLackOfPoses(estimate.convergence), "after \(seconds) s")
        #expect(estimate.worldTransform.value == nil)
        #expect(estimate.direction.value == nil)
        #expect(estimate.horizontalAngleRadians.value == nil)
        if seconds > 30 { #expect(estimate.verticalDirection == .unknown) }
      }
    }
  }

  @Test("until the device may have turned away, the angle is published, and less surely")
  func shortSilence() throws {
    let fixture = try Fixture()
    let now = SimulatedRun.timestamp(at: Self.stop)
    let before = fixture.engine.estimate(of: fixture.peer, at: now.advanced(bySeconds: -0.02))
    let after = fixture.engine.estimate(of: fixture.peer, at: now.advanced(bySeconds: 0.3))
    #expect(after.convergence == .converged)
    #expect(after.horizontalAngleRadians.value != nil)
    #expect(after.horizontalAngleRadians.sigma > 2 * before.horizontalAngleRadians.sigma)
    #expect(after.distance.sigma > before.distance.sigma)
    let late = fixture.engine.estimate(of: fixture.peer, at: now.advanced(bySeconds: 1.2))
    #expect(Self.isLackOfPoses(late.convergence))
    #expect(late.horizontalAngleRadians.value == nil)
    // The place in the odometry's world is what it was; the device is what moves.
    #expect(late.positionInWorld == after.positionInWorld)
  }

  @Test(
    "poses come back, in the same world or in another: convergence is confirmed first, and is right",
    arguments: [false, true])
  func resumption(inAnotherWorld: Bool) throws {
    var fixture = try Fixture {
      $0.duration = 90
      if inAnotherWorld {
        $0.odometry.loss.displacement = Vector3(3, 0, -2)
        $0.odometry.loss.turnDegrees = 40
      }
    }
    var regained: Double?
    fixture.feedRest { sample, report, estimate in
      let isConverged = estimate.convergence == .converged
      switch sample.seconds {
      case ..<(Self.stop + 1.1): break
      case ..<36: #expect(!isConverged, "at \(sample.seconds) s")
      default: if isConverged { regained = regained ?? sample.seconds }
      }
      guard isConverged, sample.seconds > 36 else { return }
      let error = ((estimate.positionInWorld ?? .zero) - sample.peerInOdometry).length
      #expect(error < max(0.5, 3.4 * estimate.covarianceInWorld.trace.squareRoot()))
    }
    let seconds = try #require(regained)
    #expect(seconds < (inAnotherWorld ? 60 : 37))
  }

  @Test("a late sample from before the outage does not confirm the poses after it")
  func lateSample() throws {
    var fixture = try Fixture()
    for pose in fixture.run.poses where pose.timestamp >= SimulatedRun.timestamp(at: 35) {
      fixture.engine.add(pose)
    }
    for seconds in [24.96, 24.97, 24.98] {
      fixture.engine.add(
        RangingSample(
          peer: fixture.peer, timestamp: SimulatedRun.timestamp(at: seconds),
          distance: fixture.engine.estimate(of: fixture.peer).distance.value))
      let estimate = fixture.engine.estimate(
        of: fixture.peer, at: SimulatedRun.timestamp(at: 40))
      #expect(Self.isLackOfPoses(estimate.convergence))
    }
  }

  @Test("lost tracking is no different: the distance follows the radio while it lasts")
  func lostTracking() throws {
    var fixture = try Fixture { $0.odometry.loss.isAnnounced = true }
    var distances = 0
    fixture.feedRest { sample, report, estimate in
      guard (26.5..<35).contains(sample.seconds) else { return }
      #expect(Self.isLackOfPoses(estimate.convergence), "at \(sample.seconds) s")
      let truth = (sample.peerInOdometry - sample.odometryFromDevice.translation).length
      guard let distance = estimate.distance.value else { return }
      distances += 1
      #expect(abs(distance - truth) < 4 * estimate.distance.sigma, "at \(sample.seconds) s")
    }
    #expect(distances > 80)
  }

  @Test("without any pose ever, the distance is published and poses are asked for")
  func noPoseEver() throws {
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    for step in 0..<50 {
      let time = SimulatedRun.timestamp(at: Double(step) / 10)
      #expect(engine.add(RangingSample(peer: peer, timestamp: time, distance: 4)).use == .rejected)
      for estimate in [engine.estimate(of: peer, at: time), engine.estimate(of: peer)] {
        #expect(estimate.convergence == .notConverged(.limitedTracking))
        let distance = try #require(estimate.distance.value)
        #expect(abs(distance - 4) < 0.01)
        #expect(estimate.positionInWorld == nil)
      }
    }
  }

  @Test("odometry of one pose a second is no outage")
  func slowOdometry() throws {
    var fixture = try Fixture {
      $0.odometry.rate = 0.95
      $0.odometry.loss.duration = 0
      $0.odometry.loss.seconds = 60
    }
    var converged = 0
    var last = false
    fixture.feedRest { sample, _, estimate in
      last = estimate.convergence == .converged
      if last { converged += 1 } else { #expect(converged == 0, "lost at \(sample.seconds) s") }
    }
    #expect(last)
  }

  @Test("a range that is a fault does not become the distance")
  func faultyRangeWithoutPose() throws {
    var fixture = try Fixture()
    let before = try #require(fixture.engine.estimate(of: fixture.peer).distance.value)
    let time = SimulatedRun.timestamp(at: Self.stop + 0.5)
    fixture.engine.add(RangingSample(peer: fixture.peer, timestamp: time, distance: before + 7))
    let estimate = fixture.engine.estimate(of: fixture.peer, at: time)
    #expect(estimate.distance.value.map { abs($0 - before) < 1 } ?? true)
    for distance in [Double.nan, -1, 0, 1e9] {
      fixture.engine.add(
        RangingSample(
          peer: fixture.peer, timestamp: time.advanced(bySeconds: 0.1), distance: distance))
    }
    let after = fixture.engine.estimate(of: fixture.peer, at: time.advanced(bySeconds: 0.1))
    #expect(after.distance.value.map { abs($0 - before) < 1 } ?? true)
  }
}
