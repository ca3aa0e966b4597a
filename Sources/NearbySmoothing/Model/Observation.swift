// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import NearbyFusion
import NearbyGeometry

/// A sample that can be used, tied to the knot after which it was made.
struct Observation: Sendable {
  /// The peer's place among the problem's peers.
  var peer: Int
  /// The sample's knot.
  var knot: Int
  /// Seconds from the knot to the sample.
  var secondsSinceKnot: Double
  /// What was measured and from where, in the odometry's world; its noise is ``noise``.
  var measurement: nearby_measurement
  /// The stated sigmas.
  var sigma: InlineArray<3, Double>
  /// Variance that the pose adds: to a range, and to an angle.
  var poseVariance: (range: Double, angle: Double)
  /// The probability that a component is an outlier before it is looked at.
  var outlierShare: InlineArray<3, Double>
  /// How noisy each component is.
  var noise: InlineArray<3, ComponentNoise> = InlineArray(repeating: ComponentNoise())

  func has(_ component: Int) -> Bool { measurement.present & 1 << Int32(component) != 0 }

  func value(_ component: Int) -> Double {
    component == 0
      ? measurement.value.0 : component == 1 ? measurement.value.1 : measurement.value.2
  }
}

/// How noisy one component of one sample is, and how much it tells.
struct ComponentNoise: Hashable, Sendable {
  /// The variance of the value, all errors together.
  var variance = 1.0
  /// The power to which the value's likelihood is raised.
  ///
  /// Errors that wander are nearly the same in neighbouring samples, which together hold no more than
  /// one draw of them. A likelihood to a power below one counts as much.
  var power = 1.0
}
