// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry
import NearbySimulation
import Testing

@testable import ARKit
@testable import NearbyInteraction

/// The camera's axes and projections, by the geometry of a phone in a hand.
struct ARCameraTests {
  private static let orientations: [UIInterfaceOrientation] = [
    .portrait, .portraitUpsideDown, .landscapeRight, .landscapeLeft,
  ]

  /// A device somewhere, with any attitude.
  private func drawnPose(_ seed: UInt64) -> RigidTransform {
    var generator = SeededGenerator(seed: seed)
    func vector() -> Vector3 { Vector3(generator.normal(), generator.normal(), generator.normal()) }
    return RigidTransform(
      rotation: Rotation(angleRadians: 3 * generator.normal(), about: vector()),
      translation: 3 * vector())
  }

  private func camera(_ pose: RigidTransform) -> ARCamera {
    ARCamera(transform: ARCamera.transform(of: pose), trackingState: .normal)
  }

  private func single(_ v: Vector3) -> simd_float3 {
    simd_float3(Float(v.x), Float(v.y), Float(v.z))
  }

  // MARK: Axes

  /// As ARKit documents it: x along the long side, from the front camera toward the home button.
  @Test func theAxesOfAnUprightPhone() {
    let camera = camera(.identity)
    #expect(simd_distance(camera.transform.columns.0, simd_float4(0, -1, 0, 0)) < 1e-6)
    #expect(simd_distance(camera.transform.columns.1, simd_float4(1, 0, 0, 0)) < 1e-6)
    #expect(simd_distance(camera.transform.columns.2, simd_float4(0, 0, 1, 0)) < 1e-6)
    #expect(abs(camera.transform.determinant - 1) < 1e-6)
    #expect(simd_distance(camera.eulerAngles, simd_float3(0, 0, -.pi / 2)) < 1e-5)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func theViewMatrixOfPortraitHasDeviceAxes(_ seed: UInt64) {
    let (pose, point) = (drawnPose(seed), drawnPose(seed + 100).translation)
    let camera = camera(pose)
    let seen = camera.viewMatrix(for: .portrait) * simd_float4(single(point), 1)
    #expect(simd_distance(seen, simd_float4(single(pose.inverse.act(point)), 1)) < 1e-4)
    let same = camera.viewMatrix(for: .landscapeRight) * camera.transform
    #expect(simd_almost_equal_elements(same, matrix_identity_float4x4, 1e-4))
    let back = camera.worldFromDevice
    #expect(back.rotation.angle(to: pose.rotation) < 1e-5)
    #expect((back.translation - pose.translation).length < 1e-5)
  }

  /// The angle of arrival at the antennas and the camera agree about where the peer is.
  @Test func aDirectionIsInTheViewOfPortrait() throws {
    let world = SimulatedWorld()
    // The phone is tilted and turned, so that no axis is like another.
    let tilt =
      Rotation(angleRadians: 0.5, about: Vector3(0, 1, 0))
      * Rotation(angleRadians: 0.3, about: Vector3(1, 0, 0))
      * Rotation(angleRadians: -0.2, about: Vector3(0, 0, 1))
    let peer = Vector3(-1, 2, -4)
    let phone = world.makeDevice(
      motion: .resting(at: RigidTransform(rotation: tilt, translation: Vector3(0, 1.4, 0))))
    let tag = world.makeDevice(
      motion: .resting(at: RigidTransform(rotation: .identity, translation: peer)))
    let arSession = ARSession(on: phone)
    arSession.run(ARWorldTrackingConfiguration())
    let (here, there) = (NISession(on: phone), NISession(on: tag))
    let recorder = SessionRecorder()
    recorder.attach(to: here)
    here.run(NINearbyPeerConfiguration(peerToken: try #require(there.discoveryToken)))
    there.run(NINearbyPeerConfiguration(peerToken: try #require(here.discoveryToken)))
    world.advance(bySeconds: 3)
    recorder.drain()
    let directions = recorder.objects.compactMap(\.direction)
    try #require(directions.count > 10)
    let mean = simd_normalize(directions.reduce(.zero, +))
    let camera = try #require(arSession.currentFrame).camera
    // The angles are noisy: 4 degrees, in part slowly wandering. A quarter turn would be 0.7 rad.
    let truth = single(phone.truePose.inverse.act(peer))
    #expect(simd_dot(mean, simd_normalize(truth)) > cos(0.12))
    let worldFromView = camera.viewMatrix(for: .portrait).inverse
    let inWorld = worldFromView * simd_float4(mean, 0)
    #expect(abs(inWorld.y - simd_normalize(single(peer - Vector3(0, 1.4, 0))).y) < 0.12)
  }

  // MARK: Projections

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func straightAheadIsTheCentreOfEveryView(_ seed: UInt64) {
    let pose = drawnPose(seed)
    let ahead = single(pose.act(Vector3(0, 0, -2.5)))
    for orientation in Self.orientations {
      for size in [CGSize(width: 390, height: 844), CGSize(width: 1920, height: 1440)] {
        let place = camera(pose).projectPoint(ahead, orientation: orientation, viewportSize: size)
        #expect(abs(place.x - size.width / 2) < 0.01 && abs(place.y - size.height / 2) < 0.01)
      }
    }
  }

  /// Where a point to the right edge of the phone, and one toward its top, appear in each view.
  @Test(
    arguments: [
      (UIInterfaceOrientation.portrait, simd_float2(1, 0), simd_float2(0, -1)),
      (.portraitUpsideDown, simd_float2(-1, 0), simd_float2(0, 1)),
      (.landscapeRight, simd_float2(0, -1), simd_float2(-1, 0)),
      (.landscapeLeft, simd_float2(0, 1), simd_float2(1, 0)),
    ])
  func sidesAppearWhereTheyAre(
    _ orientation: UIInterfaceOrientation, _ right: simd_float2, _ top: simd_float2
  ) {
    let size =
      orientation.isPortrait
      ? CGSize(width: 390, height: 844) : CGSize(width: 844, height: 390)
    // The image fills the view: 1920 of its pixels are 844 points.
    let points = Float(1450 * 844.0 / 1920 * 0.1)
    for seed in 1...5 as ClosedRange<UInt64> {
      let pose = drawnPose(seed)
      func offset(_ inDevice: Vector3) -> simd_float2 {
        let place = camera(pose).projectPoint(
          single(pose.act(inDevice)), orientation: orientation, viewportSize: size)
        return simd_float2(Float(place.x - size.width / 2), Float(place.y - size.height / 2))
      }
      #expect(simd_distance(offset(Vector3(0.2, 0, -2)), points * right) < 0.05)
      #expect(simd_distance(offset(Vector3(0, 0.2, -2)), points * top) < 0.05)
    }
  }

  @Test func theIntrinsicsAreThoseOfTheProjection() {
    let camera = camera(drawnPose(3))
    let inView = simd_float3(0.3, -0.2, -2)
    let world = camera.transform * simd_float4(inView, 1)
    let pixel = camera.intrinsics * simd_float3(inView.x, -inView.y, -inView.z)
    let place = camera.projectPoint(
      simd_make_float3(world), orientation: .landscapeRight, viewportSize: camera.imageResolution)
    #expect(abs(place.x - CGFloat(pixel.x / pixel.z)) < 0.01)
    #expect(abs(place.y - CGFloat(pixel.y / pixel.z)) < 0.01)
    #expect(camera.imageResolution == CGSize(width: 1920, height: 1440))
  }

  @Test func depthIsZeroAtTheNearPlaneAndOneAtTheFar() {
    let projection = camera(.identity).projectionMatrix(
      for: .portrait, viewportSize: CGSize(width: 390, height: 844), zNear: 0.1, zFar: 20)
    for (distance, depth) in [(Float(0.1), Float(0)), (20, 1)] {
      let clip = projection * simd_float4(0, 0, -distance, 1)
      #expect(clip.w == distance && abs(clip.z / clip.w - depth) < 1e-5)
    }
    let usual = camera(.identity).projectionMatrix
    #expect(usual[0, 0] == Float(2 * 1450.0 / 1920) && usual[1, 1] == Float(2 * 1450.0 / 1440))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func aPlaceOnAFloorIsFoundAgain(_ seed: UInt64) throws {
    let pose = drawnPose(seed)
    let camera = camera(pose)
    let size = CGSize(width: 390, height: 844)
    // A plane through a visible point, whose normal is not perpendicular to the line of sight.
    let point = single(pose.act(Vector3(0.2, -0.3, -2)))
    let plane = simd_float4x4(
      RigidTransform(
        rotation: pose.rotation * Rotation(angleRadians: 0.6, about: Vector3(1, 0, 0)),
        translation: pose.act(Vector3(0.2, -0.3, -2))))
    for orientation in Self.orientations {
      let place = camera.projectPoint(point, orientation: orientation, viewportSize: size)
      let found = try #require(
        camera.unprojectPoint(
          place, ontoPlane: plane, orientation: orientation, viewportSize: size))
      #expect(simd_distance(found, point) < 2e-3)
    }
    var behind = plane
    behind.columns.3 = simd_float4(single(pose.act(Vector3(0, 0, 2))), 1)
    let none = camera.unprojectPoint(
      CGPoint(x: 195, y: 422), ontoPlane: behind, orientation: .portrait, viewportSize: size)
    #expect(none == nil)
  }
}
