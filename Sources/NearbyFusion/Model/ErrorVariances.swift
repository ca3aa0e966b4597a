// SPDX-License-Identifier: Apache-2.0

/// The variances of the errors of a kind of measurement, as they are assumed before a value is used.
///
/// White noise is independent from sample to sample, a constant error lasts as long as the pair of
/// radios, a wandering one changes with the pose (``CorrelatedNoise``).
struct ErrorVariances: Hashable, Sendable {
  var white: Double
  var constant: Double
  var wandering: Double
}

extension FusionConfiguration {
  /// The share of an angle's pose-dependent error that does not wander.
  @inline(__always)
  private var constantAngleShare: Double {
    features.contains(.constantAngleErrors) ? CorrelatedNoise.constantAngleShare : 0
  }

  /// The variances of a kind's errors.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - noise: How the accuracy splits into white noise and pose-dependent error.
  ///   - sigma: The stated accuracy of the value, which scales the white noise; the other errors are
  ///     the radio's, at its configured accuracy.
  /// - Returns: The variances.
  @inline(__always)
  func errorVariances(
    of kind: MeasurementKind, _ noise: NoiseLevel, stated sigma: Double
  ) -> ErrorVariances {
    let white = noise.whiteVariance(stated: sigma)
    let poseDependent = noise.wanderVariance(stated: ranging.sigma(of: kind))
    guard kind.isAngle else {
      return ErrorVariances(
        white: white, constant: ranging.rangeBiasSigma * ranging.rangeBiasSigma,
        wandering: poseDependent)
    }
    let share = constantAngleShare
    return ErrorVariances(
      white: white, constant: share * poseDependent, wandering: (1 - share) * poseDependent)
  }

  /// The same of all kinds, at the configured accuracies.
  func errorVariances(_ noise: NoiseLevels) -> PerKind<ErrorVariances> {
    PerKind { errorVariances(of: $0, noise[$0], stated: ranging.sigma(of: $0)) }
  }
}
