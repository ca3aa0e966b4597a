// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What measurements say of the size of a fault of a survey.
///
/// A fault that may be of any size explains a right survey, too, with a size of nearly zero. What is to be
/// excluded is a fault that matters: one that displaces an anchor by certain lengths, in any direction. Its
/// evidence is that of the fault of any size times the mean, over those displacements d, of the posterior
/// density of d over its prior density.
enum FaultSize {
  /// Displacements that make claims wrong, metres.
  static let material = [0.5, 0.71, 1.0, 1.41]
  /// Displacements that make claims wrong even where a place is taken as uncertain by ``looseness``: 3.6 of it
  /// and more.
  static let large = material.map { 2.5 * $0 }
  /// The uncertainty of a place that may be wrong by less than a large displacement, one sigma along each axis,
  /// metres.
  static let looseness = 0.35

  /// The number of directions, evenly spread over the sphere (Fibonacci's lattice).
  private static let directionCount = 400

  private static let directions: [Vector3] = (0..<directionCount).map { step in
    let rise = 1 - (2 * Double(step) + 1) / Double(directionCount)
    let (level, angle) = ((1 - rise * rise).squareRoot(), 2.399963229728653 * Double(step))
    return Vector3(level * cos(angle), rise, level * sin(angle))
  }

  /// The logarithm of the factor by which the evidence of a displacement that matters differs from that of any.
  ///
  /// - Parameters:
  ///   - lengths: The displacements that matter, metres.
  ///   - mean: The mean of the displacement, metres.
  ///   - covariance: Its covariance, m².
  ///   - priorSigma: The prior sigma along each axis, metres.
  /// - Returns: The logarithm of the factor.
  static func logFactor(
    of lengths: [Double], mean: Vector3, _ covariance: SymmetricMatrix3, priorSigma: Double
  ) -> Double {
    let axes = covariance.principalAxes
    let scale = axes[0].variance * axes[1].variance * axes[2].variance
    guard scale > 0, let inverse = covariance.positiveDefiniteInverse else { return 0 }
    let logs = lengths.flatMap { length in
      directions.map { direction in
        let way = length * direction
        let prior = way.dot(way) / (priorSigma * priorSigma)
        return 0.5 * (prior - inverse.quadraticForm(way - mean))
      }
    }
    return logMean(logs) + 3 * log(priorSigma) - 0.5 * log(scale)
  }

  /// The same of a displacement along one line.
  static func logFactor(
    of lengths: [Double], mean: Double, sigma: Double, priorSigma: Double
  ) -> Double {
    let logs = lengths.flatMap { length in
      [-length, length].map { way in
        let (prior, posterior) = (way / priorSigma, (way - mean) / sigma)
        return 0.5 * (prior * prior - posterior * posterior)
      }
    }
    return logMean(logs) + log(priorSigma / sigma)
  }

  /// The logarithm of the mean of what has these logarithms.
  private static func logMean(_ logs: [Double]) -> Double {
    let most = logs.max() ?? 0
    return most + log(logs.reduce(0) { $0 + exp($1 - most) } / Double(logs.count))
  }
}
