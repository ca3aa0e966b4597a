// SPDX-License-Identifier: Apache-2.0

/// The variances of a sample's noise, as they are assumed before the sample is used: in the order of
/// ``Component``.
struct NoiseVariances: Sendable {
  /// Of each component's white noise; of what was not measured, anything.
  var white: InlineArray<3, Double>
  /// Of the wandering errors, at the configured sigmas.
  var wandering: InlineArray<3, Double>

  @inline(__always)
  init(_ noise: NoiseLevels, of components: Components, _ settings: Settings) {
    white = [
      noise[0].whiteVariance(stated: components.sigmas[0]),
      noise[1].whiteVariance(stated: components.sigmas[1]),
      noise[2].whiteVariance(stated: components.sigmas[2]),
    ]
    wandering = ErrorVariances(noise, settings.configuration).wandering
  }
}
