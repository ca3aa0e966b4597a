// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The difference between a measured and a predicted value, with its variance.
struct Innovation: Hashable {
  /// Measured minus predicted, metres or radians.
  var value: Double
  /// Its variance.
  var variance: Double

  /// Whether it fails a gate of a number of standard deviations.
  func isBeyond(_ sigmas: Double) -> Bool { value * value > sigmas * sigmas * variance }

  /// The logarithm of its density as an inlier, up to a constant.
  var logLikelihood: Double { -0.5 * (value * value / variance + log(variance)) }
}
