// SPDX-License-Identifier: Apache-2.0

extension MeasurementKind {
  /// The stationary variance of the kind's wandering error, m² or rad²: the one place that says so.
  ///
  /// - Parameters:
  ///   - part: The part of the accuracy's square that wanders, as it is learnt: `(τσ)² - (κσ)²`
  ///     (``NoisePrior``). σ is the configured accuracy in the filter, whose process has one variance
  ///     however accurate single values are stated to be. In the fit of a window, the joint fit and
  ///     the smoother each value has an error of its own, with its own stated accuracy. Both are the
  ///     same where no accuracy is stated.
  ///   - offset: The offset of height differences, which is no part of their accuracy.
  /// - Returns: The variance.
  @inline(__always)
  package func wanderingVariance(
    part: @autoclosure () -> Double, _ offset: @autoclosure () -> HeightOffset
  ) -> Double {
    switch wandering {
    case .withPlace, .withDirection: part()
    case .withTime: offset().variance
    }
  }
}

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
    let wandering = kind.wanderingVariance(
      part: noise.wanderVariance(stated: ranging.sigma(of: kind)), HeightOffset(ranging))
    return ErrorVariances(
      white: noise.whiteVariance(stated: sigma),
      wandering: kind.isAngle ? (1 - constantAngleShare) * wandering : wandering)
  }

  /// The same of all kinds, at the configured accuracies.
  func errorVariances(_ noise: NoiseLevels) -> PerKind<ErrorVariances> {
    PerKind { errorVariances(of: $0, noise[$0], stated: ranging.sigma(of: $0)) }
  }

  /// The prior variances of the errors that last as long as the pair of radios.
  func constantErrorVariances(_ noise: NoiseLevels) -> PerKind<Double> {
    PerKind { kind in
      ranging.constantVariance(
        of: kind,
        angular: constantAngleShare
          * noise[kind].wanderVariance(stated: ranging.sigma(of: kind)))
    }
  }
}
