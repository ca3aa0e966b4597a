// SPDX-License-Identifier: Apache-2.0

/// The variances of a sample's noise, as they are assumed before the sample is used: in the order of
/// ``Component``.
struct NoiseVariances: Sendable {
  /// Of each measured component's white noise.
  var white: InlineArray<3, Double>
  /// Of the wandering errors, at the configured sigmas.
  var wandering: InlineArray<3, Double>

  @inline(__always)
  init(_ noise: NoiseLevels, of components: Components, _ settings: Settings) {
    white = [
      components[0].map { noise[0].whiteVariance(stated: $0.sigma) } ?? 1,
      components[1].map { noise[1].whiteVariance(stated: $0.sigma) } ?? 1,
      components[2].map { noise[2].whiteVariance(stated: $0.sigma) } ?? 1,
    ]
    wandering = ErrorVariances(noise, settings.configuration).wandering
  }
}
