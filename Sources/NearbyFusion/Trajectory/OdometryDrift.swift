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

  /// How fast a device in a hand turns about gravity, one sigma, rad/s.
  private static let turnRateSigma = 0.5

  /// Adds what the device may have moved while no pose told of it: people carry it, as they carry peers.
  ///
  /// - Parameters:
  ///   - seconds: For how long.
  ///   - motion: How fast people move.
  ///   - isPlanar: Whether the world is two-dimensional.
  mutating func addUnseenMotion(
    seconds: Double, _ motion: MotionConfiguration, isPlanar: Bool
  ) {
    let straying = motion.strayingVariance(seconds: seconds)
    let steepness = motion.verticalSpeedSigma / motion.horizontalSpeedSigma
    horizontal += straying
    vertical += isPlanar ? 0 : steepness * steepness * straying
    let turn = Self.turnRateSigma * seconds
    yaw += turn * turn
  }

  /// diag(h, v, h) + y² (up × d)(up × d)ᵀ for a peer at `d` from the device.
  @inline(__always)
  func covariance(for d: Vector3) -> SymmetricMatrix3 {
    SymmetricMatrix3(
      xx: horizontal + yaw * d.z * d.z, xy: 0, xz: -yaw * d.x * d.z, yy: vertical, yz: 0,
      zz: horizontal + yaw * d.x * d.x)
  }
}
