// SPDX-License-Identifier: Apache-2.0
import ARKit
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("The AR session") struct ARTests {
    /// What an app sets wrongly.
    enum Fault: String, CaseIterable, Sendable {
      case alignment, collaboration, faceTracking, initialMap

      func spoil(_ configuration: ARWorldTrackingConfiguration) {
        switch self {
        case .alignment: configuration.worldAlignment = .gravityAndHeading
        case .collaboration: configuration.isCollaborationEnabled = true
        case .faceTracking: configuration.userFaceTrackingEnabled = true
        case .initialMap: configuration.initialWorldMap = ARWorldMap()
        }
      }
    }

    private final class Viewer: NSObject, ARSessionDelegate {
      var frames = 0
      var interruptions = 0
      var relocalizes = false
      var states: [ARCamera.TrackingState] = []
      func session(_ session: ARSession, didUpdate frame: ARFrame) { frames += 1 }
      func session(_ session: ARSession, cameraDidChangeTrackingState camera: ARCamera) {
        states.append(camera.trackingState)
      }
      func sessionWasInterrupted(_ session: ARSession) { interruptions += 1 }
      func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { relocalizes }
    }

    private let pair = Pair(isSwept: true)

    @Test("an AR session that is set up wrongly ends the session", arguments: Fault.allCases)
    func fault(_ fault: Fault) async throws {
      let arSession = ARSession(on: pair.phone)
      let configuration = ARWorldTrackingConfiguration()
      fault.spoil(configuration)
      arSession.run(configuration)
      pair.session.setARSession(arSession)
      try pair.run(usesCamera: true)
      await pair.pass(0.2)
      #expect(pair.log.codes == [.invalidARConfiguration])
    }

    @Test("an AR session that is set up wrongly later ends the running session")
    func lateFault() async throws {
      let arSession = ARSession(on: pair.phone)
      let configuration = ARWorldTrackingConfiguration()
      arSession.run(configuration)
      pair.session.setARSession(arSession)
      try pair.run(usesCamera: true)
      await pair.pass(1)
      #expect(pair.log.codes.isEmpty && pair.log.calls.contains("update"))
      configuration.isCollaborationEnabled = true
      arSession.run(configuration)
      await pair.pass(0.2)
      #expect(pair.log.codes == [.invalidARConfiguration])
    }

    @Test("an app that relocalizes cannot share its AR session")
    func relocalization() async throws {
      let (arSession, viewer) = (ARSession(on: pair.phone), Viewer())
      viewer.relocalizes = true
      arSession.delegate = viewer
      arSession.run(ARWorldTrackingConfiguration())
      pair.session.setARSession(arSession)
      try pair.run(usesCamera: true)
      await pair.pass(0.5)
      #expect(pair.log.codes == [.invalidARConfiguration])
    }

    @Test("orientation tracking is not enough")
    func orientation() async throws {
      let arSession = ARSession(on: pair.phone)
      arSession.run(AROrientationTrackingConfiguration())
      pair.session.setARSession(arSession)
      try pair.run(usesCamera: true)
      await pair.pass(0.2)
      #expect(pair.log.codes == [.invalidARConfiguration])
    }

    @Test("an AR session without camera assistance ends the session")
    func withoutAssistance() async throws {
      let arSession = ARSession(on: pair.phone)
      arSession.run(ARWorldTrackingConfiguration())
      pair.session.setARSession(arSession)
      try pair.run()
      await pair.pass(0.2)
      #expect(pair.log.codes == [.invalidARConfiguration])
    }

    @Test("a shared AR session and the framework's own give the same answers")
    func shared() async throws {
      let arSession = ARSession(on: pair.phone)
      arSession.run(ARWorldTrackingConfiguration())
      pair.session.setARSession(arSession)
      try pair.run(usesCamera: true)
      await pair.pass(10)
      let plain = Pair(isSwept: true)
      try plain.run(usesCamera: true)
      await plain.pass(10)
      #expect(pair.log.objects.count == 100)
      #expect(pair.log.objects.map(\.distance) == plain.log.objects.map(\.distance))
    }

    @Test("one AR session at a time has the camera")
    func oneCamera() async throws {
      let (first, second) = (ARSession(on: pair.phone), ARSession(on: pair.phone))
      let (a, b) = (Viewer(), Viewer())
      (first.delegate, second.delegate) = (a, b)
      first.run(ARWorldTrackingConfiguration())
      await pair.pass(0.5)
      second.run(ARWorldTrackingConfiguration())
      await pair.pass(0.1)
      let frames = a.frames
      await pair.pass(0.5)
      #expect(frames > 0 && a.frames == frames && a.interruptions == 1)
      #expect(b.frames > 0 && b.interruptions == 0)
    }

    @Test("an AR session that is paused is told as limited tracking of the session")
    func pausedCamera() async throws {
      let arSession = ARSession(on: pair.phone)
      arSession.run(ARWorldTrackingConfiguration())
      pair.session.setARSession(arSession)
      try pair.run(usesCamera: true)
      await pair.pass(10)
      arSession.pause()
      await pair.pass(3)
      #expect(pair.log.statuses.contains { $0.isOfSession && $0.status != .unknown })
      #expect(pair.log.last?.distance != nil && pair.log.last?.horizontalAngle == nil)
    }

    @Test("the camera's x axis points down along an upright phone, as in ARKit")
    func axes() async throws {
      let pair = Pair()
      let arSession = ARSession(on: pair.phone)
      arSession.run(ARWorldTrackingConfiguration())
      await pair.pass(0.2)
      let transform = try #require(arSession.currentFrame).camera.transform
      #expect(simd_distance(transform.columns.0, simd_float4(0, -1, 0, 0)) < 0.05)
      #expect(simd_distance(transform.columns.1, simd_float4(1, 0, 0, 0)) < 0.05)
      #expect(simd_distance(transform.columns.2, simd_float4(0, 0, 1, 0)) < 0.05)
    }

    @Test("a direction times the distance in the view of portrait is the friend's place")
    func portrait() async throws {
      let pair = Pair(at: Vector3(1, 2, -4))
      let arSession = ARSession(on: pair.phone)
      arSession.run(ARWorldTrackingConfiguration())
      try pair.run()
      await pair.pass(2)
      let camera = try #require(arSession.currentFrame).camera
      let object = try #require(pair.log.last)
      let arm = try #require(object.distance) * (try #require(object.direction))
      let place = camera.viewMatrix(for: .portrait).inverse * simd_float4(arm, 1)
      #expect(simd_distance(simd_make_float3(place), pair.truePlace) < 1.2)
    }

    @Test("tracking that is lost is told to the AR session's delegate")
    func trackingState() async throws {
      let (arSession, viewer) = (ARSession(on: pair.phone), Viewer())
      arSession.delegate = viewer
      arSession.run(ARWorldTrackingConfiguration())
      await pair.pass(0.5)
      pair.phone.setTracking(.limited(.excessiveMotion))
      await pair.pass(0.2)
      #expect(viewer.states == [.limited(.excessiveMotion)])
    }

    @Test("the background interrupts the AR session")
    func interruption() async throws {
      let (arSession, viewer) = (ARSession(on: pair.phone), Viewer())
      arSession.delegate = viewer
      arSession.run(ARWorldTrackingConfiguration())
      await pair.pass(0.5)
      pair.phone.undergo(.enteredBackground)
      await pair.pass(0.1)
      #expect(viewer.interruptions == 1)
    }

    @Test("a new origin of the AR session's world moves the friend's place with it")
    func origin() async throws {
      let arSession = ARSession(on: pair.phone)
      arSession.run(ARWorldTrackingConfiguration())
      pair.session.setARSession(arSession)
      pair.session.options.peerMotion = .stationary
      try pair.run(usesCamera: true)
      await pair.pass(20)
      let object = try #require(pair.log.last)
      let before = try #require(pair.session.worldTransform(for: object))
      var shift = matrix_identity_float4x4
      shift.columns.3 = simd_float4(1, 0, 2, 1)
      arSession.setWorldOrigin(relativeTransform: shift)
      let after = try #require(pair.session.worldTransform(for: object))
      let moved = before.columns.3 - after.columns.3
      #expect(simd_distance(moved, simd_float4(1, 0, 2, 0)) < 1e-3)
    }
  }
}
