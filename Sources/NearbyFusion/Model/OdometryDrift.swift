// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension OdometryConfiguration {
  /// Whether it has errors that are the same all the time, and are estimated.
  package var hasConstantErrors: Bool { turnRateSigmaRadians > 0 || scaleSigma > 0 }

  /// The prior sigma of the steady turn, rad/s: an odometry with a scale error turns, too.
  package var priorTurnRateSigma: Double {
    scaleSigma > 0 ? max(turnRateSigmaRadians, Self.leastTurnRateSigma) : turnRateSigmaRadians
  }

  /// That of visual-inertial odometry: 0.02° a second.
  private static let leastTurnRateSigma = 0.02 * Double.pi / 180
}

/// The drift of the odometry's world between two moments: the one place that says how variances of
/// position and yaw, which grow with the path, move what is seen.
package struct OdometryDrift: Hashable, Sendable {
  /// Variance per horizontal axis and along gravity, m².
  package var horizontal = 0.0
  package var vertical = 0.0
  /// Variance of yaw about the device, rad².
  package var yaw = 0.0

  /// What lies between two points of the trajectory.
  @inline(__always)
  package init(from a: TrajectoryPoint, to b: TrajectoryPoint, isPlanar: Bool) {
    horizontal = abs(b.positionDriftVariance - a.positionDriftVariance)
    vertical = isPlanar ? 0 : horizontal
    yaw = abs(b.yawDriftVariance - a.yawDriftVariance)
  }

  /// What gathers on a path.
  ///
  /// - Parameters:
  ///   - metres: The path's length.
  ///   - positionDrift: The density of the position's random walk, m/√m.
  ///   - yawDriftRadians: The density of the yaw's, rad/√m.
  package init(metres: Double, positionDrift: Double, yawDriftRadians: Double) {
    horizontal = positionDrift * positionDrift * metres
    vertical = horizontal
    yaw = yawDriftRadians * yawDriftRadians * metres
  }

  /// Adds a slip.
  package mutating func add(_ slip: OdometrySlip, isPlanar: Bool) {
    horizontal += slip.horizontal
    if !isPlanar { vertical += slip.vertical }
    yaw += slip.yaw
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

  /// Adds the variance of a step's end that yaw drift within the step causes, `yaw ‖step‖²/3` per horizontal
  /// axis: yaw is a Brownian motion, and the displacement is its integral.
  @inline(__always)
  package mutating func addSwing(of step: Vector3) { horizontal += yaw * step.dot(step) / 3 }

  /// The horizontal variance that drift gives a point at a distance d from the device, m²: `h + d² yaw`.
  @inline(__always)
  package func displacement(atSquaredDistance squared: Double) -> Double {
    horizontal + squared * yaw
  }

  /// up × d: how a point at `d` moves with yaw, metres per radian.
  @inline(__always)
  package static func swing(of d: Vector3) -> Vector3 { Vector3(d.z, 0, -d.x) }

  /// diag(h, v, h) + y² (up × d)(up × d)ᵀ for a peer at `d` from the device.
  @inline(__always)
  func covariance(for d: Vector3) -> SymmetricMatrix3 {
    SymmetricMatrix3(
      xx: horizontal + yaw * d.z * d.z, xy: 0, xz: -yaw * d.x * d.z, yy: vertical, yz: 0,
      zz: horizontal + yaw * d.x * d.x)
  }
}

/// The odometry's drift between a keyframe and now, split in what a fit estimates and what it does not.
///
/// Drift is a Brownian motion in the variance it has gathered. Of its Karhunen-Loève series over the
/// window the first term, `√V (2√2/π) sin(π v/2V)` for a drift of variance `v` out of `V`, holds 81 %
/// of the variance; it gets an amplitude of its own. The other terms are noise that is common to
/// neighbouring keyframes, and so counts for more than independent noise.
struct DriftInWindow {
  /// The standard deviation of what the fit estimates, and the variance of what it does not.
  private(set) var amplitude: Double
  private(set) var rest: Double

  /// The share of all keyframes that are off together.
  private static let together = 0.125
  init(since variance: Double, all total: Double, keyframes: Int, isFlat: Bool) {
    guard total > 0 else {
      (amplitude, rest) = (0, 0)
      return
    }
    amplitude =
      total.squareRoot() * (2 * 2.0.squareRoot() / .pi) * sin(.pi / 2 * variance / total)
    rest =
      max(0, variance - amplitude * amplitude)
      * Self.dilution(keyframes: keyframes, isFlat: isFlat)
  }

  /// By what factor noise counts for more that is common to neighbouring keyframes.
  ///
  /// On a flat walk with ranges a peer's distance from its plane enters at second order, by centimetres; drift that
  /// the fit does not know as such would be taken for it. So it counts for more there, except for peers at rest, of
  /// which the joint fit knows the drift.
  static func dilution(keyframes: Int, isFlat: Bool) -> Double {
    max(1, (isFlat ? FlatWalk.keyframesTogether : together) * Double(keyframes))
  }
}
