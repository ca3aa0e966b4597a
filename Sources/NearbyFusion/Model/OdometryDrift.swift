// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

extension OdometryConfiguration {
  /// Whether it has errors that are the same all the time, and are estimated.
  package var hasConstantErrors: Bool { turnRateSigmaRadians > 0 || scaleSigma > 0 }
}

/// The drift of the odometry's world between two moments.
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

  /// Adds the motion of a device while no pose told of it: people carry it, as they carry peers.
  ///
  /// - Parameters:
  ///   - seconds: For how long.
  ///   - motion: How people move.
  mutating func addUnseenMotion(seconds: Double, _ motion: MotionModel) {
    let displacement = motion.displacementVariances(seconds: seconds)
    horizontal += displacement.horizontal
    vertical += displacement.vertical
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
