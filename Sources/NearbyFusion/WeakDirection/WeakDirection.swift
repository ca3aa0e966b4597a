// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The direction in which a place is known worst, and how a Gaussian is split along it.
///
/// With ranges from a level walk the height enters at second order: a shell of radius r bends by
/// δ²/2r within δ. A filter that linearises at one height gains information about it that the data do
/// not hold, because the gradient, height over range, is that of the mean and not of the truth. So where
/// one direction is much wider than the others, a place goes on as several narrow Gaussians side by side
/// (a Gaussian sum, Alspach and Sorenson 1972): each is flat within itself, and how the heights compare
/// follows from the likelihoods of the samples.
struct WeakDirection {
  /// The direction, a unit vector.
  private(set) var axis: Vector3
  /// The variance along it, m².
  private(set) var variance: Double
  /// The sum of the variances across it, m².
  private let varianceAcross: Double

  /// A direction is weak when its variance is so many times that of both others.
  private static let elongation = 4.0
  /// A shell that bends by less than this share of a range's sigma is flat, however many ranges come.
  private static let flatShare = 0.02
  /// The Gaussians reach so many sigmas to either side, and are so many of their own sigmas apart.
  private static let reach = 2.5
  private static let spacing = 1.2
  /// So many Gaussians at most, an odd number.
  private static let mostParts = 31

  /// That of a covariance of the position, by power iteration: exact when there is one to speak of.
  init(_ covariance: SymmetricMatrix3) {
    var axis = Vector3(0, 1, 0)
    for _ in 0..<32 {
      let next = covariance.times(axis)
      let length = next.length
      guard length > 0 else { break }
      axis = next / length
    }
    self.axis = axis
    variance = covariance.quadraticForm(axis)
    varianceAcross = max(covariance.trace - variance, 0)
  }

  /// The widest Gaussian within which the shell of a radius is flat.
  ///
  /// - Parameters:
  ///   - distance: The radius, metres.
  ///   - rangeSigma: The accuracy of ranges, metres.
  /// - Returns: Its variance, m².
  private static func flatVariance(distance: Double, rangeSigma: Double) -> Double {
    2 * flatShare * rangeSigma * distance
  }

  /// The Gaussians in place of one.
  struct Parts {
    /// Where each stands along the axis, from the mean, and its share.
    var offsets: [(metres: Double, share: Double)]
    /// The variance of each along the axis, m².
    var variance: Double
  }

  /// The Gaussians in place of one, each narrow enough to be flat within itself.
  ///
  /// - Parameters:
  ///   - distance: From the device to the place, metres.
  ///   - rangeSigma: The accuracy of ranges, metres.
  /// - Returns: The parts; `nil` when no split is needed.
  func parts(distance: Double, rangeSigma: Double) -> Parts? {
    let flat = Self.flatVariance(distance: distance, rangeSigma: rangeSigma)
    guard variance > flat, variance > Self.elongation * varianceAcross else { return nil }
    let sigma = variance.squareRoot()
    let wanted = 2 * Self.reach * sigma / (Self.spacing * flat.squareRoot())
    // Bounded before it is converted, as it is infinite where no width is flat enough.
    let half = min(Int(min(Double(Self.mostParts), wanted / 2)) + 1, Self.mostParts / 2)
    let step = Self.reach * sigma / Double(half)
    let width = step / Self.spacing
    let within = min(width * width, 0.5 * variance)
    let offsets = (-half...half).map { index in
      let metres = Double(index) * step
      return (metres, exp(-0.5 * metres * metres / (variance - within)))
    }
    return Parts(offsets: offsets, variance: within)
  }
}

extension HypothesisBank {
  /// Splits the only hypothesis, of a peer at rest, along a direction; its moments stay as they are but
  /// for what lies beyond the outermost parts.
  ///
  /// With g = P u / uᵀPu the parts have the means x + t g and the covariances P - (uᵀPu - v) g gᵀ.
  ///
  /// - Parameters:
  ///   - direction: The direction u, and the variance uᵀPu.
  ///   - parts: The parts' places t along it, their shares, and their variance v along it.
  mutating func split(along direction: WeakDirection, into parts: WeakDirection.Parts) {
    precondition(count == 1 && !mayMove, "there is one place only")
    let whole = seed(0)
    let axis = direction.axis
    var gain = StateVector(repeating: 0)
    for state in 0..<stateCount {
      func withPosition(_ axis: Int) -> Double {
        whole.covariance[StateIndex.packed(min(state, axis), max(state, axis))]
      }
      gain[state] =
        (withPosition(0) * axis.x + withPosition(1) * axis.y + withPosition(2) * axis.z)
        / direction.variance
    }
    var part = whole
    for column in 0..<stateCount {
      for row in 0...column {
        part.covariance[StateIndex.packed(row, column)] -=
          (direction.variance - parts.variance) * gain[row] * gain[column]
      }
    }
    replace(
      with: parts.offsets.map { offset in
        var seed = part
        seed.weight = offset.share
        for state in 0..<stateCount { seed.mean[state] += offset.metres * gain[state] }
        return seed
      })
  }
}
