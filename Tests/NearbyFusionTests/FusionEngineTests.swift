// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// The engine as a value: deterministic, copied freely, one trajectory for all peers.
@Suite("FusionEngine")
struct FusionEngineTests {
  private func final(_ scenario: Scenario, seed: UInt64) throws -> PeerEstimate {
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    scenario.simulated(seed: seed).feed(&engine, as: peer)
    return engine.estimate(of: peer)
  }

  @Test("in a planar world a peer moves in the plane", arguments: [true, false])
  func planarSpeed(isPlanar: Bool) {
    var configuration = FusionConfiguration()
    configuration.odometry.isPlanar = isPlanar
    let speeds = MotionModel(configuration).speedVariances
    #expect((speeds[1] == 0) == isPlanar)
    #expect(speeds[0] > 0 && speeds[0] == speeds[2])
  }

  @Test("before anything is known, nothing is claimed")
  func empty() throws {
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    let estimate = engine.estimate(of: peer)
    #expect(estimate.convergence == .unknown)
    #expect(estimate.positionInWorld == nil)
    #expect(estimate.distance.value == nil)
    #expect(estimate.distance.unavailability == .noData)
    #expect(estimate.direction.unavailability == .noData)
    #expect(estimate.worldTransform.unavailability == .noData)
    #expect(estimate.verticalDirection == .unknown)
    #expect(estimate.hypothesisCount == 0)
  }

  @Test("two runs are equal bit for bit", arguments: [true, false])
  func determinism(withAngles: Bool) throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.measuresAngles = withAngles
    scenario.radio.rangeFaults = .init(share: 0.1, persistence: 0.5)
    func reports() throws -> ([SampleReport], [PeerEstimate]) {
      var engine = try FusionEngine(scenario.matchingConfiguration)
      let peer = engine.addPeer()
      var reports: [SampleReport] = []
      var estimates: [PeerEstimate] = []
      scenario.simulated(seed: 5).feed(&engine, as: peer) { _, report, engine in
        reports.append(report)
        estimates.append(engine.estimate(of: peer))
      }
      return (reports, estimates)
    }
    let (first, second) = (try reports(), try reports())
    #expect(first.0 == second.0)
    #expect(first.1 == second.1)
    #expect(first.1.last?.positionInWorld != nil)
  }

  @Test("a copy goes its own way")
  func valueSemantics() throws {
    let scenario = Scenario(.wanderingWalk)
    let run = scenario.simulated(seed: 6)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    var copy: FusionEngine?
    var atCopy: PeerEstimate?
    for (place, event) in run.events.enumerated() {
      if place == run.events.count / 2 {
        copy = engine
        atCopy = engine.estimate(of: peer)
      }
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index): engine.add(run.rangingSample(index, of: peer))
      }
    }
    var kept = try #require(copy)
    let before = try #require(atCopy)
    #expect(kept.estimate(of: peer) == before)
    #expect(engine.estimate(of: peer) != before)
    // The copy, fed the rest, ends where the original did.
    for event in run.events[(run.events.count / 2)...] {
      switch event {
      case .pose(let index): kept.add(run.poses[index])
      case .tracking(let index): kept.add(run.tracking[index])
      case .sample(let index): kept.add(run.rangingSample(index, of: peer))
      }
    }
    #expect(kept.estimate(of: peer) == engine.estimate(of: peer))
  }

  @Test("without the joint fit peers share a trajectory and nothing else")
  func severalPeers() throws {
    let scenario = Scenario(.sweepThenWalk)
    var configuration = scenario.matchingConfiguration
    configuration.features.remove(.jointFit)
    let runs = (0..<3).map { scenario.simulated(seed: 7, peer: $0) }
    var shared = try FusionEngine(configuration)
    let peers = runs.map { _ in shared.addPeer() }
    #expect(Set(peers).count == 3)
    var merged: [(seconds: Double, peer: Int, sample: Int)] = []
    for (peer, run) in runs.enumerated() {
      for (sample, value) in run.samples.enumerated() {
        merged.append((value.seconds, peer, sample))
      }
    }
    merged.sort { ($0.seconds, $0.peer) < ($1.seconds, $1.peer) }
    var next = 0
    for (index, pose) in runs[0].poses.enumerated() {
      shared.add(pose)
      while next < merged.count, merged[next].seconds < Double(index) / 60 {
        let entry = merged[next]
        shared.add(runs[entry.peer].rangingSample(entry.sample, of: peers[entry.peer]))
        next += 1
      }
    }
    for (peer, run) in runs.enumerated() {
      var alone = try FusionEngine(configuration)
      let only = alone.addPeer()
      var fed = 0
      for (index, pose) in run.poses.enumerated() {
        alone.add(pose)
        while fed < run.samples.count, run.samples[fed].seconds < Double(index) / 60 {
          alone.add(run.rangingSample(fed, of: only))
          fed += 1
        }
      }
      let (a, b) = (alone.estimate(of: only), shared.estimate(of: peers[peer]))
      #expect(a.positionInWorld == b.positionInWorld)
      #expect(a.covarianceInWorld == b.covarianceInWorld)
      #expect(a.convergence == b.convergence)
    }
  }

  @Test(
    "samples half a second late, or out of order, give nearly the estimate of those in time",
    arguments: [0.5...0.5, 0.05...0.9], SeedCount.few)
  func lateSamples(latency: ClosedRange<Double>, seed: UInt64) throws {
    var scenario = Scenario(.sweepThenWalk)
    let inTime = try final(scenario, seed: seed)
    scenario.radio.latency = latency
    let late = try final(scenario, seed: seed)
    let a = try #require(inTime.positionInWorld)
    let b = try #require(late.positionInWorld)
    let sigma = inTime.covarianceInWorld.trace.squareRoot()
    // The drift since a late sample is noise on it, so that it weighs a little less.
    #expect((a - b).length < 0.75 * sigma, "\((a - b).length) m, sigma \(sigma) m")
    let ratio = late.covarianceInWorld.trace.squareRoot() / sigma
    #expect((0.8...1.25).contains(ratio))
  }

  @Test("an estimate at a later moment is seen from the device there")
  func estimateAtAnotherMoment() throws {
    let scenario = Scenario(.sweepThenWalk)
    let run = scenario.simulated(seed: 9)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    run.feed(&engine, as: peer)
    let pose = run.poses[run.poses.count - 1]
    let estimate = engine.estimate(of: peer, at: pose.timestamp)
    let mean = try #require(estimate.positionInWorld)
    let inDevice = pose.worldFromDevice.inverse.act(mean)
    #expect(estimate.timestamp == pose.timestamp)
    #expect(estimate.convergence == .converged)
    // The expected distance of an uncertain place is a little more than the place's distance.
    #expect(abs(try #require(estimate.distance.value) - inDevice.length) < 0.05)
    let direction = try #require(estimate.direction.value)
    #expect((direction - inDevice.normalized).length < 0.03)
    #expect(try #require(estimate.worldTransform.value).rotation == .identity)
    // Heading: the horizontal part of the back camera's axis; positive to the right.
    let ahead = pose.worldFromDevice.rotation.act(Vector3(0, 0, -1))
    let ray = mean - pose.worldFromDevice.translation
    let right = Vector3(-ahead.z, 0, ahead.x)
    let expected = ArrivalAngles(
      ofDirection: Vector3(right.dot(ray), 0, -(ahead.x * ray.x + ahead.z * ray.z)))
    let angle = try #require(estimate.horizontalAngleRadians.value)
    #expect(abs((angle - expected.azimuthRadians).wrappedAngle) < 0.03)
    #expect(abs(try #require(estimate.heightDifference.value) - ray.y) < 0.03)
  }

  @Test(
    "however large a share a hypothesis must have, one is left", arguments: PeerMotion.allCases,
    [1e-6, 1e-2])
  func pruningEverything(motion: PeerMotion, pruningWeight: Double) throws {
    var configuration = FusionConfiguration()
    configuration.hypotheses.pruningWeight = pruningWeight
    var engine = try FusionEngine(configuration)
    let peer = engine.addPeer(motion)
    // While the device stands, nothing is searched anew, and the first sphere's hypotheses are equals.
    for step in 0..<20 {
      let time = Timestamp(nanoseconds: Int64(step) * 100_000_000)
      engine.add(
        DevicePose(
          timestamp: time,
          worldFromDevice: RigidTransform(
            rotation: .identity, translation: Vector3(step < 10 ? 0 : 0.2 * Double(step), 0, 0))))
      engine.add(RangingSample(peer: peer, timestamp: time, distance: 5))
      let estimate = engine.estimate(of: peer)
      #expect(estimate.hypothesisCount >= 1, "sample \(step)")
      #expect(try #require(estimate.distance.value) > 4, "sample \(step)")
    }
  }

  @Test("a configuration that makes no sense is refused by name")
  func configuration() {
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = 0
    #expect(throws: FusionConfigurationError.self) { try FusionEngine(configuration) }
    configuration.ranging.rangeSigma = .nan
    let error = #expect(throws: FusionConfigurationError.self) { try FusionEngine(configuration) }
    #expect(error?.setting == "ranging.rangeSigma")
  }
}
