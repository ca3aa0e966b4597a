// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The engine: poses and ranging samples in, estimates of where each peer is out.
///
/// A pure, synchronous value: the same inputs give the same outputs bit for bit, a copy goes its own
/// way, and there are no clocks, threads or files in it. All peers share one trajectory.
///
/// ```swift
/// var engine = try FusionEngine()
/// let peer = engine.addPeer()
/// engine.add(DevicePose(timestamp: t0, worldFromDevice: pose))
/// engine.add(RangingSample(peer: peer, timestamp: t0, distance: 4.2))
/// let estimate = engine.estimate(of: peer)
/// ```
///
/// ## Method
///
/// A peer's posterior is a mixture of Gaussians over its position and the errors of the radio, each
/// updated by an extended Kalman filter with a robust likelihood. Odometry drift needs no state:
/// between samples the peer's position in the drifting world random-walks. While the posterior is bent
/// (a shell, a ring, two mirror images) the mixture is fitted anew to all that has been seen, so that
/// no linearisation error gathers and no mode is missed; once one narrow mode is left, the filter goes
/// on alone. See ``add(_:)-(RangingSample)`` for the step.
public struct FusionEngine: Sendable {
  /// The settings in force.
  public var configuration: FusionConfiguration { settings.configuration }

  private let settings: Settings
  private(set) var trajectory: Trajectory
  private(set) var peers: [PeerFilter] = []
  private var isDark = false
  private var newestSampleTime: Timestamp?

  /// Makes an engine that has seen nothing.
  ///
  /// - Parameter configuration: The settings.
  /// - Throws: The first setting that makes no sense.
  public init(
    _ configuration: FusionConfiguration = FusionConfiguration()
  ) throws(FusionConfigurationError) {
    try configuration.validate()
    settings = Settings(configuration)
    trajectory = Trajectory(
      odometry: configuration.odometry, maximumLateness: configuration.ranging.maximumLateness,
      detectsJumps: configuration.features.contains(.jumpDetection))
  }

  /// The peers, in the order in which they were added.
  public var peerIDs: [PeerID] { peers.indices.map(PeerID.init(index:)) }

  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameter motion: How the peer may move.
  /// - Returns: The peer's handle in this engine.
  public mutating func addPeer(_ motion: PeerMotion = .stationary) -> PeerID {
    peers.append(PeerFilter(motion: motion, configuration.ranging))
    return PeerID(index: peers.count - 1)
  }

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: What became of it.
  @discardableResult
  public mutating func add(_ pose: DevicePose) -> PoseOutcome { trajectory.append(pose) }

  /// Takes note of the odometry's quality and the light, from the next pose on.
  ///
  /// - Parameter tracking: The odometry's word.
  public mutating func add(_ tracking: TrackingSample) {
    trajectory.setQuality(tracking.quality)
    isDark = tracking.quality != .normal
    let light = tracking.ambientIntensityLumens ?? .infinity
    if light < settings.configuration.convergence.darkBelowLumens { isDark = true }
  }

  /// Fuses a ranging sample.
  ///
  /// 1. Judge each component by itself; find the device's pose at the sample's time.
  /// 2. First sample: give birth to a bank of hypotheses on the sphere, cone or circle it allows.
  /// 3. Predict: drift spreads the position, wandering errors forget.
  /// 4. Update each hypothesis, component by component, with a robust likelihood.
  /// 5. Search, while the posterior is bent: fit the hypotheses to the whole window.
  /// 6. Reduce: prune the improbable, merge what has become the same; settle on one.
  /// 7. Challenge: when the samples keep contradicting the account, a second one is born from them
  ///    and runs beside it until one of the two proves right.
  /// 8. Report, and learn how noisy the components are.
  /// 9. Assess convergence.
  ///
  /// - Parameter sample: The sample, up to a second late.
  /// - Returns: What became of each of its components.
  @discardableResult
  public mutating func add(_ sample: RangingSample) -> SampleReport {
    precondition(peers.indices.contains(sample.peer.index), "the peer belongs to another engine")
    let index = sample.peer.index
    var report = SampleReport(
      peer: sample.peer, timestamp: sample.timestamp, range: .absent, azimuth: .absent,
      elevation: .absent)
    let device = trajectory.point(at: sample.timestamp)
    let components = peers[index].judge(
      sample, at: device, rejecting: rejection(of: sample, at: device), settings, into: &report)
    if let device, isAnyPresent(components) {
      newestSampleTime = max(newestSampleTime ?? sample.timestamp, sample.timestamp)
      peers[index].fuse(
        components, at: device, isObstructed: sample.isNonLineOfSight ?? false, settings,
        into: &report)
    }
    peers[index].assess(settings, use: report.use, isDark: isDark, at: sample.timestamp)
    return report
  }

  /// What is known of a peer at the time of the newest sample of it that was used.
  ///
  /// - Parameter peer: The peer.
  /// - Returns: The estimate, as seen from the device at that time.
  public func estimate(of peer: PeerID) -> PeerEstimate {
    guard !peers[peer.index].accounts.isEmpty else {
      return .nothing(of: peer, at: Timestamp(nanoseconds: 0))
    }
    return estimate(of: peer, from: peers[peer.index].accounts[0].device)
  }

  /// What is known of a peer at another moment, later than its last sample.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment; the device's pose is interpolated or, for a tenth of a second,
  ///     extrapolated.
  /// - Returns: The estimate, as seen from the device at that moment, drift since the last sample
  ///   included; without a pose for it, as seen at the last sample.
  public func estimate(of peer: PeerID, at time: Timestamp) -> PeerEstimate {
    guard let device = trajectory.point(at: time) else { return estimate(of: peer) }
    return estimate(of: peer, from: device)
  }

  private func estimate(of peer: PeerID, from device: TrajectoryPoint) -> PeerEstimate {
    guard !peers[peer.index].accounts.isEmpty else {
      return .nothing(of: peer, at: device.timestamp)
    }
    return peers[peer.index].estimate(of: peer, from: device, settings, isDark: isDark)
  }

  // MARK: Stage 1, judging the sample

  /// Why nothing of a sample can be used, if so.
  private func rejection(
    of sample: RangingSample, at device: TrajectoryPoint?
  ) -> ComponentReport.Rejection? {
    if let newest = newestSampleTime,
      newest.seconds(since: sample.timestamp) > settings.configuration.ranging.maximumLateness
    {
      return .tooLate
    }
    guard let device else { return .noPose }
    return device.isTracked ? nil : .trackingNotAvailable
  }

  private func isAnyPresent(_ components: Components) -> Bool {
    components[0] != nil || components[1] != nil || components[2] != nil
  }
}

extension PeerEstimate {
  /// The estimate before anything is known.
  fileprivate static func nothing(of peer: PeerID, at time: Timestamp) -> PeerEstimate {
    PeerEstimate(
      peer: peer, timestamp: time, convergence: .unknown, progress: .none, distance: .noData,
      direction: .noData, horizontalAngleRadians: .noData, verticalDirection: .unknown,
      heightDifference: .noData, worldTransform: .noData, meanInWorld: nil,
      covarianceInWorld: .zero, hypothesisCount: 0, isSearching: false)
  }
}

extension Estimated {
  fileprivate static var noData: Estimated {
    Estimated(value: nil, sigma: .infinity, unavailability: .noData)
  }
}
