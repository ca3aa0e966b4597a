// SPDX-License-Identifier: Apache-2.0

/// What is known beforehand of the radio's errors other than white noise: their variances.
///
/// Constant ones last as long as the pair of radios; wandering ones change with the pose.
struct ErrorVariances: Sendable {
  var constant: PerComponent<Double>
  var wandering: PerComponent<Double>

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
    constant = PerComponent(
      range: ranging.rangeBiasSigma * ranging.rangeBiasSigma, azimuth: share * azimuth,
      elevation: share * elevation)
    wandering = PerComponent(
      range: range, azimuth: (1 - share) * azimuth, elevation: (1 - share) * elevation)
  }
}

extension FusionConfiguration {
  /// The share of an angle's pose-dependent error that does not wander.
  @inline(__always)
  var constantAngleShare: Double {
    features.contains(.constantAngleErrors) ? WanderModel.constantAngleShare : 0
  }
}
