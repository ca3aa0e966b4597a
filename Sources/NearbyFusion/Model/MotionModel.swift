// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How peers move that may: the velocity of each axis is an Ornstein-Uhlenbeck process,
/// `v̇ = -v/τ + w`, stationary with the variance of ``MotionConfiguration``.
///
/// The filter, the fit of a window, the smoother and the range filter all move peers by this model.
package struct MotionModel: Sendable {
  /// The correlation time τ of a velocity, seconds.
  package let velocitySeconds: Double
  /// The variances of the speed along the world's axes, m²/s²; none along gravity in a planar world.
  package let speedVariances: InlineArray<3, Double>
  /// How fast a resting peer starts and a moving one stops, 1/s.
  let startRate: Double
  private let stopRate: Double

  /// Makes the model of some settings.
  package init(_ configuration: FusionConfiguration) {
    let motion = configuration.motion
    velocitySeconds = motion.velocitySeconds
    let horizontal = motion.horizontalSpeedSigma * motion.horizontalSpeedSigma
    let vertical =
      configuration.odometry.isPlanar ? 0 : motion.verticalSpeedSigma * motion.verticalSpeedSigma
    speedVariances = [horizontal, vertical, horizontal]
    startRate = 1 / motion.restingSeconds
    stopRate = 1 / motion.movingSeconds
  }

  /// The variance of a moving peer's displacement over a time, its velocity unknown, m²: along each
  /// horizontal axis, and along gravity.
  func displacementVariances(seconds: Double) -> (horizontal: Double, vertical: Double) {
    let unit = OrnsteinUhlenbeck(seconds: seconds, correlationTime: velocitySeconds)
    let perSpeed = 2 * velocitySeconds * velocitySeconds * unit.displacement
    return (speedVariances[0] * perSpeed, speedVariances[1] * perSpeed)
  }

  /// One step of the process, for a stationary speed variance of 1 m²/s².
  package struct Step: Sendable {
    /// φ, by which the velocity is multiplied, and how far the position moves on with it, seconds.
    package var correlation: Double
    package var reach: Double
    /// What is added to the variances of position (s²) and velocity, and to their covariance (s).
    package var positionVariance: Double
    package var crossVariance: Double
    package var velocityVariance: Double
  }

  /// The step over a time.
  package func step(seconds: Double) -> Step {
    let unit = OrnsteinUhlenbeck(seconds: seconds, correlationTime: velocitySeconds)
    return Step(
      correlation: unit.correlation, reach: velocitySeconds * unit.reach,
      positionVariance: velocitySeconds * velocitySeconds * unit.position,
      crossVariance: velocitySeconds * unit.both, velocityVariance: unit.velocity)
  }

  /// The logarithm of the odds that a peer of unknown motion moves at some moment of a time.
  ///
  /// It rests throughout with the stationary probability of rest times exp(-t/resting time).
  package func logOddsOfMotion(within seconds: Double) -> Double {
    let logRest = log(stopRate / (startRate + stopRate)) - startRate * seconds
    return log(-expm1(logRest)) - logRest
  }

  /// The probabilities that a resting peer starts and that a moving one stops within a time: the
  /// two-state Markov chain forgets its state with the sum of both rates.
  ///
  /// - Parameters:
  ///   - seconds: The time.
  ///   - rest: For how long a resting peer has rested.
  /// - Returns: Both probabilities.
  func transitions(
    seconds: Double, after rest: RestAge? = nil
  ) -> (starts: Double, stops: Double) {
    let startRate = max(startRate, rest?.startRate ?? 0)
    let changed = (1 - exp(-(startRate + stopRate) * seconds)) / (startRate + stopRate)
    return (startRate * changed, stopRate * changed)
  }
}
