// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyC
import NearbyFusion
import NearbyGeometry
import Testing

@Suite("C: engine")
struct EngineCallTests {
  @Test func aHandleThatWasDestroyedIsRecognised() {
    let engine = makeEngine()
    #expect(nearby_engine_destroy(engine) == NEARBY_OK)
    #expect(nearby_engine_destroy(engine) == NEARBY_INVALID_HANDLE)
    #expect(LastFailure().text.contains("there is no such engine"))
    var estimate = nearby_estimate()
    #expect(nearby_engine_estimate(engine, 0, &estimate) == NEARBY_INVALID_HANDLE)
    #expect(nearby_engine_destroy(nil) == NEARBY_OK)
  }

  @Test func aHandleOfAnotherKindIsRecognised() {
    var smoother: OpaquePointer?
    #expect(nearby_smoother_create(nil, nil, &smoother) == NEARBY_OK)
    defer { _ = nearby_smoother_destroy(smoother) }
    #expect(nearby_engine_destroy(smoother) == NEARBY_INVALID_HANDLE)
    #expect(nearby_engine_add_peer(nil, nil, NEARBY_PEER_MOVING, nil) == NEARBY_INVALID_HANDLE)
    #expect(LastFailure().text.contains("the engine is null"))
  }

  @Test func anUnknownPeerIsAStatus() {
    let engine = makeEngine(peers: 1)
    defer { _ = nearby_engine_destroy(engine) }
    var sample = nearby_sample_of(1, 0)
    #expect(nearby_engine_add_sample(engine, &sample, nil, nil) == NEARBY_UNKNOWN_PEER)
    #expect(LastFailure().text.hasPrefix("there is no peer 1; there are 1, numbered from 0"))
    var estimate = nearby_estimate()
    #expect(nearby_engine_estimate_at(engine, .max, 0, &estimate) == NEARBY_UNKNOWN_PEER)
  }

  @Test(arguments: [Int64.min, 4_600_000_000_000_000_001, .max])
  func aTimeBeyondTheClockIsRefused(_ time: Int64) {
    let engine = makeEngine()
    defer { _ = nearby_engine_destroy(engine) }
    var pose = nearby_pose(nanoseconds: time, position: (0, 0, 0), quaternion: (0, 0, 0, 1))
    #expect(nearby_engine_add_pose(engine, &pose, nil) == NEARBY_INVALID_ARGUMENT)
    var sample = nearby_sample_of(0, time)
    #expect(nearby_engine_add_sample(engine, &sample, nil, nil) == NEARBY_INVALID_ARGUMENT)
  }

  @Test func whatBecomesOfAPoseIsTold() {
    let engine = makeEngine()
    defer { _ = nearby_engine_destroy(engine) }
    var outcome = NEARBY_POSE_ACCEPTED
    func add(_ time: Int64, _ x: Double, _ w: Double) -> nearby_pose_outcome {
      var pose = nearby_pose(nanoseconds: time, position: (x, 0, 0), quaternion: (0, 0, 0, w))
      #expect(nearby_engine_add_pose(engine, &pose, &outcome) == NEARBY_OK)
      return outcome
    }
    #expect(add(0, 0, 1) == NEARBY_POSE_ACCEPTED)
    #expect(add(0, 0, 1) == NEARBY_POSE_NOT_LATER)
    #expect(add(10_000_000, .nan, 1) == NEARBY_POSE_NOT_FINITE)
    #expect(add(20_000_000, 0, 0) == NEARBY_POSE_NOT_FINITE)
    #expect(add(30_000_000, 50, 1) == NEARBY_POSE_JUMPED)
  }

  @Test func theRecordsAreThoseOfTheEngine() throws {
    let handle = makeEngine()
    defer { _ = nearby_engine_destroy(handle) }
    var engine = try FusionEngine()
    let peers = [engine.addPeer(), engine.addPeer()]
    let walk = WalkArrays(seconds: 30)
    var next = 0
    for pose in walk.poses {
      while next < walk.samples.count, walk.samples[next].nanoseconds <= pose.nanoseconds {
        var (sample, report, estimate) = (walk.samples[next], nearby_report(), nearby_estimate())
        next += 1
        let expected = engine.add(
          RangingSample(
            peer: peers[Int(sample.peer)], timestamp: Timestamp(nanoseconds: sample.nanoseconds),
            distance: sample.distance, azimuthRadians: sample.azimuth.isNaN ? nil : sample.azimuth))
        let state = engine.estimate(of: expected.peer, at: expected.timestamp)
        #expect(nearby_engine_add_sample(handle, &sample, &report, &estimate) == NEARBY_OK)
        #expect(report.distance.innovation == expected.range.innovation)
        #expect(report.use == (expected.use == .all ? NEARBY_USE_ALL : report.use))
        #expect(estimate.mean.0 == state.positionInWorld?.x)
        #expect(estimate.covariance.5 == state.covarianceInWorld.zz)
        #expect(estimate.distance.isNaN == (state.distance.value == nil))
        #expect((estimate.convergence == NEARBY_CONVERGED) == (state.convergence == .converged))
      }
      var given = pose
      _ = nearby_engine_add_pose(handle, &given, nil)
      engine.add(
        DevicePose(
          timestamp: Timestamp(nanoseconds: pose.nanoseconds),
          worldFromDevice: RigidTransform(
            rotation: .identity,
            translation: Vector3(pose.position.0, pose.position.1, pose.position.2))))
    }
    #expect(next > 100)
    var last = nearby_estimate()
    _ = nearby_engine_estimate(handle, 0, &last)
    #expect(last.convergence == NEARBY_CONVERGED)
  }

  /// Runs a walk, saying another motion of peer 0 after half of its samples, and gives where it has the peer.
  private func walk(_ motion: nearby_peer_motion?) -> (before: [Double], after: [Double]) {
    let engine = makeEngine()
    defer { _ = nearby_engine_destroy(engine) }
    let walk = WalkArrays(seconds: 20)
    var places: (before: [Double], after: [Double]) = ([], [])
    var next = 0
    for var pose in walk.poses {
      #expect(nearby_engine_add_pose(engine, &pose, nil) == NEARBY_OK)
      while next < walk.samples.count, walk.samples[next].nanoseconds <= pose.nanoseconds {
        if next == walk.samples.count / 2, let motion {
          #expect(nearby_engine_set_motion(engine, 0, motion) == NEARBY_OK)
        }
        var (sample, estimate) = (walk.samples[next], nearby_estimate())
        #expect(nearby_engine_add_sample(engine, &sample, nil, &estimate) == NEARBY_OK)
        if sample.peer == 0 {
          if next < walk.samples.count / 2 {
            places.before.append(estimate.mean.0)
          } else {
            places.after.append(estimate.mean.0)
          }
        }
        next += 1
      }
    }
    return places
  }

  @Test func aMotionSaidLaterCountsFromTheNextSample() {
    let nothing = walk(nil)
    let (same, other) = (walk(NEARBY_PEER_STATIONARY), walk(NEARBY_PEER_UNKNOWN))
    #expect(nothing.before.count > 30 && nothing.after.count > 30)
    #expect(same == nothing)
    #expect(other.before == nothing.before)
    #expect(other.after[0] != nothing.after[0])
    #expect(zip(other.after, nothing.after).allSatisfy { abs($0 - $1) < 0.5 }, "the place stays")
  }

  @Test func aMotionIsOfAPeerThatIsThere() {
    let engine = makeEngine(peers: 1)
    defer { _ = nearby_engine_destroy(engine) }
    #expect(nearby_engine_set_motion(engine, 1, NEARBY_PEER_MOVING) == NEARBY_UNKNOWN_PEER)
    #expect(
      nearby_engine_set_motion(engine, 0, nearby_peer_motion(rawValue: 3))
        == NEARBY_INVALID_ARGUMENT)
    #expect(nearby_engine_set_motion(nil, 0, NEARBY_PEER_MOVING) == NEARBY_INVALID_HANDLE)
  }

  @Test func aCopyGoesItsOwnWay() {
    let engine = makeEngine()
    defer { _ = nearby_engine_destroy(engine) }
    var copy: OpaquePointer?
    #expect(nearby_engine_copy(engine, &copy) == NEARBY_OK)
    #expect(nearby_engine_add_peer(copy, "third", NEARBY_PEER_MOVING, nil) == NEARBY_OK)
    #expect(nearby_engine_destroy(copy) == NEARBY_OK)
    var estimate = nearby_estimate()
    #expect(nearby_engine_estimate(engine, 2, &estimate) == NEARBY_UNKNOWN_PEER)
    #expect(nearby_engine_estimate(engine, 1, &estimate) == NEARBY_OK)
  }

  @Test func settingsHaveTheirPlaceInTheError() {
    var engine: OpaquePointer?
    let json = "{\n  \"ranging\": {\"rangeSigma\": -1}\n}"
    #expect(nearby_engine_create(json, nil, &engine) == NEARBY_INVALID_CONFIGURATION)
    let failure = LastFailure()
    #expect(failure.status == NEARBY_INVALID_CONFIGURATION)
    #expect((failure.line, failure.column) == (2, 29))
    #expect(failure.code == "valueOutOfRange" && failure.file == "configuration")
    #expect(engine == nil)
    var text: UnsafeMutablePointer<CChar>?
    #expect(nearby_configuration("{\"ranging\": {\"rangeSigma\": 0.25}}", &text) == NEARBY_OK)
    #expect(text.map { String(cString: $0).contains("\"rangeSigma\" : 0.25") } == true)
    nearby_text_free(text)
  }

  @Test func peersHaveDifferentNames() {
    let engine = makeEngine(peers: 1)
    defer { _ = nearby_engine_destroy(engine) }
    var number: UInt32 = 9
    #expect(nearby_engine_add_peer(engine, "bag", NEARBY_PEER_STATIONARY, &number) == NEARBY_OK)
    #expect(number == 1)
    for name in ["bag", "0", "\u{0}"] where !name.hasPrefix("\u{0}") {
      #expect(
        nearby_engine_add_peer(engine, name, NEARBY_PEER_STATIONARY, nil)
          == NEARBY_INVALID_ARGUMENT)
    }
    #expect(
      nearby_engine_add_peer(engine, nil, nearby_peer_motion(rawValue: 3), nil)
        == NEARBY_INVALID_ARGUMENT)
  }
}
