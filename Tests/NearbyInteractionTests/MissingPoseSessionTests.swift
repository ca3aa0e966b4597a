// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// Measurements without poses: what is reported to the app, and when that ends.
struct MissingPoseSessionTests {
  private static let lost = NIAlgorithmConvergenceStatus.notConverged([.limitedTracking])

  /// The reported convergences of the session as a whole.
  private func ofSession(_ recorder: SessionRecorder) -> [NIAlgorithmConvergenceStatus] {
    recorder.convergences.filter { $0.object == nil }.map(\.status)
  }

  /// Whether the newest convergence of the peer names the missing poses.
  private func isPeerLost(_ recorder: SessionRecorder) -> Bool {
    guard
      case .notConverged(let reasons) = recorder.convergences.last(where: { $0.object != nil })?
        .status
    else { return false }
    return reasons.contains(.limitedTracking)
  }

  // MARK: A world's poses

  private static let tag = Vector3(0.4, 1.1, -3)

  /// A phone that is swept in a hand, from 25 to 34 s carried back by 8.3 m, put down, and swept there
  /// from 401 s on.
  private static let carriedAway: SimulatedMotion = {
    let start = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: tag)
    let hand = SimulatedMotion.sweeping(about: start, seed: 3)
    return SimulatedMotion { seconds in
      let pose = hand.pose(at: min(seconds, 25) + max(0, seconds - 401))
      let away = 8.3 * min(max(0, (seconds - 25) / 9), 1)
      let direction = Vector3(start.translation.x - tag.x, 0, start.translation.z - tag.z)
        .normalized
      return RigidTransform(
        rotation: pose.rotation, translation: pose.translation + away * direction)
    }
  }()

  @Test func aPhoneThatIsCarriedAwayWithoutPosesHearsTheDistanceAlone() throws {
    var settings = SimulatedWorldSettings()
    settings.odometry.rate = 20
    let rest = RigidTransform(standingAt: Self.tag, facing: .zero)
    let pair = SessionPair(settings, motions: [Self.carriedAway, .resting(at: rest)])
    let arSession = ARSession(on: pair.devices[0])
    arSession.run(ARWorldTrackingConfiguration())
    pair.sessions[0].setARSession(arSession)
    pair.run(usesCamera: true)
    pair.advance(25)
    let recorder = pair.recorders[0]
    #expect(recorder.convergences.last?.status == .converged)
    #expect(recorder.transforms.last.flatMap { $0 } != nil)
    #expect(ofSession(recorder).isEmpty)

    arSession.pause()
    pair.advance(1.2)
    #expect(ofSession(recorder) == [Self.lost])
    let before = recorder.objects.count
    for step in 0..<3748 {
      pair.advance(0.1)
      let object = try #require(recorder.objects.last)
      let distance = try #require(object.distance, "after \(step) steps")
      let radio = pair.world.settings.radio.antennaInDevice
      let truth =
        (pair.devices[0].truePose.act(radio) - pair.devices[1].truePose.act(radio)).length
      #expect(
        abs(Double(distance) - truth) < 4 * (try #require(object.distanceSigma)),
        "after \(step) steps")
      #expect(object.direction == nil && object.horizontalAngle == nil)
      if step > 300 { #expect(object.verticalDirectionEstimate == .unknown) }
      #expect(pair.sessions[0].worldTransform(for: object) == nil)
    }
    #expect(abs(Double(try #require(recorder.objects.last?.distance)) - 11.3) < 1)
    #expect(recorder.objects.count == before + 3748)
    #expect(recorder.transforms[before...].allSatisfy { $0 == nil })
    // It was reported once for the session and once for the peer.
    #expect(ofSession(recorder) == [Self.lost])
    #expect(isPeerLost(recorder))

    arSession.run(ARWorldTrackingConfiguration())
    pair.advance(0.1)
    #expect(ofSession(recorder) == [Self.lost, .unknown])
    pair.advance(25)
    #expect(ofSession(recorder) == [Self.lost, .unknown])
    #expect(recorder.convergences.last?.status == .converged)
    let transform = try #require(recorder.transforms.last.flatMap { $0 })
    let camera = try #require(arSession.currentFrame).camera.transform
    #expect(abs(simd_distance(transform.columns.3, camera.columns.3) - 11.3) < 1)
  }

  @Test func anARSessionThatWasNeverRunIsReported() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    let arSession = ARSession(on: pair.devices[0])
    pair.sessions[0].setARSession(arSession)
    pair.run(usesCamera: true)
    let recorder = pair.recorders[0]
    pair.advance(0.9)
    #expect(ofSession(recorder).isEmpty)
    pair.advance(15)
    #expect(ofSession(recorder) == [Self.lost])
    #expect(isPeerLost(recorder))
    for object in recorder.objects {
      #expect(object.distance != nil && object.direction == nil && object.horizontalAngle == nil)
    }
    #expect(recorder.transforms.allSatisfy { $0 == nil })
    arSession.run(ARWorldTrackingConfiguration())
    pair.advance(0.1)
    #expect(ofSession(recorder) == [Self.lost, .unknown])
    pair.advance(20)
    #expect(recorder.convergences.last?.status == .converged)
    #expect(recorder.transforms.last.flatMap { $0 } != nil)
  }

  @Test func withoutCameraAssistanceNobodyAsksForPoses() {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    pair.run(usesCamera: false)
    pair.advance(5)
    #expect(pair.recorders[0].convergences.isEmpty)
  }

  // MARK: Poses of one's own

  /// A session on a device that a test moves.
  private struct Live {
    let device = LiveDevice()
    let session: NISession
    let recorder = SessionRecorder()
    private let peer = NIDiscoveryToken(.random(on: .watch))
    private let run = SimulatedMotion.sweeping(
      about: RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: MissingPoseSessionTests.tag),
      seed: 3)

    init() {
      session = NISession(on: device)
      recorder.attach(to: session)
      start()
    }

    func start() {
      let configuration = NINearbyPeerConfiguration(peerToken: peer)
      configuration.isCameraAssistanceEnabled = true
      session.run(configuration)
    }

    static func at(_ seconds: Double) -> Timestamp {
      Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    func pose(_ seconds: Double, isFinite: Bool = true) {
      var pose = run.pose(at: seconds)
      if !isFinite { pose.translation.x = .nan }
      device.add(DevicePose(timestamp: Self.at(seconds), worldFromDevice: pose))
    }

    func measure(_ seconds: Double) {
      let pose = run.pose(at: seconds)
      let offset = pose.rotation.inverse.act(MissingPoseSessionTests.tag - pose.translation)
      let angles = ArrivalAngles(ofDirection: offset)
      device.add(
        RadioMeasurement(
          timestamp: Self.at(seconds), distance: offset.length,
          azimuthRadians: angles.azimuthRadians, elevationRadians: angles.elevationRadians))
      recorder.drain()
    }

    /// Poses and measurements side by side, so many steps of a tenth of a second.
    func follow(from seconds: Double, steps: Int, poseEvery interval: Int = 1) {
      for step in 0..<steps {
        if step % interval == 0 { pose(seconds + Double(step) / 10) }
        measure(seconds + Double(step) / 10)
      }
    }
  }

  @Test func aPlaceIsOfTheNewestMomentThatIsKnown() throws {
    let live = Live()
    live.follow(from: 100, steps: 200)
    let object = try #require(live.recorder.objects.last)
    #expect(live.session.worldTransform(for: object) != nil)
    // Neither poses nor measurements come any more, but the clock continues.
    live.device.advance(to: Live.at(120.8))
    #expect(live.session.worldTransform(for: object) != nil)
    live.device.advance(to: Live.at(121.5))
    #expect(live.session.worldTransform(for: object) == nil)
  }

  @Test func posesThatAreNoNumbersAreNone() {
    let live = Live()
    for step in 0..<20 {
      live.pose(100 + Double(step) / 10, isFinite: false)
      live.measure(100 + Double(step) / 10)
    }
    #expect(ofSession(live.recorder) == [Self.lost])
    live.pose(102)
    live.recorder.drain()
    #expect(ofSession(live.recorder) == [Self.lost, .unknown])
  }

  /// Odometry with one pose in 1.2 s is slow but not silent.
  @Test func slowPosesAreNotMissed() {
    let live = Live()
    live.follow(from: 100, steps: 100, poseEvery: 12)
    #expect(ofSession(live.recorder).dropFirst().allSatisfy { $0 == .unknown })
    #expect(ofSession(live.recorder).count <= 2)
    let before = live.recorder.convergences.count
    live.follow(from: 110.4, steps: 100, poseEvery: 12)
    #expect(live.recorder.convergences[before...].allSatisfy { $0.object != nil })
  }

  @Test func aPauseIsNoLossOfPoses() {
    let live = Live()
    live.follow(from: 100, steps: 50)
    live.session.pause()
    live.device.advance(to: Live.at(160))
    live.start()
    // The radio starts before the camera.
    for step in 0..<8 { live.measure(160 + Double(step) / 10) }
    live.follow(from: 161, steps: 50)
    #expect(ofSession(live.recorder).isEmpty)
    // Without the camera, it is reported as well.
    for step in 0..<20 { live.measure(166 + Double(step) / 10) }
    #expect(ofSession(live.recorder) == [Self.lost])
  }

  @Test func lostTrackingAndMissingPosesAreToldAsOne() {
    let live = Live()
    live.follow(from: 100, steps: 20)
    live.device.add(TrackingSample(timestamp: Live.at(102), quality: .notAvailable))
    for step in 0..<20 { live.measure(102 + Double(step) / 10) }
    #expect(ofSession(live.recorder) == [Self.lost])
    live.device.add(TrackingSample(timestamp: Live.at(104), quality: .normal))
    live.measure(104)
    #expect(ofSession(live.recorder) == [Self.lost])
    live.pose(104.1)
    live.recorder.drain()
    #expect(ofSession(live.recorder) == [Self.lost, .unknown])
  }
}
