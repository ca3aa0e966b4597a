// SPDX-License-Identifier: Apache-2.0

/// For how long a peer of unknown motion has been at rest, in the mean over what is possible.
///
/// How long people stop has no scale: who has rested for t is as likely to rest for another t as not, be it
/// seconds or hours (a Pareto distribution of exponent one). So a peer at rest starts at the rate 1/t, but never
/// less often than one over ``MotionConfiguration/restingSeconds``.
///
/// Let m be the probability that the peer moves, and p that a moving peer stops within a step. Of the
/// probability of rest after the step, the share `f = m p / (m p + 1 - m)` has just stopped, so that
/// `t <- (1 - f) (t + dt)`. A peer of which nothing else is known has rested for
/// ``MotionConfiguration/restingSeconds``.
struct RestAge: Hashable, Sendable, Codable {
  /// The mean, seconds.
  private(set) var seconds: Double

  /// The rate at which a peer at rest starts, 1/s.
  var startRate: Double { 1 / max(seconds, Self.least) }
  /// No rest is shorter than it takes to stop and to start, seconds.
  private static let least = 0.1

  /// Of a peer of which nothing is known.
  init(_ motion: MotionModel) { seconds = 1 / motion.startRate }

  /// Goes on by a time.
  ///
  /// - Parameters:
  ///   - step: The time, seconds.
  ///   - movingShare: The probability that the peer moves, m.
  ///   - motion: How often a moving peer stops.
  mutating func advance(by step: Double, movingShare: Double, _ motion: MotionModel) {
    let stopped = movingShare * motion.transitions(seconds: step).stops
    let rested = stopped + 1 - movingShare
    seconds = rested > 0 ? (1 - stopped / rested) * (seconds + step) : 0
  }
}
