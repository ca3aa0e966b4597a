// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The engine: poses and ranging samples in, estimates of where each peer is out.
public struct FusionEngine: Sendable {
  /// The settings in force.
  public let configuration: FusionConfiguration

  /// Makes an engine that has seen nothing.
  ///
  /// - Parameter configuration: The settings.
  /// - Throws: The first setting that makes no sense.
  public init(
    _ configuration: FusionConfiguration = FusionConfiguration()
  ) throws(FusionConfigurationError) {
    try configuration.validate()
    self.configuration = configuration
  }

  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameter motion: How the peer may move.
  /// - Returns: The peer's handle in this engine.
  public mutating func addPeer(_ motion: PeerMotion = .stationary) -> PeerID { PeerID(index: 0) }

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: What became of it.
  @discardableResult
  public mutating func add(_ pose: DevicePose) -> PoseOutcome { .accepted }

  /// Takes note of the odometry's quality and the light, from the sample's time on.
  ///
  /// - Parameter tracking: The odometry's word.
  public mutating func add(_ tracking: TrackingSample) {}

  /// Fuses a ranging sample.
  ///
  /// - Parameter sample: The sample, up to a second late.
  /// - Returns: What became of each of its components.
  @discardableResult
  public mutating func add(_ sample: RangingSample) -> SampleReport {
    SampleReport(
      peer: sample.peer, timestamp: sample.timestamp, range: .absent, azimuth: .absent,
      elevation: .absent)
  }

  /// What is known of a peer at the time of its last sample.
  ///
  /// - Parameter peer: The peer.
  /// - Returns: The estimate, as seen from the device at that time.
  public func estimate(of peer: PeerID) -> PeerEstimate { empty(peer, Timestamp(nanoseconds: 0)) }

  /// What is known of a peer at another moment, later than its last sample.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment; the device's pose is interpolated or, for a tenth of a second,
  ///     extrapolated.
  /// - Returns: The estimate, as seen from the device at that moment, drift since the last sample
  ///   included.
  public func estimate(of peer: PeerID, at time: Timestamp) -> PeerEstimate { empty(peer, time) }

  private func empty(_ peer: PeerID, _ time: Timestamp) -> PeerEstimate {
    PeerEstimate(
      peer: peer, timestamp: time, convergence: .unknown, progress: .none,
      distance: Estimated(value: nil, sigma: .infinity, unavailability: .noData),
      direction: Estimated(value: nil, sigma: .infinity, unavailability: .noData),
      horizontalAngleRadians: Estimated(value: nil, sigma: .infinity, unavailability: .noData),
      verticalDirection: .unknown,
      heightDifference: Estimated(value: nil, sigma: .infinity, unavailability: .noData),
      worldTransform: Estimated(value: nil, sigma: .infinity, unavailability: .noData),
      meanInWorld: nil, covarianceInWorld: .zero, hypothesisCount: 0)
  }
}
