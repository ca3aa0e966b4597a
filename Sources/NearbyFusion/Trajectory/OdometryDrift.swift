// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Odometry drift between the time of a posterior and that of a view of it.
struct OdometryDrift {
  /// Variance in the horizontal plane and along gravity, m².
  var horizontal = 0.0
  var vertical = 0.0
  /// Variance of yaw about the device, rad².
  var yaw = 0.0

  /// What lies between two points of the trajectory.
  @inline(__always)
  init(from a: TrajectoryPoint, to b: TrajectoryPoint, isPlanar: Bool) {
    horizontal = abs(b.positionDriftVariance - a.positionDriftVariance)
    vertical = isPlanar ? 0 : horizontal
    yaw = abs(b.yawDriftVariance - a.yawDriftVariance)
  }

  /// diag(h, v, h) + y² (up × d)(up × d)ᵀ for a peer at `d` from the device.
  @inline(__always)
  func covariance(for d: Vector3) -> SymmetricMatrix3 {
    SymmetricMatrix3(
      xx: horizontal + yaw * d.z * d.z, xy: 0, xz: -yaw * d.x * d.z, yy: vertical, yz: 0,
      zz: horizontal + yaw * d.x * d.x)
  }
}
