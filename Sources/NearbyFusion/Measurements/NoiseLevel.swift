// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How one component's stated accuracy splits into white noise and wandering error.
///
/// A stated sigma σ is the accuracy of a value, all errors together. Real sensors differ in what it is
/// made of: one sensor's range errors are white, another's hardly change from sample to sample and
/// move with the pose. Taking the second for the first makes a filter over-confident by the square
/// root of the correlation length. So the white share κ is measured, from the differences of
/// consecutive residuals under one state (for white noise E|d| = 2 κ σ/√π), and
///
///     white variance (κ σ)²,  wandering variance max(σ² - (κ σ)², (floor σ)²)
struct NoiseLevel: Hashable, Sendable {
  /// The least white noise, as a share of the stated accuracy.
  let whiteFloor: Double
  /// The least wandering error, as a share of the stated accuracy.
  let wanderFloor: Double
  /// The white share of the stated sigma.
  private(set) var whiteShare = 0.9

  private var observations = Self.priorObservations
  private var lastResidual: Double?

  /// The first value counts as much as so many observations.
  private static let priorObservations = 15.0
  /// The memory of the average, in observations.
  private static let memory = 200.0
  private static let most = 3.0

  init(whiteFloor: Double, wanderFloor: Double) {
    self.whiteFloor = whiteFloor
    self.wanderFloor = wanderFloor
  }

  func whiteVariance(stated sigma: Double) -> Double {
    let white = whiteShare * sigma
    return white * white
  }

  func wanderVariance(stated sigma: Double) -> Double {
    max(1 - whiteShare * whiteShare, wanderFloor * wanderFloor) * sigma * sigma
  }

  /// Learns from one sample.
  ///
  /// - Parameters:
  ///   - before: The innovation: this value's residual under the state before it was used.
  ///   - after: The same value's residual under the state after.
  ///   - sigma: The stated sigma of the value.
  mutating func observe(before: Double, after: Double, sigma: Double) {
    if let lastResidual {
      let share = min(abs(before - lastResidual) / sigma, 4) * (Double.pi.squareRoot() / 2)
      observations = min(observations + 1, Self.memory)
      whiteShare += (share - whiteShare) / observations
      whiteShare = min(max(whiteShare, whiteFloor), Self.most)
    }
    lastResidual = after
  }

  /// The chain of consecutive residuals is broken: an outlier, a gap, another hypothesis.
  mutating func forgetLast() { lastResidual = nil }
}
