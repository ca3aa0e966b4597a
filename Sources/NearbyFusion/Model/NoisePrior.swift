// SPDX-License-Identifier: Apache-2.0

/// How the stated accuracy σ of a kind of measurement splits into white noise and wandering error: what
/// is assumed before it is measured, and how it is measured.
///
/// A stated σ is the accuracy of a value, all errors together. Real sensors differ in what it is made
/// of: one sensor's range errors are white, another's hardly change from sample to sample and move with
/// the pose. Taking the second for the first makes an estimate over-confident by the square root of the
/// correlation length. So two shares of σ are measured:
///
/// - κ, the white one, from the differences d of consecutive residuals under one state, which hold
///   hardly any wandering error: E|d| = 2 κ σ/√π;
/// - τ, all of it, from the residuals e with nothing but the position, bias and scale taken out, each
///   weighted by the decorrelation of the wandering error since the one before: E|e| = τ σ √(2/π).
///
/// Then the white variance is (κ σ)² and the wandering one max((τ σ)² - (κ σ)², (floor σ)²). The filter
/// and the smoother both learn by this.
package struct NoisePrior: Hashable, Sendable, Codable {
  /// κ to begin with.
  package let whiteShare: Double
  /// The least white noise and the least wandering error, as shares of σ.
  private let whiteFloor: Double
  private let wanderFloor: Double
  /// By how much what is learnt must be above a floor before it counts: what is known needs proof to
  /// the contrary, and the larger of two estimates that are both right is too large.
  private let tolerance: Double

  /// The weight of κ's prior, and τ's prior and its weight, in samples.
  package static let whiteWeight = 15.0
  package static let totalShare = 1.0
  package static let totalWeight = 30.0
  /// Residuals count with at most so many sigmas, and shares stay below.
  private static let mostSigmas = 4.0
  private static let mostShare = 3.0
  /// No radio's noise is quite white.
  private static let leastWander = 0.03

  init(
    whiteShare: Double, whiteFloor: Double, wanderFloor: Double, tolerance: Double = 0
  ) {
    self.whiteShare = whiteShare
    self.whiteFloor = whiteFloor
    self.wanderFloor = wanderFloor
    self.tolerance = tolerance
  }

  /// The prior of a kind.
  package init(of kind: MeasurementKind, _ ranging: RangingConfiguration) {
    let share = ranging.whiteShare(of: kind)
    if ranging.whiteSharesAreKnown {
      // The radio may prove worse, but not better.
      self.init(
        whiteShare: share, whiteFloor: share,
        wanderFloor: max((1 - share * share).squareRoot(), Self.leastWander), tolerance: 0.1)
    } else {
      // As recorded sensors were at best.
      self.init(
        whiteShare: share, whiteFloor: kind.isAngle ? 0.5 : 0.2,
        wanderFloor: kind.isAngle ? 0.8 : 0.2)
    }
  }

  // MARK: Measuring

  /// The κ of one difference of consecutive residuals, in sigmas.
  @inline(__always)
  package static func whiteShare(ofDifference difference: Double) -> Double {
    min(abs(difference), mostSigmas) * (Double.pi.squareRoot() / 2)
  }

  /// The τ of one residual, in sigmas.
  @inline(__always)
  package static func totalShare(ofResidual residual: Double) -> Double {
    min(abs(residual), mostSigmas) * (Double.pi / 2).squareRoot()
  }

  /// κ within what is assumed.
  @inline(__always)
  package func whiteShare(measured share: Double) -> Double {
    min(max(share - tolerance, whiteFloor), Self.mostShare)
  }

  /// The square of the share of the wandering error.
  ///
  /// - Parameters:
  ///   - total: τ as it was measured.
  ///   - white: κ within what is assumed.
  /// - Returns: The variance of the wandering error over σ².
  @inline(__always)
  package func wanderVarianceShare(measuredTotal total: Double, white: Double) -> Double {
    let total = total - tolerance
    return max(total * total - white * white, wanderFloor * wanderFloor)
  }
}
