// SPDX-License-Identifier: Apache-2.0
import Glibc
package import NearbyFusion

/// The residuals of one kind and one peer, in the order of time: white noise and an error that wanders.
///
/// The wandering error is a first-order Gauss-Markov process with the correlation of the viewpoints. Its
/// likelihood, from a Kalman filter with the error as its only state, tells both variances apart. The
/// evidence of a chain does not: there each density is raised to the power of its effective sample
/// share, and a power of a density is not normalised.
package struct ResidualSeries: Sendable {
  struct Value: Sendable {
    /// Measured minus predicted, metres or radians.
    var residual: Double
    /// The value's stated sigma over the configured one.
    var widening: Double
    var poseVariance: Double
    /// The correlation of the wandering error with that of the value before.
    var correlation: Double
  }

  var values: [Value] = []

  package var count: Int { values.count }

  /// The logarithm of the likelihood.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - white: The variance of white noise.
  ///   - wander: That of the wandering error.
  ///   - faults: How outliers arise.
  /// - Returns: The sum over the values of the logarithm of each one's density, given those before.
  package func logLikelihood(
    of kind: MeasurementKind, white: Double, wander: Double, _ faults: FaultModel
  ) -> Double {
    let outliers = faults.outlierShare(of: kind)
    let excess = faults.rangeExcess(sigma: (white + wander).squareRoot())
    var (mean, variance) = (0.0, wander)
    var sum = 0.0
    for value in values {
      mean *= value.correlation
      variance =
        value.correlation * value.correlation * (variance - wander) + wander
      let innovation = value.residual - mean
      let predicted =
        variance + white * value.widening * value.widening + value.poseVariance
      let square = innovation * innovation / predicted
      let inlier =
        (1 - outliers) * exp(-0.5 * square) / (2 * .pi * predicted).squareRoot()
      let density =
        inlier + outliers
        * faults.outlierDensity(of: kind, innovation: innovation, excess: excess)
      sum += log(max(density, 1e-300))
      let weight = inlier / max(density, 1e-300)
      let gain = variance / predicted
      mean += weight * gain * innovation
      variance -= weight * gain * variance * (1 - (1 - weight) * square)
    }
    return sum
  }
}
