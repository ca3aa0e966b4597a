// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Faulty values: how often they begin, how long they last, and what they look like.
///
/// Each kind of measurement is a two-state Markov chain (Gilbert and Elliott): inlier or fault. The
/// filter, the fit of a window, the smoother and the reference update read the numbers of this one
/// model; the kernels have the same densities in vectors (`nearby_fault_model`, `models/Faults.hpp`).
package struct FaultModel: Sendable {
  private let faults: FaultConfiguration
  private let fieldOfViewRadians: Double
  /// How fast it becomes likely that a state, inlier or fault, has ended, 1/s.
  let rate: Double
  /// How long a state lasts in a window of keyframes, seconds.
  private let correlationSeconds: Double

  /// Makes the model of some settings.
  package init(_ configuration: FusionConfiguration) {
    faults = configuration.faults
    fieldOfViewRadians = configuration.ranging.fieldOfViewRadians
    rate = 1 / configuration.faults.lastingSeconds
    correlationSeconds =
      configuration.features.contains(.faultChains) ? configuration.faults.lastingSeconds : 1e-3
  }

  /// The probability of a fault in a range that the radio itself calls obstructed.
  package static let obstructedOnset = 0.5
  /// How far an excess that lasts changes while it lasts, one sigma in mean excesses.
  static let lastingExcessSigma = 0.2
  /// The odds of an inlier among values that are some time apart, with the default settings: a fault
  /// begins with a probability of 0.03 and lasts for a second.
  private static let inlierOdds = 9.0
  private static let onsetOfOdds = 0.03

  /// The mean excess of a range without line of sight, metres: at least five sigmas, or an excess
  /// could not be told from noise.
  ///
  /// - Parameter sigma: The accuracy of the range.
  /// - Returns: The mean of the exponential distribution.
  @inline(__always)
  package func rangeExcess(sigma: Double) -> Double { max(faults.rangeExcess, 5 * sigma) }

  /// The probability that a fault begins, from one sample to the next.
  @inline(__always)
  func onset(of kind: MeasurementKind) -> Double { faults.onset(of: kind) }

  /// The probability that a state, inlier or fault, has lasted for a time: exp(-t/τ).
  func correlation(seconds: Double) -> Double { exp(-seconds / correlationSeconds) }

  /// The same for the ranges of a walk: what obstructs or reflects them is at a place, and lasts for metres.
  func correlationOfCells(seconds: Double) -> Double {
    exp(-seconds / max(correlationSeconds, Self.secondsAtPlace))
  }

  /// The density of a range whose fault has lasted since the range before.
  ///
  /// A reflection adds about the same excess to both: `(1 - o) N(Δr; 0, σ² + (ρ t)²) + o p(r)`.
  ///
  /// - Parameters:
  ///   - change: The residual minus that of the range before.
  ///   - variance: The variance of their white noise, m².
  ///   - seconds: The time between the two.
  ///   - other: The density p(r) of a new fault.
  /// - Returns: The density, per metre.
  func sameFaultDensity(
    _ change: Double, variance: Double, seconds: Double, other: Double
  ) -> Double {
    let step = Self.excessRate * seconds
    let variance = variance + step * step
    let same = exp(-0.5 * change * change / variance) / (2 * .pi * variance).squareRoot()
    return (1 - Self.otherShare) * same + Self.otherShare * other
  }

  /// The rate ρ at which the excess changes at a walk, m/s, and the share o of ranges with another excess.
  private static let excessRate = 0.3
  private static let otherShare = 0.3

  /// How long a fault that depends on the place lasts at a walk, seconds.
  private static let secondsAtPlace = 6.0

  /// The share of outliers among values that are judged each for itself: the stationary share of the
  /// chain, whose odds of an inlier are the rate at which faults end over that at which they begin.
  ///
  /// - Parameter kind: The kind.
  /// - Returns: The share, 0.1 by default.
  package func outlierShare(of kind: MeasurementKind) -> Double {
    let odds = Self.inlierOdds * (Self.onsetOfOdds / onset(of: kind)) / faults.lastingSeconds
    return 1 / (1 + odds)
  }

  // MARK: Densities

  /// The density of a fault of which nothing else is known, at an innovation.
  ///
  /// A range that is obstructed is too long, exponentially so, or it is anything; an angle is anything
  /// in the field of view, a height difference anything within ``heightReach``. Azimuths mirrored front
  /// to back are hypotheses of their own where this density is used.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - innovation: Measured minus predicted.
  ///   - excess: The mean excess, ``rangeExcess(sigma:)``; of angles not read.
  /// - Returns: The density, per metre or radian.
  package func outlierDensity(
    of kind: MeasurementKind, innovation: Double, excess: Double
  ) -> Double {
    if let span = kind.faultSpan(fieldOfView: fieldOfViewRadians) { return 1 / span }
    let anything = Self.rangeAnythingShare / (Self.rangeReach * excess)
    return innovation > 0
      ? anything + Self.rangeExcessShare * exp(-innovation / excess) / excess : anything
  }
}
