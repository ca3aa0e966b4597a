// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// How far a peer is, smoothed, and how fast that changes.
public struct RangeEstimate: Hashable, Sendable {
  /// Metres.
  public var distance: Double
  /// One standard deviation of ``distance``, the radio's constant error included, metres.
  public var distanceSigma: Double
  /// The rate of the distance, m/s: negative while the two come closer.
  public var rate: Double
  /// One standard deviation of ``rate``, m/s.
  public var rateSigma: Double

  /// Makes an estimate.
  public init(distance: Double, distanceSigma: Double, rate: Double, rateSigma: Double) {
    (self.distance, self.distanceSigma) = (distance, distanceSigma)
    (self.rate, self.rateSigma) = (rate, rateSigma)
  }
}

/// A distance and its rate from ranges alone: what a device without camera and antenna array knows.
///
/// A Kalman filter over distance and rate. The rate is an Ornstein-Uhlenbeck process, `v̇ = -v/τ + w`
/// with the speed and τ of ``MotionConfiguration``, its variance doubled since both ends may move: it
/// stays about the same for τ and forgets itself then. Over a time T, with `a = exp(-T/τ)` and the
/// rate's variance s², the exact step is
///
///     d ← d + τ(1 - a) v          Q_dd = s²τ²(2T/τ - 3 + 4a - a²)
///     v ← a v                     Q_dv = s²τ(1 - a)²,  Q_vv = s²(1 - a²)
///
/// Ranges beyond 3 sigma of the prediction are left out, until they have been so for
/// ``FaultConfiguration/doubtAfter``: then it begins anew with them. A range that the radio itself calls
/// obstructed counts with its mean excess as additional noise. A constant bias and the scale error cannot
/// be seen in ranges; they are in the stated sigma. A sample costs some 30 flops and no allocation.
///
/// Source: Bar-Shalom, Li and Kirubarajan, Estimation with Applications to Tracking and Navigation,
/// section 8.2.3 (the Singer model without its acceleration).
public struct RangeTracker: Hashable, Sendable {
  private let ranging: RangingConfiguration
  private let faults: FaultConfiguration
  private let rateVariance: Double
  private let velocitySeconds: Double
  private var state: State?
  /// Since when all ranges have been left out.
  private var doubtedSince: Timestamp?

  private struct State: Hashable {
    var timestamp: Timestamp
    var distance: Double
    var rate = 0.0
    var distanceVariance: Double
    var covariance = 0.0
    var rateVariance: Double
  }

  /// So many sigmas from the prediction a range is an outlier.
  private static let gate = 3.0

  /// When it has last begun or used a range.
  var newest: Timestamp? { state?.timestamp }

  /// Makes a tracker that has seen nothing.
  ///
  /// - Parameter configuration: The accuracy of ranges, the speed of people, and radio faults.
  public init(_ configuration: FusionConfiguration = FusionConfiguration()) {
    ranging = configuration.ranging
    faults = configuration.faults
    let speed = configuration.motion.horizontalSpeedSigma
    rateVariance = 2 * speed * speed
    velocitySeconds = configuration.motion.velocitySeconds
  }

  /// Takes in the range of a sample; one that is older than the newest, or that an engine would refuse for
  /// what it is, is left out.
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - sigma: One standard deviation, metres; the configuration's when `nil`.
  ///   - isNonLineOfSight: Whether the radio believes that something stands in the line of sight.
  ///   - time: When.
  public mutating func add(
    _ distance: Double, sigma: Double? = nil, isNonLineOfSight: Bool = false, at time: Timestamp
  ) {
    guard ranging.accepts(distance, as: .range, sigma: sigma) else { return }
    let sigma = sigma ?? ranging.rangeSigma
    let excess = isNonLineOfSight ? faults.rangeExcess : 0
    let variance = sigma * sigma + excess * excess
    guard let before = state else { return begin(distance, variance, at: time) }
    guard time > before.timestamp else { return }
    var now = predicted(before, to: time)
    let innovation = distance - now.distance
    let innovationVariance = now.distanceVariance + variance
    guard innovation * innovation <= Self.gate * Self.gate * innovationVariance else {
      let since = doubtedSince ?? time
      doubtedSince = since
      if time.seconds(since: since) >= faults.doubtAfter { begin(distance, variance, at: time) }
      return
    }
    doubtedSince = nil
    let gain = now.distanceVariance / innovationVariance
    let rateGain = now.covariance / innovationVariance
    let determinant =
      now.distanceVariance * now.rateVariance - now.covariance * now.covariance
    now.distance += gain * innovation
    now.rate += rateGain * innovation
    // P - K H P with nothing subtracted but in the determinant: no variance falls below zero.
    now.rateVariance =
      (now.rateVariance * variance + max(0, determinant)) / innovationVariance
    now.distanceVariance *= variance / innovationVariance
    now.covariance *= variance / innovationVariance
    state = now
  }

  /// The innovation of a range that has not been taken in.
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - sigma: One standard deviation, metres.
  ///   - time: When.
  /// - Returns: The innovation; `nil` before the second range, and of a late one.
  func innovation(of distance: Double, sigma: Double, at time: Timestamp) -> Innovation? {
    guard let state, time > state.timestamp else { return nil }
    let now = predicted(state, to: time)
    return Innovation(
      value: distance - now.distance, variance: now.distanceVariance + sigma * sigma)
  }

  /// What is known of the range at a moment.
  ///
  /// - Parameter time: The moment, from the newest range on.
  /// - Returns: The estimate; `nil` before the first range.
  public func estimate(at time: Timestamp) -> RangeEstimate? {
    guard let state else { return nil }
    let now = predicted(state, to: max(time, state.timestamp))
    let scale = ranging.rangeScaleSigma * now.distance
    let constant = ranging.rangeBiasSigma * ranging.rangeBiasSigma + scale * scale
    return RangeEstimate(
      distance: max(now.distance, 0), distanceSigma: (now.distanceVariance + constant).squareRoot(),
      rate: now.rate, rateSigma: now.rateVariance.squareRoot())
  }

  /// Begins anew with a distance that is known from elsewhere; its rate is not.
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - variance: Its variance, m².
  ///   - time: When.
  mutating func begin(_ distance: Double, _ variance: Double, at time: Timestamp) {
    doubtedSince = nil
    state = State(
      timestamp: time, distance: distance, distanceVariance: variance, rateVariance: rateVariance)
  }

  private func predicted(_ state: State, to time: Timestamp) -> State {
    let lasts = velocitySeconds
    let unit = OrnsteinUhlenbeck(
      seconds: time.seconds(since: state.timestamp), correlationTime: lasts)
    let reach = lasts * unit.reach
    var next = state
    next.timestamp = time
    next.distance += reach * state.rate
    next.rate *= unit.correlation
    // A quadratic form, which rounding may take below zero.
    next.distanceVariance = max(
      0, state.distanceVariance + 2 * reach * state.covariance + reach * reach * state.rateVariance)
    next.distanceVariance += rateVariance * lasts * lasts * unit.position
    next.covariance =
      unit.correlation * (state.covariance + reach * state.rateVariance)
      + rateVariance * lasts * unit.both
    next.rateVariance =
      unit.correlation * unit.correlation * state.rateVariance + rateVariance * unit.velocity
    return next
  }
}
