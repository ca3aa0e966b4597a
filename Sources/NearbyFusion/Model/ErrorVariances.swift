// SPDX-License-Identifier: Apache-2.0

/// The variances of the errors of a kind of measurement that change from sample to sample, as they are
/// assumed before a value is used.
struct ErrorVariances: Hashable, Sendable {
  /// Of noise that is independent from sample to sample.
  var white: Double
  /// Of the error that wanders with the pose (``CorrelatedNoise``), or of ``HeightOffset``.
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
  ///   - sigma: The stated accuracy of the value, which scales the white noise; the wandering error is
  ///     the radio's, at its configured accuracy.
  /// - Returns: The variances.
  @inline(__always)
  func errorVariances(
    of kind: MeasurementKind, _ noise: NoiseLevel, stated sigma: Double
  ) -> ErrorVariances {
    let white = noise.whiteVariance(stated: sigma)
    if kind == .heightDifference {
      return ErrorVariances(white: white, wandering: HeightOffset(ranging).variance)
    }
    let poseDependent = noise.wanderVariance(stated: ranging.sigma(of: kind))
    return ErrorVariances(
      white: white,
      wandering: kind.isAngle ? (1 - constantAngleShare) * poseDependent : poseDependent)
  }

  /// The same of all kinds, at the configured accuracies.
  func errorVariances(_ noise: NoiseLevels) -> PerKind<ErrorVariances> {
    PerKind { errorVariances(of: $0, noise[$0], stated: ranging.sigma(of: $0)) }
  }

  /// The prior variances of the errors that last as long as the pair of radios.
  func constantErrorVariances(_ noise: NoiseLevels) -> PerKind<Double> {
    PerKind { kind in
      switch kind {
      case .range: ranging.rangeBiasSigma * ranging.rangeBiasSigma
      case .azimuth, .elevation:
        constantAngleShare * noise[kind].wanderVariance(stated: ranging.sigma(of: kind))
      // Their offset is constant and wandering error in one.
      case .heightDifference: 0
      }
    }
  }
}
