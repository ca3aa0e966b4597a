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
    white = InlineArray(repeating: 1)
    for index in 0..<3 {
      if let component = components[index] {
        white[index] = noise[index].whiteVariance(stated: component.sigma)
      }
    }
    wandering = ErrorVariances(noise, settings.configuration).wandering
  }
}
