// SPDX-License-Identifier: Apache-2.0

/// The variances of a sample's noise, as they are assumed before the sample is used.
struct NoiseVariances: Sendable {
  /// Of each component's white noise; of what was not measured, anything.
  var white: PerComponent<Double>
  /// Of the wandering errors, at the configured sigmas.
  var wandering: PerComponent<Double>
}
