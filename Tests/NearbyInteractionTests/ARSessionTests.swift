// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import Testing

struct ARSessionTests {
  /// A delegate that records its calls.
  private final class Recorder: NSObject, ARSessionDelegate, @unchecked Sendable {
    // Unchecked: written on the queue, read after it is empty.
    let queue = DispatchQueue(label: "frames")
    var frames: [ARFrame] = []
    var calls: [String] = []
    var states: [ARCamera.TrackingState] = []

    func session(_ session: ARSession, didUpdate frame: ARFrame) { frames.append(frame) }
    func session(_ session: ARSession, didAdd anchors: [ARAnchor]) {
      calls += anchors.map { "add \($0.name ?? "")" }
    }
    func session(_ session: ARSession, didRemove anchors: [ARAnchor]) { calls.append("remove") }
    func session(_ session: ARSession, cameraDidChangeTrackingState camera: ARCamera) {
      calls.append("tracking")
      states.append(camera.trackingState)
    }
    func session(_ session: ARSession, didFailWithError error: any Error) {
      if case ARError.unsupportedConfiguration = error { calls.append("unsupported") }
    }
    func sessionWasInterrupted(_ session: ARSession) { calls.append("interrupted") }
    func sessionInterruptionEnded(_ session: ARSession) { calls.append("ended") }
  }

  private let world = SimulatedWorld()
  private let recorder = Recorder()

  private func session(on device: SimulatedDevice) -> ARSession {
    let session = ARSession(on: device)
    session.delegate = recorder
    session.delegateQueue = recorder.queue
    return session
  }

  @Test func framesFollowTheDevice() throws {
    let start = RigidTransform(standingAt: Vector3(3, 1.4, 2), facing: Vector3(9, 0, 2))
    let device = world.makeDevice(
      motion: SimulatedMotion { seconds in
        RigidTransform(
          rotation: start.rotation, translation: start.act(Vector3(0, 0, -0.5 * seconds)))
      })
    let session = session(on: device)
    #expect(session.currentFrame == nil && session.configuration == nil)
    session.run(ARWorldTrackingConfiguration())
    for _ in 0..<60 {
      world.advance(bySeconds: 1.0 / 60)
      recorder.queue.sync {}
    }
    #expect(recorder.frames.count == 60)
    // The world begins at the device and the device looks along -z.
    let first = try #require(recorder.frames.first).camera
    #expect(simd_length(simd_make_float3(first.transform.columns.3)) < 0.01)
    #expect(simd_distance(first.transform.columns.2, simd_float4(0, 0, 1, 0)) < 1e-5)
    #expect(first.trackingState == .normal)
    let last = try #require(session.currentFrame)
    #expect(abs(last.camera.transform.columns.3.z + 0.5) < 0.05)
    #expect(last.lightEstimate?.ambientIntensity == 1000)
    device.setTracking(.limited(.excessiveMotion), lumens: 300)
    world.advance(bySeconds: 1.0 / 60)
    recorder.queue.sync {}
    #expect(session.currentFrame?.camera.trackingState == .limited(.excessiveMotion))
    #expect(session.currentFrame?.lightEstimate?.ambientIntensity == 300)
    session.pause()
    world.advance(bySeconds: 1)
    recorder.queue.sync {}
    #expect(recorder.frames.count == 61)
    #expect(recorder.calls == ["tracking"])
  }

  @Test func aChangeOfTrackingIsToldWithTheNewState() {
    let device = world.makeDevice()
    let session = session(on: device)
    session.run(ARWorldTrackingConfiguration())
    world.advance(bySeconds: 1)
    device.setTracking(.limited(.excessiveMotion))
    recorder.queue.sync {}
    #expect(recorder.states == [.limited(.excessiveMotion)])
    // Before the next pose, too.
    #expect(session.currentFrame?.camera.trackingState == .limited(.excessiveMotion))
    // A slow delegate hears of each state, and a change of the light is none.
    recorder.queue.suspend()
    device.setTracking(.notAvailable)
    device.setTracking(.normal)
    device.setTracking(.normal, lumens: 300)
    recorder.queue.resume()
    recorder.queue.sync {}
    #expect(recorder.states == [.limited(.excessiveMotion), .notAvailable, .normal])
    #expect(session.currentFrame?.lightEstimate?.ambientIntensity == 300)
  }

  @Test func aSlowDelegateGetsTheNewestFrameOnly() {
    let session = session(on: world.makeDevice())
    session.run(ARWorldTrackingConfiguration())
    recorder.queue.suspend()
    world.advance(bySeconds: 1)
    recorder.queue.resume()
    recorder.queue.sync {}
    #expect(recorder.frames.map(\.timestamp) == [1001])
  }

  @Test func anchorsAndInterruptionsAreReported() {
    let device = world.makeDevice()
    let session = session(on: device)
    session.run(ARWorldTrackingConfiguration())
    let anchor = ARAnchor(name: "keys", transform: matrix_identity_float4x4)
    session.add(anchor: anchor)
    session.remove(anchor: anchor)
    device.undergo(.enteredBackground)
    device.undergo(.enteredForeground)
    recorder.queue.sync {}
    #expect(recorder.calls == ["add keys", "remove", "interrupted", "ended"])
  }

  @Test func aDeviceWithoutOdometryTracksNothing() {
    let device = world.makeDevice(capabilities: .watch)
    let session = session(on: device)
    session.run(ARWorldTrackingConfiguration())
    world.advance(bySeconds: 1)
    recorder.queue.sync {}
    #expect(recorder.calls == ["unsupported"])
    #expect(recorder.frames.isEmpty && session.currentFrame == nil)
    #expect((ARError(.unsupportedConfiguration) as any Error as NSError).code == 100)
  }

  @Test func aFrameKnowsTheAnchors() {
    let session = session(on: world.makeDevice())
    session.run(ARWorldTrackingConfiguration())
    session.add(anchor: ARAnchor(name: "keys", transform: matrix_identity_float4x4))
    world.advance(bySeconds: 1.0 / 60)
    #expect(session.currentFrame?.anchors.map(\.name) == ["keys"])
    session.run(ARWorldTrackingConfiguration(), options: [.removeExistingAnchors])
    world.advance(bySeconds: 1.0 / 60)
    #expect(session.currentFrame?.anchors.isEmpty == true)
    #expect(session.currentFrame?.worldMappingStatus == .notAvailable)
  }

  @Test func aCopyOfAConfigurationHasAllOfIt() throws {
    let configuration = ARWorldTrackingConfiguration()
    configuration.worldAlignment = .camera
    configuration.isLightEstimationEnabled = false
    configuration.frameSemantics = [.sceneDepth]
    configuration.providesAudioData = true
    configuration.isCollaborationEnabled = true
    configuration.userFaceTrackingEnabled = true
    configuration.initialWorldMap = ARWorldMap()
    configuration.planeDetection = [.vertical]
    configuration.environmentTexturing = .manual
    configuration.wantsHDREnvironmentTextures = false
    configuration.sceneReconstruction = .meshWithClassification
    configuration.isAutoFocusEnabled = false
    configuration.maximumNumberOfTrackedImages = 3
    let copy = try #require(configuration.copy() as? ARWorldTrackingConfiguration)
    #expect(copy.worldAlignment == .camera && !copy.isLightEstimationEnabled)
    #expect(copy.frameSemantics == [.sceneDepth] && copy.providesAudioData)
    #expect(copy.isCollaborationEnabled && copy.userFaceTrackingEnabled)
    #expect(copy.initialWorldMap != nil && copy.planeDetection == [.vertical])
    #expect(copy.environmentTexturing == .manual && !copy.wantsHDREnvironmentTextures)
    #expect(copy.sceneReconstruction.contains(.mesh) && !copy.isAutoFocusEnabled)
    #expect(copy.maximumNumberOfTrackedImages == 3)
    #expect(ARWorldTrackingConfiguration.supportsFrameSemantics([]))
    #expect(!ARWorldTrackingConfiguration.supportsFrameSemantics(.sceneDepth))
    #expect(!ARWorldTrackingConfiguration.supportsSceneReconstruction(.mesh))
  }
}
