// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Every way in which a pose or a part of a sample is refused, and that a refusal leaves no trace.
@Suite("Engine input")
struct EngineInputTests {
  /// An engine that has followed a walk for 5 s, with a peer that has had samples until 4.9 s.
  private struct Fixture {
    var engine: FusionEngine
    let peer: PeerID
    let run: SimulatedRun

    init() throws {
      let scenario = Scenario(.wanderingWalk)
      run = scenario.simulated(seed: 3)
      engine = try FusionEngine(scenario.matchingConfiguration)
      peer = engine.addPeer()
      for event in run.events {
        switch event {
        case .pose(let index) where run.poses[index].timestamp <= Self.time(5):
          engine.add(run.poses[index])
        case .sample(let index) where run.samples[index].timestamp <= Self.time(4.9):
          engine.add(run.rangingSample(index, of: peer))
        default: continue
        }
      }
    }

    static func time(_ seconds: Double) -> Timestamp {
      Timestamp(nanoseconds: 1_000_000_000_000).advanced(bySeconds: seconds)
    }

    /// A plausible sample at 4.95 s.
    var sample: RangingSample {
      RangingSample(
        peer: peer, timestamp: Self.time(4.95), distance: run.samples[48].distance,
        azimuthRadians: 0.1, elevationRadians: -0.1)
    }
  }

  // MARK: - Values

  @Test(
    "a distance that is no distance is refused, alone",
    arguments: [
      (Double.nan, ComponentReport.Rejection.notFinite), (.infinity, .notFinite),
      (-.infinity, .notFinite), (-0.5, .outOfBounds), (0, .outOfBounds), (1000.5, .outOfBounds),
      (1e300, .outOfBounds),
    ])
  func badDistance(distance: Double, rejection: ComponentReport.Rejection) throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.distance = distance
    let report = fixture.engine.add(sample)
    #expect(report.range.outcome == .rejected(rejection))
    #expect(!isRejected(report.azimuth) && !isRejected(report.elevation))
  }

  @Test(
    "an angle outside its interval is refused, alone",
    arguments: [
      (Double.nan, 0.1, ComponentReport.Rejection.notFinite), (.infinity, 0.1, .notFinite),
      (3.2, 0.1, .outOfBounds), (-3.2, 0.1, .outOfBounds), (60, 0.1, .outOfBounds),
    ])
  func badAzimuth(azimuth: Double, elevation: Double, rejection: ComponentReport.Rejection) throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.azimuthRadians = azimuth
    sample.elevationRadians = elevation
    let report = fixture.engine.add(sample)
    #expect(report.azimuth.outcome == .rejected(rejection))
    #expect(!isRejected(report.range) && !isRejected(report.elevation))
  }

  @Test(
    "an elevation beyond straight up or down is refused, alone",
    arguments: [
      (Double.nan, ComponentReport.Rejection.notFinite), (-.infinity, .notFinite),
      (1.6, .outOfBounds), (-1.6, .outOfBounds),
    ])
  func badElevation(elevation: Double, rejection: ComponentReport.Rejection) throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.elevationRadians = elevation
    let report = fixture.engine.add(sample)
    #expect(report.elevation.outcome == .rejected(rejection))
    #expect(!isRejected(report.range) && !isRejected(report.azimuth))
  }

  @Test(
    "a sigma that is not positive is refused",
    arguments: [0, -1, .nan, .infinity, -.infinity] as [Double])
  func badSigma(sigma: Double) throws {
    let fixture = try Fixture()
    for component in 0..<3 {
      var engine = fixture.engine
      var sample = fixture.sample
      switch component {
      case 0: sample.distanceSigma = sigma
      case 1: sample.azimuthSigmaRadians = sigma
      default: sample.elevationSigmaRadians = sigma
      }
      let report = engine.add(sample)
      let components = [report.range, report.azimuth, report.elevation]
      for (index, judged) in components.enumerated() {
        #expect(isRejected(judged) == (index == component))
      }
      #expect(components[component].outcome == .rejected(.invalidSigma))
    }
  }

  // MARK: - Time

  @Test("a sample a second and a half late is too late; half a second is not")
  func tooLate() throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.timestamp = Fixture.time(3.3)
    var report = fixture.engine.add(sample)
    #expect(report.range.outcome == .rejected(.tooLate))
    #expect(report.azimuth.outcome == .rejected(.tooLate))
    #expect(report.elevation.outcome == .rejected(.tooLate))
    #expect(report.use == .rejected)
    sample.timestamp = Fixture.time(4.33)
    report = fixture.engine.add(sample)
    #expect(!isRejected(report.range))
  }

  @Test("the same sample twice counts once; other values at the same stamp are another sample")
  func duplicate() throws {
    var fixture = try Fixture()
    let first = fixture.engine.add(fixture.sample)
    #expect(first.range.isUsed)
    let again = fixture.engine.add(fixture.sample)
    #expect(again.range.outcome == .rejected(.duplicate))
    #expect(again.azimuth.outcome == .rejected(.duplicate))
    #expect(again.elevation.outcome == .rejected(.duplicate))
    var other = fixture.sample
    other.distance = fixture.sample.distance.map { $0 + 0.05 }
    #expect(!isRejected(fixture.engine.add(other).range))
  }

  @Test("before the first pose, and long after the last, there is no pose")
  func noPose() throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.timestamp = Fixture.time(5.3)
    #expect(fixture.engine.add(sample).range.outcome == .rejected(.noPose))
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    sample.peer = peer
    #expect(engine.add(sample).range.outcome == .rejected(.noPose))
    engine.add(DevicePose(timestamp: Fixture.time(6), worldFromDevice: .identity))
    engine.add(DevicePose(timestamp: Fixture.time(6.1), worldFromDevice: .identity))
    sample.timestamp = Fixture.time(5.9)
    #expect(engine.add(sample).range.outcome == .rejected(.noPose))
    sample.timestamp = Fixture.time(6.05)
    #expect(engine.add(sample).range.isUsed)
  }

  @Test("a little after the last pose, the pose is extrapolated")
  func extrapolation() throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.timestamp = Fixture.time(5.05)
    #expect(!isRejected(fixture.engine.add(sample).range))
  }

  @Test("in a gap of poses longer than the limit there is no pose")
  func poseGap() throws {
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    for seconds in [0.0, 0.5, 3.5, 5.0] {
      engine.add(DevicePose(timestamp: Fixture.time(seconds), worldFromDevice: .identity))
    }
    func outcome(at seconds: Double) -> ComponentReport.Outcome {
      var copy = engine
      return copy.add(
        RangingSample(peer: peer, timestamp: Fixture.time(seconds), distance: 3)
      ).range.outcome
    }
    #expect(outcome(at: 2) == .rejected(.noPose))
    // The gap of 1.5 s is below the limit of 2 s.
    #expect(outcome(at: 4.2) != .rejected(.noPose))
  }

  @Test("while tracking is not available, samples are refused; afterwards they are not")
  func trackingNotAvailable() throws {
    var fixture = try Fixture()
    func addPoses(from start: Double, to end: Double) {
      for pose in fixture.run.poses
      where pose.timestamp > Fixture.time(start) && pose.timestamp <= Fixture.time(end) {
        fixture.engine.add(pose)
      }
    }
    fixture.engine.add(TrackingSample(timestamp: Fixture.time(5), quality: .notAvailable))
    addPoses(from: 5, to: 6)
    var sample = fixture.sample
    sample.timestamp = Fixture.time(5.5)
    let report = fixture.engine.add(sample)
    #expect(report.range.outcome == .rejected(.trackingNotAvailable))
    #expect(report.azimuth.outcome == .rejected(.trackingNotAvailable))
    #expect(report.elevation.outcome == .rejected(.trackingNotAvailable))
    fixture.engine.add(TrackingSample(timestamp: Fixture.time(6), quality: .normal))
    addPoses(from: 6, to: 7)
    sample.timestamp = Fixture.time(6.5)
    sample.distance = fixture.run.samples[64].distance
    #expect(fixture.engine.add(sample).range.outcome != .rejected(.trackingNotAvailable))
  }

  // MARK: - What a refusal leaves behind

  @Test("every rejection is reachable, and none of them changes the estimate")
  func noTrace() throws {
    let fixture = try Fixture()
    let estimate = fixture.engine.estimate(of: fixture.peer)
    var refused: [RangingSample] = []
    for distance in [Double.nan, -1, 1e9] {
      refused.append(
        RangingSample(peer: fixture.peer, timestamp: fixture.sample.timestamp, distance: distance))
    }
    refused.append(
      RangingSample(
        peer: fixture.peer, timestamp: fixture.sample.timestamp, distance: 3, distanceSigma: -1))
    refused.append(
      RangingSample(peer: fixture.peer, timestamp: Fixture.time(3), distance: 3))
    refused.append(RangingSample(peer: fixture.peer, timestamp: Fixture.time(9), distance: 3))
    for sample in refused {
      var engine = fixture.engine
      #expect(engine.add(sample).use == .rejected)
      // Asked for the same moment: the estimate of a later one has drifted.
      let after = engine.estimate(of: fixture.peer, at: estimate.timestamp)
      #expect(after.positionInWorld == estimate.positionInWorld)
      #expect(after.covarianceInWorld == estimate.covarianceInWorld)
    }
  }

  @Test("a sample with nothing in it is absent throughout")
  func emptySample() throws {
    var fixture = try Fixture()
    let report = fixture.engine.add(
      RangingSample(peer: fixture.peer, timestamp: fixture.sample.timestamp))
    #expect(report.range == .absent && report.azimuth == .absent && report.elevation == .absent)
    #expect(report.use == .rejected)
    #expect(report.normalizedInnovationSquared == nil)
  }

  @Test("a partly good sample is used in part")
  func partialUse() throws {
    var fixture = try Fixture()
    var sample = fixture.sample
    sample.azimuthRadians = .nan
    sample.elevationRadians = nil
    let report = fixture.engine.add(sample)
    #expect(report.range.isUsed)
    #expect(report.use == .partial)
  }

  @Test("a range 10 m too long is taken for an outlier, and hardly moves the estimate")
  func outlier() throws {
    var fixture = try Fixture()
    let estimate = fixture.engine.estimate(of: fixture.peer)
    let before = try #require(estimate.positionInWorld)
    var sample = fixture.sample
    sample.distance = fixture.sample.distance.map { $0 + 10 }
    sample.azimuthRadians = nil
    sample.elevationRadians = nil
    let report = fixture.engine.add(sample)
    guard case .rejectedAsOutlier(let weight) = report.range.outcome else {
      Issue.record("the outcome is \(report.range.outcome)")
      return
    }
    #expect(weight < 0.01)
    #expect(report.range.testRatio > 1)
    let after = try #require(fixture.engine.estimate(of: fixture.peer).positionInWorld)
    #expect((after - before).length < 0.1 * estimate.covarianceInWorld.trace.squareRoot())
  }

  // MARK: - Poses

  @Test("poses that are no places are refused")
  func badPoses() throws {
    var engine = try FusionEngine()
    func pose(_ seconds: Double, _ place: Vector3, _ turn: Rotation = .identity) -> DevicePose {
      DevicePose(
        timestamp: Fixture.time(seconds),
        worldFromDevice: RigidTransform(rotation: turn, translation: place))
    }
    #expect(engine.add(pose(0, .zero)) == .accepted)
    #expect(engine.add(pose(1, Vector3(.nan, 0, 0))) == .rejectedNotFinite)
    #expect(engine.add(pose(1, Vector3(0, .infinity, 0))) == .rejectedNotFinite)
    #expect(engine.add(pose(1, Vector3(0, 0, 1.1e7))) == .rejectedNotFinite)
    #expect(engine.add(pose(0, .zero)) == .rejectedNotLater)
    #expect(engine.add(pose(-1, .zero)) == .rejectedNotLater)
    #expect(engine.add(pose(0.1, Vector3(0.1, 0, 0))) == .accepted)
    guard case .acceptedAfterJump(let metres) = engine.add(pose(0.2, Vector3(50, 0, 0))) else {
      Issue.record("a step of 50 m in 0.1 s is no jump")
      return
    }
    #expect(abs(metres - 49.9) < 5)
    #expect(engine.add(pose(0.3, Vector3(50.1, 0, 0))) == .accepted)
  }

  @Test("a pose whose attitude is not a number is refused")
  func badAttitude() throws {
    var engine = try FusionEngine()
    let attitude = Rotation(angleRadians: .nan, about: Vector3(0, 1, 0))
    let pose = DevicePose(
      timestamp: Fixture.time(0),
      worldFromDevice: RigidTransform(rotation: attitude, translation: .zero))
    #expect(engine.add(pose) == .rejectedNotFinite)
  }

  private func isRejected(_ report: ComponentReport) -> Bool {
    if case .rejected = report.outcome { true } else { false }
  }
}
