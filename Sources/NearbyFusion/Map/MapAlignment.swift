// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// Where the odometry's world lies in a map that does not drift, by what peers at rest say of the path.
///
/// The map is the odometry's world as it was when the joint fit began to collect samples, which is with
/// the first sample of a peer that takes part. After the odometry's world was lost, it is another map. An
/// engine that was given a ``PeerMap`` takes that one's frame as soon as the device has been found in it.
public struct MapAlignment: Hashable, Sendable, Codable {
  /// Takes points of the odometry's world, as it is now, to the map: a turn about gravity and a shift.
  public var mapFromWorld: RigidTransform
  /// The covariance of the device's place in the map, m².
  public var placeCovariance: SymmetricMatrix3
  /// The variance of the device's yaw in the map, rad².
  public var yawVariance: Double
}

extension FusionEngine {
  /// Where the odometry's world lies in the map, as of the newest pose; `nil` before the first joint fit.
  ///
  /// With a map it is `nil` until the device has been found in it. No joint fit is made of moving peers, nor of a single peer whose elevation or height difference is
  /// measured.
  ///
  /// With the device at d in the odometry's world and at c, turned by ψ about gravity, in the map, as of
  /// the newest fit, it is `p ↦ c + R(ψ) (p - d)`. What the odometry has drifted since then is in the
  /// covariance. The device's pose in the map is `mapFromWorld * worldFromDevice`.
  public var mapAlignment: MapAlignment? {
    guard localizer == nil || joint.isInMap, let correction = joint.correction,
      let newest = trajectory.newest,
      newest.world == correction.device.world
    else { return nil }
    return correction.alignment(
      at: newest, isPlanar: configuration.odometry.isPlanar)
  }
}

extension DeviceCorrection {
  /// The alignment at a later device point.
  func alignment(at later: TrajectoryPoint, isPlanar: Bool) -> MapAlignment {
    let turn = Rotation(angleRadians: yawRadians, about: Vector3(0, 1, 0))
    let from = device.worldFromDevice.translation
    let step = turn.act(later.worldFromDevice.translation - from)
    let swing = OdometryDrift.swing(of: step)
    let drift = OdometryDrift(from: device, to: later, isPlanar: isPlanar)
    func element(_ row: Int, _ column: Int) -> Double { covariance[4 * column + row] }
    let yaw = element(3, 3)
    let withYaw = Vector3(element(0, 3), element(1, 3), element(2, 3))
    let variance = yaw + drift.yaw / 3
    let spread = SymmetricMatrix3(
      xx: element(0, 0) + 2 * swing.x * withYaw.x + variance * swing.x * swing.x + drift.horizontal,
      xy: element(0, 1) + swing.x * withYaw.y,
      xz: element(0, 2) + swing.x * withYaw.z + swing.z * withYaw.x + variance * swing.x * swing.z,
      yy: element(1, 1) + drift.vertical, yz: element(1, 2) + swing.z * withYaw.y,
      zz: element(2, 2) + 2 * swing.z * withYaw.z + variance * swing.z * swing.z + drift.horizontal)
    return MapAlignment(
      mapFromWorld: RigidTransform(rotation: turn, translation: self.place - turn.act(from)),
      placeCovariance: spread, yawVariance: yaw + drift.yaw)
  }
}
