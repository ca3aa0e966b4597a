// SPDX-License-Identifier: Apache-2.0

/// What is known beforehand of the radio's errors other than white noise: their variances, in the
/// order of ``Component``.
///
/// Constant ones last as long as the pair of radios; wandering ones change with the pose.
struct ErrorVariances: Sendable {
  var constant: InlineArray<3, Double>
  var wandering: InlineArray<3, Double>

  /// At the configured sigmas.
  ///
  /// - Parameters:
  ///   - noise: What share of each sigma is not white.
  ///   - configuration: The sigmas.
  @inline(__always)
  init(_ noise: NoiseLevels, _ configuration: FusionConfiguration) {
    let ranging = configuration.ranging
    let range = noise.range.wanderVariance(stated: ranging.rangeSigma)
    let azimuth = noise.azimuth.wanderVariance(stated: ranging.azimuthSigmaRadians)
    let elevation = noise.elevation.wanderVariance(stated: ranging.elevationSigmaRadians)
    let share = configuration.constantAngleShare
    constant = [
      ranging.rangeBiasSigma * ranging.rangeBiasSigma, share * azimuth, share * elevation,
    ]
    wandering = [range, (1 - share) * azimuth, (1 - share) * elevation]
  }
}

extension FusionConfiguration {
  /// The share of an angle's pose-dependent error that does not wander.
  @inline(__always)
  var constantAngleShare: Double {
    features.contains(.constantAngleErrors) ? WanderModel.constantAngleShare : 0
  }
}
