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
/// updated by an extended Kalman filter with a robust likelihood. Odometry drift needs no state there:
/// between samples the peer's position in the drifting world random-walks. While the posterior is bent
/// (a shell, a ring, two mirror images) the mixture is fitted anew to all that has been seen, so that
/// no linearisation error gathers and no mode is missed; once one narrow mode is left, the filter goes
/// on alone. Peers at rest that share the drift are fitted together with it every few steps, and their
/// filters go on from what that has found. See ``add(_:)-(RangingSample)`` for the step.
public struct FusionEngine: Sendable {
  /// The settings in force.
  public var configuration: FusionConfiguration { settings.configuration }

  let settings: Settings
  /// Tells this engine's handles, and those of its copies, from others; zero for an engine that was restored, which
  /// takes the handles of the one that was saved.
  private let mark: UInt32
  private(set) var trajectory: Trajectory
  private(set) var peers: [PeerFilter] = []
  private(set) var joint: JointEstimator
  /// Locates the device in the map that was given and examines the map; `nil` without one.
  private(set) var localizer: MapLocalizer?
  /// What peers are called, by their indices.
  private(set) var names: [String?] = []
  private var odometryLimits: ConvergenceReasons = []
  private var newestSampleTime: Timestamp?

  /// How many peers have been heard.
  private var heardCount = 0

  /// With more peers heard than these, the hypotheses about each are packed between its samples: a tenth
  /// of a sample's time for half of the memory.
  private static let packingThreshold = 32

  /// Makes an engine that has seen nothing.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - map: A map of an earlier run or of surveyed anchors. The ranges to three or more of its peers locate
  ///     the device in it. From then on it is the joint fit's prior for the peers of the same names.
  /// - Throws: The first setting that makes no sense.
  public init(
    _ configuration: FusionConfiguration = FusionConfiguration(), map: PeerMap? = nil
  ) throws(FusionConfigurationError) {
    try configuration.validate()
    try map?.validate()
    mark = EngineMark.next()
    localizer = map.map { MapLocalizer($0) }
    settings = Settings(configuration)
    joint = JointEstimator(configuration.odometry)
    trajectory = Trajectory(
      odometry: configuration.odometry, maximumLateness: configuration.ranging.maximumLateness,
      detectsJumps: configuration.features.contains(.jumpDetection))
  }

  /// The peers, in the order in which they were added.
  public var peerIDs: [PeerID] { peers.indices.map { PeerID(index: $0, mark: mark) } }

  /// Whether a handle is one of this engine.
  @inline(__always)
  func owns(_ peer: PeerID) -> Bool {
    peers.indices.contains(peer.index) && (peer.mark == mark || peer.mark == 0 || mark == 0)
  }

  /// The name of a peer, as it was given to ``addPeer(_:named:)``.
  ///
  /// - Parameter peer: The peer.
  /// - Returns: The name; `nil` for a peer without one, or of another engine.
  public func name(of peer: PeerID) -> String? { owns(peer) ? names[peer.index] : nil }

  /// How a peer may move.
  ///
  /// - Parameter peer: The peer.
  /// - Returns: The motion that was declared; `nil` for a peer of another engine.
  public func motion(of peer: PeerID) -> PeerMotion? { owns(peer) ? peers[peer.index].motion : nil }

  /// The newest pose of the device; `nil` before the first.
  public var newestPose: DevicePose? {
    trajectory.newest.map {
      DevicePose(timestamp: $0.timestamp, worldFromDevice: $0.worldFromDevice)
    }
  }

  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameter motion: How the peer may move.
  /// - Returns: The peer's handle in this engine.
  public mutating func addPeer(_ motion: PeerMotion = .stationary) -> PeerID {
    append(motion, named: nil)
  }

  /// Adds a peer with a name; samples of it may follow.
  ///
  /// - Parameters:
  ///   - motion: How the peer may move.
  ///   - name: What it is called in a ``PeerMap``, where each peer has a name of its own; `nil` for a name like
  ///     "peer-2".
  /// - Returns: The peer's handle in this engine.
  /// - Throws: When another peer of this engine has that name.
  public mutating func addPeer(
    _ motion: PeerMotion = .stationary, named name: String?
  ) throws(FusionConfigurationError) -> PeerID {
    if let name, names.contains(name) {
      throw FusionConfigurationError(
        setting: "peers[\(peers.count)].name", problem: "\"\(name)\" is the name of another peer")
    }
    return append(motion, named: name)
  }

  private mutating func append(_ motion: PeerMotion, named name: String?) -> PeerID {
    names.append(name)
    localizer?.add(peer: motion, named: name)
    peers.append(PeerFilter(motion: motion, configuration.ranging))
    return PeerID(index: peers.count - 1, mark: mark)
  }

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: What became of it.
  @discardableResult
  public mutating func add(_ pose: DevicePose) -> PoseOutcome { trajectory.append(pose) }

  /// Takes note of the odometry's quality and the light, from the next pose on.
  ///
  /// - Parameter tracking: What the odometry reports.
  public mutating func add(_ tracking: TrackingSample) {
    trajectory.setQuality(tracking.quality)
    odometryLimits = tracking.quality == .normal ? [] : .limitedTracking
    let light = tracking.ambientIntensityLumens ?? .infinity
    if light < settings.configuration.convergence.darkBelowLumens {
      odometryLimits.insert(.insufficientLighting)
    }
  }

  /// Changes how a peer may move, with the peer's next sample.
  ///
  /// The posterior stays, except of a moving peer that has not converged and is declared at rest: its search begins
  /// anew.
  ///
  /// - Parameters:
  ///   - motion: How it may move from now on.
  ///   - peer: The peer.
  /// - Returns: Whether the peer is one of this engine; if not, nothing changes.
  @discardableResult
  public mutating func setMotion(_ motion: PeerMotion, of peer: PeerID) -> Bool {
    guard owns(peer) else { return false }
    peers[peer.index].motion = motion
    return true
  }

  /// Fuses a ranging sample.
  ///
  /// 1. Screen: find the device's pose at the sample's time, and judge each measurement by itself.
  /// 2. First sample: begin a track with hypotheses on the sphere, cone or circle that it allows.
  /// 3. Predict: drift spreads the position, wandering errors decorrelate.
  /// 4. Update each hypothesis, measurement by measurement, with a robust likelihood.
  /// 5. Search, while the posterior is bent: fit the hypotheses to the whole window.
  /// 6. Reduce: prune improbable hypotheses, merge equal ones, settle on one.
  /// 7. Challenge: when the samples keep contradicting the track, a second one begins with them and
  ///    runs beside it. The track that is consistent with the data wins.
  /// 8. Report, and learn how noisy the measurements are.
  /// 9. Assess convergence.
  /// 10. Every few steps of a walk, fit peers at rest together with the odometry's drift; their filters
  ///    go on from what that has found.
  ///
  /// - Parameter sample: The sample, up to a second late, by the radio's clock.
  /// - Returns: What became of each of its components; its time is by the poses' clock.
  @discardableResult
  public mutating func add(_ sample: RangingSample) -> SampleReport {
    let offset = settings.configuration.ranging.clockOffset
    return offset == 0 ? fuse(sample) : fuse(sample.advanced(bySeconds: -offset))
  }

  /// Fuses a sample whose time is by the poses' clock.
  private mutating func fuse(_ sample: RangingSample) -> SampleReport {
    guard owns(sample.peer) else { return refuse(sample, .unknownPeer) }
    let index = sample.peer.index
    var reports = PerKind<ComponentReport>(repeating: .absent)
    var device = TrajectoryPoint.nowhere
    let hasPose = trajectory.find(sample.timestamp, &device)
    let odometry = OdometryState(
      limits: odometryLimits(at: sample.timestamp),
      isSilent: !hasPose && trajectory.silence(at: sample.timestamp).isOutage,
      isSlipping: joint.isSlipping(at: sample.timestamp), resumedAt: trajectory.resumedAt)
    let wasHeard = peers[index].isHeard
    if !wasHeard, hasPose, heardCount > 0 { shareNoise(with: index) }
    var event: SampleEvent?
    let used = peers[index].add(
      sample, at: device, hasPose: hasPose, newestSampleTime: newestSampleTime, odometry, settings,
      isAlone: heardCount <= 1, packsHypotheses: heardCount > Self.packingThreshold,
      into: &reports, &event)
    // A slip of the odometry shifts the places of all peers in its world: it is no move of a peer.
    if case .peerMoved(let since) = event, joint.explains(contradictionSince: since) { event = nil }
    if !used.isEmpty {
      if !wasHeard { heardCount += 1 }
      newestSampleTime = max(newestSampleTime ?? sample.timestamp, sample.timestamp)
      if peers.count > 1 || peers[index].needsJointFit {
        fitJointly(
          used, of: index, from: device, isObstructed: sample.isNonLineOfSight ?? false, odometry)
        if let found = joint.takeSlipEvent() { event = found }
      }
    }
    // Performance: put together last; a whole that others write to would be copied to be returned.
    return SampleReport(peer: sample.peer, timestamp: sample.timestamp, event, &reports)
  }

  /// The report of a sample of which nothing can be used.
  @inline(never)
  private func refuse(_ sample: RangingSample, _ rejection: ComponentReport.Rejection)
    -> SampleReport
  {
    var reports = PerKind<ComponentReport>(repeating: .absent)
    for kind in MeasurementKind.allCases {
      guard let measured = MeasuredValue(kind, of: sample, configuration.ranging) else { continue }
      reports[kind] = ComponentReport(
        value: measured.value, variance: 0, innovation: 0, innovationVariance: 0,
        outcome: .rejected(rejection))
    }
    return SampleReport(peer: sample.peer, timestamp: sample.timestamp, nil, &reports)
  }

  /// Lets a peer that is heard for the first time begin with the noise of the others.
  @inline(never)
  private mutating func shareNoise(with index: Int) {
    guard configuration.features.contains(.noiseLearning) else { return }
    var learnt: [NoiseLevels] = []
    // Performance: a crowd of peers need not all be asked.
    for other in peers.indices where learnt.count < Self.mostTeachers && peers[other].isHeard {
      learnt.append(peers[other].noise)
    }
    peers[index].beginNoise(configuration.ranging, learnt: learnt)
  }

  /// The largest number of peers of whose noise another one learns.
  private static let mostTeachers = 16

  /// Stage 10: fits peers at rest together with the odometry's drift, every few steps of a walk.
  @inline(never)
  private mutating func fitJointly(
    _ measurements: Measurements, of peer: Int, from device: TrajectoryPoint, isObstructed: Bool,
    _ odometry: OdometryState
  ) {
    guard configuration.features.contains(.jointFit), let (birth, place) = peers[peer].restingPlace
    else { return }
    defer { locateInMap(by: measurements, of: peer, from: device) }
    joint.record(
      measurements, of: peer, bornAt: birth, at: place, from: device, isObstructed: isObstructed,
      settings)
    guard joint.isDue(at: device, isContradicted: peers[peer].isContradicted) else {
      joint.examineNext()
      return
    }
    joint.fit(at: device, peers, settings)
    for index in joint.proposals.indices {
      peers[joint.proposals[index].peer].adopt(
        joint.proposals[index].posterior, odometry, settings,
        packsHypotheses: heardCount > Self.packingThreshold)
    }
  }

  /// Examines the map when that is due.
  ///
  /// Where the map is used it becomes the joint fit's prior and frame. Where it is contradicted all peers of it are
  /// located anew.
  @inline(never)
  private mutating func locateInMap(
    by measurements: Measurements, of peer: Int, from device: TrajectoryPoint
  ) {
    guard var localizer = localizer.take() else { return }
    defer { self.localizer = localizer }
    guard localizer.add(measurements, of: peer, from: device, settings.configuration),
      joint.canExamine(at: device)
    else { return }
    let before = localizer.finding
    localizer.examine(joint, at: device, peers, settings)
    if let finding = localizer.finding {
      guard !joint.isInMap || !finding.isSame(as: before) else { return }
      restart(Set(joint.knownPeers).subtracting(finding.peers.map(\.peer)))
      joint.enter(
        finding.map, peers: finding.peers.map(\.peer), mapFromWorld: finding.placement,
        at: device, settings)
    } else if joint.isInMap, case .contradicted = localizer.verdict {
      restart(Set(joint.knownPeers))
      joint = JointEstimator(configuration.odometry)
    }
  }

  /// Locates peers anew, as their places came from a map that is wrong.
  private mutating func restart(_ chosen: Set<Int>) {
    for index in chosen {
      peers[index] = PeerFilter(motion: peers[index].motion, configuration.ranging)
    }
  }

  /// The estimate of a peer at its newest update.
  ///
  /// An update is a sample of the peer that was used, a joint fit that changed its filter, or a range while
  /// there were no poses.
  ///
  /// - Parameter peer: The peer.
  /// - Returns: The estimate, as seen from the device at that time. Nothing is known of a peer of another engine
  ///   (``Unavailability/unknownPeer``).
  public func estimate(of peer: PeerID) -> PeerEstimate {
    guard owns(peer) else {
      return PeerEstimate(strange: peer, at: newestSampleTime ?? Timestamp(nanoseconds: 0))
    }
    let filters = peers.span
    if let time = filters[peer.index].publishedRanges?.newest {
      return estimate(of: peer, at: time)
    }
    return estimate(of: peer, from: filters[peer.index].posterior.device)
  }

  /// The estimate of a peer, predicted or looked back to another moment.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment; the device's pose is interpolated or, for a tenth of a second,
  ///     extrapolated.
  /// - Returns: The estimate, as seen from the device at that moment, drift since the last sample
  ///   included. Without a pose for it, the distance is that of the ranges since then, and all else is
  ///   as seen from the last pose and as sure as the device's unseen motion lets it be. Poses are kept for
  ///   ``RangingConfiguration/maximumLateness``: of a moment before that nothing relative to the device is known
  ///   (``Unavailability/noData``), and of a peer that may move nothing but the distance at any moment before its
  ///   last sample. Nothing is known of a peer of another engine (``Unavailability/unknownPeer``).
  public func estimate(of peer: PeerID, at time: Timestamp) -> PeerEstimate {
    guard owns(peer) else { return PeerEstimate(strange: peer, at: time) }
    // Most often a display asks for the newest pose.
    guard let device = trajectory.poses.newest(at: time) ?? trajectory.point(at: time),
      device.isTracked
    else {
      return estimateWithoutPose(of: peer, at: time)
    }
    return estimate(of: peer, from: device)
  }

  /// The places where a peer may be at a moment.
  ///
  /// ``PeerEstimate/positionInWorld`` of a peer with several is between them, and its covariance holds all of them.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment, as for ``estimate(of:at:)``.
  /// - Returns: The modes of the posterior, the most probable first: one where the place is known, none before
  ///   the first sample that could be used, and none for a peer of another engine.
  public func modes(of peer: PeerID, at time: Timestamp) -> [PositionMode] {
    guard owns(peer) else { return [] }
    let filter = peers[peer.index]
    guard filter.hasTrack else { return [] }
    var device = lastDevice(seenBefore: time, filter.posterior.device)
    if let point = trajectory.point(at: time), point.isTracked { device = point }
    return filter.view(from: device, settings).modes
  }

  @inline(__always)
  private func estimate(of peer: PeerID, from device: TrajectoryPoint) -> PeerEstimate {
    // Performance: read in place through a span, as a filter is large.
    let filters = peers.span
    if filters[peer.index].posterior.isSingle {
      return PeerEstimate(
        of: peer, at: device.timestamp,
        from: filters[peer.index].posterior.view(
          from: device, isPlanar: settings.configuration.odometry.isPlanar),
        spread: filters[peer.index].posterior.spread, filters[peer.index].convergence, settings,
        odometryLimits: odometryLimits(at: device.timestamp),
        lacksPoses: lacksPoses(filters[peer.index].convergence, at: device.timestamp))
    }
    return filters[peer.index].hasTrack
      ? estimateFromHypotheses(of: peer, from: device)
      : PeerEstimate(
        nothingOf: peer, at: device.timestamp, filters[peer.index].convergence.verdict)
  }

  private func estimateFromHypotheses(
    of peer: PeerID, from device: TrajectoryPoint
  ) -> PeerEstimate {
    let filter = peers[peer.index]
    var estimate = PeerEstimate(
      of: peer, at: device.timestamp, from: filter.view(from: device, settings),
      spread: filter.posterior.spread, filter.convergence, settings,
      odometryLimits: odometryLimits(at: device.timestamp),
      lacksPoses: lacksPoses(filter.convergence, at: device.timestamp))
    if !filter.tellsDirection(at: device.timestamp) { estimate.withholdDirection() }
    if filter.motion != .stationary, device.timestamp < filter.posterior.device.timestamp {
      estimate.withholdOutputs()
    }
    if let range = filter.publishedRanges?.estimate(at: device.timestamp) {
      let sight = estimate.positionInWorld.map { $0 - device.worldFromDevice.translation }
      estimate.setDistance(
        range, toPlace: filter.motion == .stationary ? sight?.length : nil, settings)
    }
    return estimate
  }

  /// What limits the odometry: a dark scene, its own report, or that it may be slipping.
  @inline(__always)
  private func odometryLimits(at time: Timestamp) -> ConvergenceReasons {
    joint.isSlipping(at: time) ? odometryLimits.union(.limitedTracking) : odometryLimits
  }

  /// Whether poses have come back since a peer was last heard: their world is yet to be confirmed.
  @inline(__always)
  private func hasResumed(_ state: ConvergenceState) -> Bool {
    state.resumedAt != trajectory.resumedAt
  }

  /// Whether it is not known where the device is in the world of the peers.
  @inline(__always)
  private func lacksPoses(_ state: ConvergenceState, at time: Timestamp) -> Bool {
    hasResumed(state) || joint.isSlipping(at: time)
  }

  /// The estimate at a moment for which there is no pose.
  private func estimateWithoutPose(of peer: PeerID, at time: Timestamp) -> PeerEstimate {
    let filter = peers[peer.index]
    let isSilent = trajectory.silence(at: time).isOutage
    var estimate: PeerEstimate
    let isPast = time < filter.posterior.device.timestamp
    if !filter.hasTrack {
      estimate = PeerEstimate(nothingOf: peer, at: time, filter.convergence.verdict)
    } else {
      let device = lastDevice(seenBefore: time, filter.posterior.device)
      estimate = PeerEstimate(
        of: peer, at: time, from: filter.view(from: device, settings),
        spread: filter.posterior.spread, filter.convergence, settings,
        odometryLimits: odometryLimits(at: time),
        lacksPoses: isSilent && !isPast || lacksPoses(filter.convergence, at: time))
      estimate.setOutputs(
        from: filter.view(
          from: device, unseen: max(0, time.seconds(since: device.timestamp)), settings),
        filter.convergence, settings)
    }
    if !filter.tellsDirection(at: time) { estimate.withholdDirection() }
    if isPast { estimate.withholdOutputs() }
    if let range = filter.publishedRanges?.estimate(at: time) {
      estimate.setDistance(range, settings)
    }
    if estimate.horizontalAngleRadians.value == nil, let azimuth = filter.azimuth(at: time) {
      estimate.setHorizontalAngle(azimuth.azimuthRadians, sigma: azimuth.sigma, settings)
    }
    return estimate
  }

  /// The newest pose, if it can be used before a moment, or else where the device was at a sample.
  private func lastDevice(
    seenBefore time: Timestamp, _ atSample: TrajectoryPoint
  ) -> TrajectoryPoint {
    guard let newest = trajectory.newest, newest.isTracked, newest.timestamp <= time,
      newest.timestamp > atSample.timestamp, newest.world == atSample.world
    else { return atSample }
    return newest
  }
}

// MARK: - Saving

extension FusionEngine {
  /// All that an engine holds, to be saved.
  struct Contents: Codable {
    /// The models follow from it (``Settings``).
    var configuration: FusionConfiguration
    var features: EngineFeatures
    var names: [String?]
    var trajectory: Trajectory
    var peers: [PeerFilter]
    var joint: JointEstimator
    var localizer: MapLocalizer?
    var odometryLimits: ConvergenceReasons
    var newestSampleTime: Timestamp?
    var heardCount: Int
  }

  /// What it holds.
  var contents: Contents {
    Contents(
      configuration: configuration, features: configuration.features, names: names,
      trajectory: trajectory, peers: peers, joint: joint.toBeSaved, localizer: localizer,
      odometryLimits: odometryLimits,
      newestSampleTime: newestSampleTime, heardCount: heardCount)
  }

  /// Makes an engine that holds what another one held; ``Contents/inconsistency`` must be `nil`.
  init(_ contents: Contents) {
    var configuration = contents.configuration
    configuration.features = contents.features
    settings = Settings(configuration)
    mark = 0
    names = contents.names
    trajectory = contents.trajectory
    peers = contents.peers
    joint = contents.joint
    localizer = contents.localizer
    odometryLimits = contents.odometryLimits
    newestSampleTime = contents.newestSampleTime
    heardCount = contents.heardCount
  }
}
