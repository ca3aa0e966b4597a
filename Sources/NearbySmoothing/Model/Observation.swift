// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// A sample that can be used, tied to the knot after which it was made.
struct Observation: Sendable {
  /// From where and when, and of whom.
  var cell: ChainProblem.Cell
  /// What was measured, by kind.
  var measurements: PerKind<MeasuredValue?>
  /// Variance that the pose adds: to a range, and to an angle.
  var poseVariance: (range: Double, angle: Double)
  /// The variance that drift gives the antenna's velocity along each axis, (m/s)².
  var velocityVariance = 0.0
  /// Variance of the interpolated pose, m² and rad².
  var interpolationVariance = 0.0
  /// About how far away the peer is, metres.
  var distance = 1.0
  /// How noisy each kind is.
  var noise = PerKind(repeating: MeasurementNoise())

  subscript(kind: MeasurementKind) -> MeasuredValue? { measurements[kind] }

  /// Sets the variance that the pose adds: what is interpolated is off by a Brownian bridge between the
  /// knots.
  mutating func setPoseVariance(_ step: DriftStep) {
    let bridge = cell.share * (1 - cell.share)
    let place = interpolationVariance + bridge * step.drift.horizontal
    let turn = interpolationVariance + bridge * step.drift.yaw
    poseVariance = (place, place / (distance * distance) + turn)
  }
}

/// How noisy one measurement of one sample is, and how much information it has.
struct MeasurementNoise: Hashable, Sendable {
  /// The variance of the value, all errors together.
  var variance = 1.0
  /// The power to which the value's likelihood is raised.
  ///
  /// Errors that wander are nearly the same in neighbouring samples, which together hold no more than
  /// one draw of them. A likelihood to a power below one counts as much.
  var power = 1.0

  init(variance: Double = 1, power: Double = 1) { (self.variance, self.power) = (variance, power) }

  /// That of errors of these variances.
  ///
  /// - Parameters:
  ///   - white: Of noise that is independent from sample to sample.
  ///   - wander: Of the error that wanders with the viewpoint.
  ///   - pose: Of the pose.
  ///   - draw: How much of an independent draw of the wandering error the sample holds.
  init(white: Double, wander: Double, pose: Double, draw: Double) {
    variance = white + wander + pose
    power = variance / (white + wander / draw + pose)
  }
}
