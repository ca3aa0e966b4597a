// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A slip of the odometry within an interval of the path: an innovation far larger than drift.
package enum OdometrySlip: Sendable, Hashable, Codable {
  /// A lift that nothing has seen, or tracking that was lost for a moment.
  case large
  /// The same with another heading, as where tracking begins anew.
  case turned
  /// A correction of the odometry's own.
  case small

  /// Whether it is more than a correction.
  package var isLarge: Bool { self != .small }

  /// The variances of the displacement, m² per horizontal axis and along gravity, and of the turn, rad².
  package var horizontal: Double { isLarge ? 4 : 0.09 }
  package var vertical: Double { isLarge ? 2.25 : 0.01 }
  package var yaw: Double {
    let degrees =
      switch self {
      case .large: 3.0
      case .turned: 30.0
      case .small: 2.0
      }
    let sigma = degrees * Double.pi / 180
    return sigma * sigma
  }

  /// The variance of one of the innovations of an interval: three of the place, and yaw.
  package func variance(_ axis: Int) -> Double {
    switch axis {
    case 1: vertical
    case 3: yaw
    default: horizontal
    }
  }

  /// The logarithm of the prior odds.
  ///
  /// Once in 200 intervals, more often beside another one, and as often as not where there are no new poses. One in
  /// twenty has another heading.
  package func logOdds(isFrozen: Bool = false, isBeside: Bool = false) -> Double {
    if self == .small { return log(0.01) }
    return log((isFrozen ? 0.5 : isBeside ? 0.2 : 0.005) * (self == .turned ? 0.05 : 1))
  }

  /// The log odds from which on a slip is taken for one: it is wrong once in a hundred times.
  package static let leastGain = 4.6

  /// All kinds, and those that the calibration of a run has.
  private static let all = [large, turned, small]
  package static let straight = [large, small]

  /// The slip of an interval, if the evidence is for one.
  ///
  /// With the innovation ν of an axis and its posterior variance v under the prior variance q, the measurements
  /// alone say ν̂ = ν/(v λ) with the information λ = 1/v - 1/q. A slip adds to the odds
  /// `½ Σ (ν̂² (1/w - 1/w') - ln (w'/w))`, where `w = 1/λ + q₀` without it and `w' = w + q₁` with it.
  ///
  /// - Parameters:
  ///   - found: The posterior of the innovations: three of the place, and yaw.
  ///   - variances: Their prior variances q, as they were fitted with.
  ///   - steady: The variances q₀ of drift alone; an axis of which it is zero is held.
  ///   - isFrozen: Whether there were no new poses.
  ///   - isBeside: Whether there is a slip in the interval before or after it.
  ///   - present: The slip that it is taken to have: another must be more probable by ``leastGain``.
  ///   - kinds: Those that are weighed; `nil` for all.
  /// - Returns: The most probable kind, `nil` when none is more probable, and the log odds for it.
  package static func mostProbable(
    _ found: InlineArray<4, ChainProblem.Moment>, _ variances: InlineArray<4, Double>,
    steady: InlineArray<4, Double>,
    isFrozen: Bool, isBeside: Bool = false, present: OdometrySlip? = nil,
    among kinds: [OdometrySlip]? = nil
  ) -> (slip: OdometrySlip?, logOdds: Double) {
    var best: (slip: OdometrySlip?, logOdds: Double) = (nil, present == nil ? 0 : -leastGain)
    for slip in kinds ?? all {
      var logOdds = slip.logOdds(isFrozen: isFrozen, isBeside: isBeside)
      for axis in 0..<4 where steady[axis] > 0 {
        let information = 1 / found[axis].variance - 1 / variances[axis]
        guard information > 1e-6 / variances[axis] else { continue }
        let value = found[axis].mean / (found[axis].variance * information)
        let without = 1 / information + steady[axis]
        let with = without + slip.variance(axis)
        logOdds += 0.5 * (value * value * (1 / without - 1 / with) - log(with / without))
      }
      if slip == present { logOdds += leastGain }
      if logOdds > best.logOdds { best = (slip, logOdds) }
    }
    return best
  }
}
