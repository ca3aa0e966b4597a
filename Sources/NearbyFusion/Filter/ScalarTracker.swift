// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A number and its rate, filtered: what a radio alone tells of a distance or of an angle.
///
/// A Kalman filter over the value and its rate. The rate is an Ornstein-Uhlenbeck process, `v̇ = -v/τ + w`: it stays
/// about the same for τ and forgets itself then. Over a time T, with `a = exp(-T/τ)` and the rate's variance s², the
/// exact step is
///
///     x ← x + τ(1 - a) v          Q_xx = s²τ²(2T/τ - 3 + 4a - a²)
///     v ← a v                     Q_xv = s²τ(1 - a)²,  Q_vv = s²(1 - a²)
///
/// A measurement beyond 3 sigma of the prediction is left out, until all have been so for a while: then the filter
/// begins anew with them. A measurement costs some 30 flops and no allocation.
///
/// Source: Bar-Shalom, Li and Kirubarajan, Estimation with Applications to Tracking and Navigation,
/// section 8.2.3 (the Singer model without its acceleration).
struct ScalarTracker: Hashable, Sendable, Codable {
  /// The variance of the rate, per second squared.
  let rateVariance: Double
  /// How long the rate stays about the same, seconds.
  let correlationTime: Double
  /// When all measurements have been rejected for this time, seconds, the filter is initialised anew.
  let doubtAfter: Double
  /// Whether the value is an angle, in radians.
  let isAngle: Bool
  private(set) var state: State?
  /// Since when all measurements have been left out.
  private var doubtedSince: Timestamp?

  /// Value and rate at a moment, with their covariance.
  struct State: Hashable, Codable {
    var timestamp: Timestamp
    var value: Double
    var rate = 0.0
    var variance: Double
    var covariance = 0.0
    var rateVariance: Double
  }

  /// The gate: the largest innovation that is accepted, in standard deviations.
  private static let gate = 3.0

  /// Makes a tracker that has seen nothing.
  init(rateVariance: Double, correlationTime: Double, doubtAfter: Double, isAngle: Bool) {
    self.rateVariance = rateVariance
    self.correlationTime = correlationTime
    self.doubtAfter = doubtAfter
    self.isAngle = isAngle
  }

  /// Whether a restored tracker has the settings of another one.
  func isConsistent(with other: ScalarTracker) -> Bool {
    rateVariance == other.rateVariance && correlationTime == other.correlationTime
      && doubtAfter == other.doubtAfter && isAngle == other.isAngle
  }

  /// Takes in a measurement; one that is not newer than the newest is left out.
  mutating func add(_ value: Double, variance: Double, at time: Timestamp) {
    guard let before = state else { return begin(value, variance, at: time) }
    guard time > before.timestamp else { return }
    var now = predicted(before, to: time)
    let innovation = difference(value, now.value)
    let innovationVariance = now.variance + variance
    guard innovation * innovation <= Self.gate * Self.gate * innovationVariance else {
      let since = doubtedSince ?? time
      doubtedSince = since
      if time.seconds(since: since) >= doubtAfter { begin(value, variance, at: time) }
      return
    }
    doubtedSince = nil
    let gain = now.variance / innovationVariance
    let rateGain = now.covariance / innovationVariance
    let determinant = now.variance * now.rateVariance - now.covariance * now.covariance
    now.value = wrapped(now.value + gain * innovation)
    now.rate += rateGain * innovation
    // P - K H P with nothing subtracted but in the determinant: no variance falls below zero.
    now.rateVariance =
      (now.rateVariance * variance + max(0, determinant)) / innovationVariance
    now.variance *= variance / innovationVariance
    now.covariance *= variance / innovationVariance
    state = now
  }

  /// The innovation of a measurement that has not been taken in; `nil` before the second, and of a late one.
  func innovation(of value: Double, variance: Double, at time: Timestamp) -> Innovation? {
    guard let state, time > state.timestamp else { return nil }
    let now = predicted(state, to: time)
    return Innovation(value: difference(value, now.value), variance: now.variance + variance)
  }

  /// Whether another value fails the gate on the one at the newest measurement.
  func differs(from value: Double, variance: Double) -> Bool {
    state.map { state in
      Innovation(
        value: difference(value, state.value), variance: state.variance + variance
      ).isBeyond(Self.gate)
    } ?? false
  }

  /// The state at a moment; before the newest measurement it is extrapolated backwards.
  func state(at time: Timestamp) -> State? {
    state.map { time >= $0.timestamp ? predicted($0, to: time) : extrapolated($0, to: time) }
  }

  /// Begins anew with a value; its rate is not known.
  mutating func begin(_ value: Double, _ variance: Double, at time: Timestamp) {
    doubtedSince = nil
    state = State(timestamp: time, value: value, variance: variance, rateVariance: rateVariance)
  }

  private func difference(_ one: Double, _ other: Double) -> Double { wrapped(one - other) }

  private func wrapped(_ value: Double) -> Double { isAngle ? value.wrappedAngle : value }

  /// The state at an earlier moment: an Ornstein-Uhlenbeck process backwards in time is one with the opposite rate.
  private func extrapolated(_ state: State, to time: Timestamp) -> State {
    var mirrored = state
    mirrored.rate.negate()
    mirrored.covariance.negate()
    let seconds = state.timestamp.seconds(since: time)
    var then = predicted(mirrored, to: state.timestamp.advanced(bySeconds: seconds))
    then.rate.negate()
    return then
  }

  private func predicted(_ state: State, to time: Timestamp) -> State {
    let unit = OrnsteinUhlenbeck(
      seconds: time.seconds(since: state.timestamp), correlationTime: correlationTime)
    let reach = correlationTime * unit.reach
    var next = state
    next.timestamp = time
    next.value = wrapped(next.value + reach * state.rate)
    next.rate *= unit.correlation
    // A quadratic form, which rounding may take below zero.
    next.variance = max(
      0, state.variance + 2 * reach * state.covariance + reach * reach * state.rateVariance)
    next.variance += rateVariance * correlationTime * correlationTime * unit.position
    next.covariance =
      unit.correlation * (state.covariance + reach * state.rateVariance)
      + rateVariance * correlationTime * unit.both
    next.rateVariance =
      unit.correlation * unit.correlation * state.rateVariance + rateVariance * unit.velocity
    return next
  }
}
