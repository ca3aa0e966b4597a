// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The offset of height differences: two barometers never agree, and they drift apart slowly.
///
/// A first-order Gauss-Markov process in time for each peer, with the correlation factor
/// φ = exp(-t/τ). Performance: only states that have met a height difference hold it.
package struct HeightOffset: Sendable {
  /// The stationary variance, m².
  package let variance: Double
  /// One over the correlation time τ, 1/s.
  package let rate: Double

  /// Makes the process of some settings.
  package init(_ ranging: RangingConfiguration) {
    variance = ranging.heightOffsetSigma * ranging.heightOffsetSigma
    rate = 1 / ranging.heightOffsetSeconds
  }

  /// The correlation factor over a time.
  package func correlation(seconds: Double) -> Double { exp(-seconds * rate) }
}
