// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What is known from before of a chain's first knot and of its border: a Gaussian prior, and what
/// marginalised knots have left.
///
/// A quadratic cost `½ (s - o)ᵀ A (s - o) - gᵀ (s - o)`.
package struct MarginalPrior: Sendable, Codable {
  /// A, column by column.
  package var information: [Double] = []
  package var gradient: [Double] = []
  package private(set) var origin: [Double] = []

  /// How many unknowns it is about.
  package var size: Int { gradient.count }

  /// Whether it has a number for each unknown, and for each two.
  var isConsistent: Bool { origin.count == size && information.count == size * size }

  /// What is held is known to 10 µm or 10 µrad.
  private static let heldInformation = 1e10

  /// A prior of no unknowns.
  package init() {}

  /// Holds the drift of a knot at a place, where the fixed world and the odometry's agree.
  package init(holding place: Vector3) {
    append(
      mean: [place.x, place.y, place.z, 0],
      variances: [Double](repeating: 0, count: ChainLayout.driftSize))
  }

  /// Takes another origin, and makes room for the information and the gradient about it.
  mutating func reset(origin new: ArraySlice<Double>) {
    origin.replaceSubrange(origin.indices, with: new)
    if gradient.count != origin.count {
      gradient = [Double](repeating: 0, count: origin.count)
      information = [Double](repeating: 0, count: origin.count * origin.count)
    }
  }

  /// Adds unknowns with independent priors.
  ///
  /// - Parameters:
  ///   - mean: The means of the unknowns.
  ///   - variances: Their variances; what has none is held.
  package mutating func append(mean: [Double], variances: [Double]) {
    let (old, new) = (size, size + mean.count)
    var grown = [Double](repeating: 0, count: new * new)
    for column in 0..<old {
      for row in 0..<old { grown[column * new + row] = information[column * old + row] }
    }
    for (index, variance) in variances.enumerated() {
      grown[(old + index) * new + old + index] = min(1 / variance, Self.heldInformation)
    }
    information = grown
    gradient += [Double](repeating: 0, count: mean.count)
    origin += mean
  }

  /// Adds unknowns with a joint prior of their own.
  ///
  /// - Parameters:
  ///   - mean: The means of the unknowns.
  ///   - covariance: Their covariance, positive definite, row by row.
  mutating func append(mean: [Double], covariance: [Double]) {
    let (old, count) = (size, mean.count)
    append(mean: mean, variances: [Double](repeating: .infinity, count: count))
    let added = Self.inverse(covariance, size: count)
    for column in 0..<count {
      for row in 0..<count {
        information[(old + column) * size + old + row] = added[column * count + row]
      }
    }
  }

  /// Gauss and Jordan's method on a symmetric positive definite matrix, which needs no pivoting.
  private static func inverse(_ matrix: [Double], size: Int) -> [Double] {
    var (left, right) = (matrix, [Double](repeating: 0, count: size * size))
    for row in 0..<size { right[row * size + row] = 1 }
    for pivot in 0..<size {
      // Rounding may leave less than nothing of an unknown that the others tell.
      let scale = 1 / max(left[pivot * size + pivot], 1e-4 / heldInformation)
      for column in 0..<size {
        left[pivot * size + column] *= scale
        right[pivot * size + column] *= scale
      }
      for row in 0..<size where row != pivot && left[row * size + pivot] != 0 {
        let factor = left[row * size + pivot]
        for column in 0..<size {
          left[row * size + column] -= factor * left[pivot * size + column]
          right[row * size + column] -= factor * right[pivot * size + column]
        }
      }
    }
    return right
  }

  /// The logarithm of the determinant of a symmetric positive definite matrix, by Gauss' elimination.
  ///
  /// - Parameters:
  ///   - matrix: The matrix.
  ///   - size: The number of its rows.
  /// - Returns: The logarithm; `nil` where it is not positive definite.
  static func logDeterminant(_ matrix: [Double], size: Int) -> Double? {
    var (left, sum) = (matrix, 0.0)
    for pivot in 0..<size {
      let scale = left[pivot * size + pivot]
      guard scale > 0, scale.isFinite else { return nil }
      sum += log(scale)
      for row in (pivot + 1)..<max(size, pivot + 1) where left[row * size + pivot] != 0 {
        let factor = left[row * size + pivot] / scale
        for column in pivot..<size {
          left[row * size + column] -= factor * left[pivot * size + column]
        }
      }
    }
    return sum
  }

  /// Adds unknowns of which nothing is known.
  package mutating func appendUnknowns(_ count: Int) {
    append(
      mean: [Double](repeating: 0, count: count),
      variances: [Double](repeating: .infinity, count: count))
  }

  /// Adds the steady turn and the scale error of an odometry.
  package mutating func appendOdometryErrors(_ odometry: OdometryConfiguration) {
    let (turn, scale) = (odometry.priorTurnRateSigma, odometry.scaleSigma)
    append(mean: [0, 0], variances: [turn * turn, scale * scale])
  }

  /// Inserts an unknown of which nothing is known.
  mutating func insertUnknown(at index: Int) {
    let (old, new) = (size, size + 1)
    var grown = [Double](repeating: 0, count: new * new)
    func moved(_ place: Int) -> Int { place < index ? place : place + 1 }
    for column in 0..<old {
      for row in 0..<old {
        grown[moved(column) * new + moved(row)] = information[column * old + row]
      }
    }
    information = grown
    gradient.insert(0, at: index)
    origin.insert(0, at: index)
  }

  /// Marginalises a peer: it is forgotten, and what it says of all others stays.
  ///
  /// - Parameters:
  ///   - member: The peer's number.
  ///   - layout: Where the unknowns stand.
  mutating func remove(member: Int, _ layout: ChainLayout) {
    let first = layout.peer(member, knots: 1)
    for _ in 0..<ChainLayout.peerSize { removeUnknown(first) }
    if layout.errorCount > 0 { removeUnknown(layout.placeError(member)) }
  }

  /// One step of Gauss' elimination.
  private mutating func removeUnknown(_ gone: Int) {
    let old = size
    let pivot = information[gone * old + gone]
    let kept = (0..<old).filter { $0 != gone }
    var shrunk: [Double] = []
    shrunk.reserveCapacity(kept.count * kept.count)
    for column in kept {
      let share = pivot > 0 ? information[column * old + gone] / pivot : 0
      for row in kept {
        shrunk.append(information[column * old + row] - share * information[gone * old + row])
      }
    }
    gradient = kept.map { index in
      let share = pivot > 0 ? information[gone * old + index] / pivot : 0
      return gradient[index] - share * gradient[gone]
    }
    origin = kept.map { origin[$0] }
    information = shrunk
  }
}
