// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The profile likelihood of a place along a direction: how the least cost rises where the place is held.
///
/// With the rise Δ(t) at an offset t the signed root z(t) = ±√(2 Δ(t)) is t/σ for a Gaussian. Between the
/// probed offsets it is interpolated linearly; beyond the outermost it goes on as steeply as between the
/// outer two. The density is proportional to exp(-z²/2).
struct ProfileLikelihood {
  /// The probed offsets in ascending order, metres, each with the rise's signed root.
  private var points: [(offset: Double, root: Double)] = [(0, 0)]

  /// Takes in that the cost rises by some nats where the place is so far away, metres.
  mutating func add(rise: Double, at offset: Double) {
    let root = (2 * max(rise, 0)).squareRoot()
    let index = points.firstIndex { $0.offset > offset } ?? points.count
    points.insert((offset, offset < 0 ? -root : root), at: index)
  }

  /// The least of the rises at the outermost offsets, nats.
  var outermostRise: Double {
    let root = min(-points[0].root, points[points.count - 1].root)
    return 0.5 * root * root
  }

  /// The mean and the variance of the density, metres from where the cost is least, m².
  ///
  /// By the trapezoidal rule.
  var moments: (mean: Double, variance: Double) {
    var sums = (density: 0.0, first: 0.0, second: 0.0)
    for (a, b) in zip(points, points.dropFirst()) {
      let step = (b.offset - a.offset) / Double(Self.stepsBetweenProbes)
      for index in 0..<Self.stepsBetweenProbes {
        let share = (Double(index) + 0.5) / Double(Self.stepsBetweenProbes)
        let offset = a.offset + share * (b.offset - a.offset)
        let root = a.root + share * (b.root - a.root)
        let density = step * exp(-0.5 * root * root)
        sums.density += density
        sums.first += density * offset
        sums.second += density * offset * offset
      }
    }
    let mean = sums.first / sums.density
    return (mean, sums.second / sums.density - mean * mean)
  }

  private static let stepsBetweenProbes = 16
}
