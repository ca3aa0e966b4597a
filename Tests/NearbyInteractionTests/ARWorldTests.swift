// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyGeometry
import Testing

@testable import NearbyInteraction

/// An AR session's world: its origin, what is stored of it and what rays meet in it.
struct ARWorldTests {
  /// Listens to anchors.
  private final class Listener: NSObject, ARSessionDelegate, @unchecked Sendable {
    // Unchecked: written on the queue, read after it is empty.
    let queue = DispatchQueue(label: "anchors")
    var updates: [[ARAnchor]] = []
    func session(_ session: ARSession, didUpdate anchors: [ARAnchor]) { updates.append(anchors) }
  }

  /// An anchor of an app, with something of its own.
  private final class Note: ARAnchor, @unchecked Sendable {
    let text: String
    init(_ text: String, at transform: simd_float4x4) {
      self.text = text
      super.init(name: "note", transform: transform)
    }
    required init(anchor: ARAnchor) {
      text = (anchor as? Note)?.text ?? "lost"
      super.init(anchor: anchor)
    }
    required init?(coder: NSCoder) { nil }
  }

  /// A quarter turn to the left about the vertical, one metre ahead and two to the right.
  private static let move: simd_float4x4 = {
    var move = simd_float4x4(simd_quatf(angle: .pi / 2, axis: simd_float3(0, 1, 0)))
    move.columns.3 = simd_float4(2, 0, -1, 1)
    return move
  }()

  private func place(_ x: Float, _ y: Float, _ z: Float) -> simd_float4x4 {
    var transform = matrix_identity_float4x4
    transform.columns.3 = simd_float4(x, y, z, 1)
    return transform
  }

  @Test func theOriginOfFramesAndAnchorsMoves() throws {
    let world = SimulatedWorld()
    let session = ARSession(on: world.makeDevice())
    let listener = Listener()
    session.delegate = listener
    session.delegateQueue = listener.queue
    session.run(ARWorldTrackingConfiguration())
    world.advance(bySeconds: 0.5)
    let note = Note("keys", at: place(2, 0, -3))
    session.add(anchor: note)
    let before = try #require(session.currentFrame).camera.transform
    session.setWorldOrigin(relativeTransform: Self.move)
    let after = try #require(session.currentFrame).camera.transform
    #expect(simd_almost_equal_elements(Self.move * after, before, 1e-5))
    // Two metres ahead of the new origin, whose -z points to the left of the old one.
    listener.queue.sync {}
    let moved = try #require(listener.updates.last?.first as? Note)
    #expect(moved.text == "keys" && moved.identifier == note.identifier)
    #expect(simd_distance(moved.transform.columns.3, simd_float4(2, 0, 0, 1)) < 1e-5)
    #expect(note.transform == place(2, 0, -3))
    // So are later frames.
    world.advance(bySeconds: 0.5)
    let later = try #require(session.currentFrame)
    #expect(simd_distance(later.camera.transform.columns.3, after.columns.3) < 0.3)
    #expect(simd_distance(before.columns.3, after.columns.3) > 1)
    #expect(later.anchors.first === moved)
    // A new world is that of the odometry.
    session.run(ARWorldTrackingConfiguration(), options: [.resetTracking])
    world.advance(bySeconds: 0.1)
    let reset = try #require(session.currentFrame).camera.transform
    #expect(simd_distance(reset.columns.3, before.columns.3) < 0.3)
  }

  @Test func scaleIsIgnoredAndSoIsWhatIsNotFinite() throws {
    let world = SimulatedWorld()
    let session = ARSession(on: world.makeDevice())
    session.run(ARWorldTrackingConfiguration())
    world.advance(bySeconds: 0.1)
    let before = try #require(session.currentFrame).camera.transform
    session.setWorldOrigin(relativeTransform: simd_float4x4(diagonal: simd_float4(3, 3, 3, 1)))
    let scaled = try #require(session.currentFrame).camera.transform
    #expect(simd_almost_equal_elements(scaled, before, 1e-6))
    session.setWorldOrigin(relativeTransform: simd_float4x4(Float.nan))
    #expect(session.currentFrame?.camera.transform == scaled)
  }

  /// The transform of a peer is in the world of the frames, as an app draws it.
  @Test func aPeerIsInTheWorldOfTheFrames() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    let arSession = ARSession(on: pair.devices[0])
    arSession.run(ARWorldTrackingConfiguration())
    pair.sessions[0].setARSession(arSession)
    pair.run(usesCamera: true)
    pair.advance(20)
    let object = try #require(pair.recorders[0].objects.last)
    let before = try #require(pair.sessions[0].worldTransform(for: object))
    arSession.setWorldOrigin(relativeTransform: Self.move)
    let after = try #require(pair.sessions[0].worldTransform(for: object))
    #expect(simd_distance(Self.move * after.columns.3, before.columns.3) < 1e-4)
    #expect(simd_distance(before.columns.3, after.columns.3) > 1)
    #expect(simd_float3x3(simd_quatf(after)) == matrix_identity_float3x3)
    // The engine's own world has not moved: the peer stays found.
    pair.advance(5)
    #expect(pair.recorders[0].convergences.last?.status == .converged)
    let later = try #require(pair.recorders[0].transforms.last.flatMap { $0 })
    #expect(simd_distance(later.columns.3, after.columns.3) < 0.3)
  }

  @Test func noWorldIsStored() throws {
    let world = SimulatedWorld()
    let session = ARSession(on: world.makeDevice())
    let queue = DispatchQueue(label: "map")
    session.delegateQueue = queue
    for (configuration, code) in [
      (AROrientationTrackingConfiguration(), ARError.Code.unsupportedConfiguration),
      (ARWorldTrackingConfiguration(), .insufficientFeatures),
    ] {
      session.run(configuration)
      let answer = Answer()
      session.getCurrentWorldMap { map, error in
        dispatchPrecondition(condition: .onQueue(queue))
        answer.hasMap = map != nil
        answer.code = (error as? ARError)?.code
      }
      queue.sync {}
      #expect(!answer.hasMap && answer.code == code)
    }
  }

  /// What a completion handler got.
  private final class Answer: @unchecked Sendable {
    // Unchecked: written on the queue, read after it is empty.
    var hasMap = true
    var code: ARError.Code?
  }

  @Test func aRayGoesThroughItsPixelAndMeetsNothing() throws {
    let world = SimulatedWorld()
    let session = ARSession(on: world.makeDevice())
    session.run(ARWorldTrackingConfiguration())
    world.advance(bySeconds: 0.1)
    let frame = try #require(session.currentFrame)
    let query = frame.raycastQuery(
      from: CGPoint(x: 0.25, y: 0.7), allowing: .estimatedPlane, alignment: .any)
    let pixel = frame.camera.projectPoint(
      query.origin + 3 * query.direction, orientation: .landscapeRight,
      viewportSize: frame.camera.imageResolution)
    #expect(abs(pixel.x - 480) < 0.05 && abs(pixel.y - 1008) < 0.05)
    #expect(abs(simd_length(query.direction) - 1) < 1e-6)
    #expect(session.raycast(query).isEmpty)
    #expect(session.trackedRaycast(query) { _ in } == nil)
  }

  @Test func anAnchorAndAMapSurviveAnArchive() throws {
    var transform = Self.move
    transform.columns.3.x = .leastNonzeroMagnitude
    let map = ARWorldMap()
    map.anchors = [ARAnchor(name: "keys", transform: transform), ARAnchor(transform: Self.move)]
    let data = try NSKeyedArchiver.archivedData(withRootObject: map, requiringSecureCoding: true)
    let read = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: ARWorldMap.self, from: data))
    #expect(read.anchors.map(\.identifier) == map.anchors.map(\.identifier))
    #expect(read.anchors.map(\.name) == ["keys", nil])
    #expect(read.anchors.map(\.transform) == [transform, Self.move])
  }
}
