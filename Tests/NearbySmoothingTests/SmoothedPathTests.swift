// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import Testing

@testable import NearbyFusion
@testable import NearbySmoothing

/// The device's path in a map that does not drift.
@Suite("Smoothed path")
struct SmoothedPathTests {
  private func knot(_ seconds: Double, at place: Vector3, world: Int = 0) -> DriftKnot {
    var device = TrajectoryPoint(
      worldFromDevice: RigidTransform(rotation: .identity, translation: place),
      timestamp: Timestamp(nanoseconds: Int64(seconds * 1e9)))
    device.world = world
    return DriftKnot(device: device)
  }

  @Test("the first knot's world is the map; between knots the correction is in between")
  func interpolation() {
    let path = SmoothedPath(
      [knot(10, at: Vector3(0, 0, 0)), knot(20, at: Vector3(4, 0, 0))],
      [
        KnotCorrection(place: Vector3(1, 0, 0), yawRadians: 0),
        KnotCorrection(place: Vector3(7, 0, 0), yawRadians: 0),
      ])
    func correction(at seconds: Double) -> Vector3 {
      path.mapFromWorld(at: Timestamp(nanoseconds: Int64(seconds * 1e9))).translation
    }
    #expect(correction(at: 5).length < 1e-12)
    #expect(correction(at: 10).length < 1e-12)
    #expect((correction(at: 15) - Vector3(1, 0, 0)).length < 1e-12)
    #expect((correction(at: 20) - Vector3(2, 0, 0)).length < 1e-12)
    #expect((correction(at: 30) - Vector3(2, 0, 0)).length < 1e-12)
  }

  @Test("a turned knot takes its own place to its correction")
  func turned() {
    let path = SmoothedPath(
      [knot(0, at: .zero), knot(1, at: Vector3(2, 1, 3))],
      [
        KnotCorrection(place: .zero, yawRadians: 0),
        KnotCorrection(place: Vector3(2, 1, 4), yawRadians: 0.5),
      ])
    let transform = path.mapFromWorld(at: Timestamp(nanoseconds: 1_000_000_000))
    #expect((transform.act(Vector3(2, 1, 3)) - Vector3(2, 1, 4)).length < 1e-12)
    let ahead = transform.act(Vector3(2, 1, 2)) - Vector3(2, 1, 4)
    #expect((ahead - YawTurn(0.5).act(Vector3(0, 0, -1))).length < 1e-12)
  }

  @Test("nothing is interpolated across a jump of the odometry's world")
  func jump() {
    let path = SmoothedPath(
      [knot(0, at: .zero), knot(10, at: Vector3(5, 0, 0), world: 1)],
      [
        KnotCorrection(place: .zero, yawRadians: 0),
        KnotCorrection(place: .zero, yawRadians: 0),
      ])
    let before = path.mapFromWorld(at: Timestamp(nanoseconds: 9_000_000_000))
    #expect(before.translation.length < 1e-12)
  }
}
