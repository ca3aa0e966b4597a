// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The bearing of a peer from azimuths alone: what a device with an antenna array and without odometry knows.
///
/// A `ScalarTracker`. The bearing changes as the device turns, of which nothing else tells, so that it is known only
/// about as long as azimuths come. The device is taken to be upright: then an azimuth in its axes is the angle about
/// gravity.
public struct AzimuthTracker: Hashable, Sendable, Codable {
  private let ranging: RangingConfiguration
  private var tracker: ScalarTracker

  /// How fast a person turns who looks around, one sigma, rad/s.
  static let turnRateSigma = 1.0

  /// Makes a tracker that has seen nothing.
  ///
  /// - Parameter configuration: The accuracy of azimuths, and how long a motion lasts.
  public init(_ configuration: FusionConfiguration = FusionConfiguration()) {
    ranging = configuration.ranging
    tracker = ScalarTracker(
      rateVariance: Self.turnRateSigma * Self.turnRateSigma,
      correlationTime: configuration.motion.velocitySeconds,
      doubtAfter: configuration.faults.doubtAfter, isAngle: true)
  }

  /// Whether a restored tracker has the settings of a configuration.
  func isConsistent(with configuration: FusionConfiguration) -> Bool {
    let other = AzimuthTracker(configuration)
    return ranging == other.ranging && tracker.isConsistent(with: other.tracker)
  }

  /// Takes in the azimuth of a sample; one that is older than the newest, or that an engine would refuse for what it
  /// is, is left out.
  ///
  /// - Parameters:
  ///   - azimuthRadians: Positive to the right.
  ///   - sigma: One standard deviation, radians; the configuration's when `nil`.
  ///   - time: When.
  public mutating func add(_ azimuthRadians: Double, sigma: Double? = nil, at time: Timestamp) {
    guard ranging.accepts(azimuthRadians, as: .azimuth, sigma: sigma) else { return }
    let sigma = sigma ?? ranging.azimuthSigmaRadians
    tracker.add(azimuthRadians, variance: sigma * sigma, at: time)
  }

  /// The filtered bearing at a moment.
  ///
  /// - Parameter time: The moment; one before the newest azimuth is extrapolated from it.
  /// - Returns: Radians, positive to the right, and one standard deviation; `nil` before the first azimuth.
  public func estimate(at time: Timestamp) -> (azimuthRadians: Double, sigma: Double)? {
    guard let now = tracker.state(at: time) else { return nil }
    // The part of the error that depends on the pose does not average out.
    let sigma = ranging.azimuthSigmaRadians
    let lasting = (1 - ranging.azimuthWhiteShare) * sigma * sigma
    return (now.value, (now.variance + lasting).squareRoot())
  }
}
