// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// How far a peer is, smoothed, and how fast that changes.
public struct RangeEstimate: Hashable, Sendable, Codable {
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
/// A `ScalarTracker` with the speed and time of ``MotionConfiguration``, the variance of the rate doubled since both
/// ends may move. A range that the radio itself calls obstructed counts with its mean excess as additional noise. A
/// constant bias and the scale error cannot be seen in ranges; they are in the stated sigma.
public struct RangeTracker: Hashable, Sendable, Codable {
  private let ranging: RangingConfiguration
  private let faults: FaultConfiguration
  private var tracker: ScalarTracker

  /// When it has last begun or used a range.
  var newest: Timestamp? { tracker.state?.timestamp }

  /// Makes a tracker that has seen nothing.
  ///
  /// - Parameter configuration: The accuracy of ranges, the speed of people, and radio faults.
  public init(_ configuration: FusionConfiguration = FusionConfiguration()) {
    ranging = configuration.ranging
    faults = configuration.faults
    let speed = configuration.motion.horizontalSpeedSigma
    tracker = ScalarTracker(
      rateVariance: 2 * speed * speed, correlationTime: configuration.motion.velocitySeconds,
      doubtAfter: faults.doubtAfter, isAngle: false)
  }

  /// Whether a restored tracker has the settings of a configuration.
  func isConsistent(with configuration: FusionConfiguration) -> Bool {
    let other = RangeTracker(configuration)
    return ranging == other.ranging && faults == other.faults
      && tracker.isConsistent(with: other.tracker)
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
    tracker.add(distance, variance: sigma * sigma + excess * excess, at: time)
  }

  /// The innovation of a range that has not been taken in.
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - sigma: One standard deviation, metres.
  ///   - time: When.
  /// - Returns: The innovation; `nil` before the second range, and of a late one.
  func innovation(of distance: Double, sigma: Double, at time: Timestamp) -> Innovation? {
    tracker.innovation(of: distance, variance: sigma * sigma, at: time)
  }

  /// Whether another distance fails the gate on the one that the ranges had at the newest of them.
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - variance: Its variance, m².
  /// - Returns: Whether the two differ.
  func differs(from distance: Double, variance: Double) -> Bool {
    tracker.differs(from: distance, variance: variance)
  }

  /// What is known of the range at a moment.
  ///
  /// - Parameter time: The moment; one before the newest range is extrapolated from it.
  /// - Returns: The estimate; `nil` before the first range.
  public func estimate(at time: Timestamp) -> RangeEstimate? {
    guard let now = tracker.state(at: time) else { return nil }
    let scale = ranging.rangeScaleSigma * now.value
    let constant = ranging.rangeBiasSigma * ranging.rangeBiasSigma + scale * scale
    return RangeEstimate(
      distance: max(now.value, 0), distanceSigma: (now.variance + constant).squareRoot(),
      rate: now.rate, rateSigma: now.rateVariance.squareRoot())
  }

  /// Begins anew with a distance that is known from elsewhere; its rate is not.
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - variance: Its variance, m².
  ///   - time: When.
  mutating func begin(_ distance: Double, _ variance: Double, at time: Timestamp) {
    tracker.begin(distance, variance, at: time)
  }
}
