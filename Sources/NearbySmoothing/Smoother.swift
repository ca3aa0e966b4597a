// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// The batch answer over a whole recording: where each peer was, given all samples of all peers,
/// earlier and later ones alike.
///
/// It takes what an engine takes, in the same order, and passes it to an engine inside. That engine judges
/// each component, and gives an estimate at any time (``estimate(of:at:)``); its last one is where the
/// smoother starts. Then all unknowns are estimated together: the drift of the odometry, which all peers
/// share, and each peer's place and errors. With 2 to 24 peers, all at rest, these include
/// the errors of ranges that last, as walls make them. An error by place is meant for a peer at rest, and with more peers
/// each knot of the path would have too many unknowns.
///
/// ```swift
/// var smoother = try Smoother()
/// let peer = smoother.addPeer()
/// smoother.add(DevicePose(timestamp: t0, worldFromDevice: pose))
/// smoother.add(RangingSample(peer: peer, timestamp: t0, distance: 4.2))
/// let track = smoother.solve().tracks[peer.index]
/// ```
///
/// Memory and time grow linearly with the recording: some 400 bytes for each sample, and a second or
/// so for ten thousand of them; with lasting errors of ranges of eight peers six seconds.
public struct Smoother: SequentialEstimator {
  /// The settings in force.
  public let configuration: FusionConfiguration

  private var engine: FusionEngine
  private let faults: FaultModel
  private var motions: [PeerMotion] = []
  /// The path, thinned to where drift or time has gone on.
  private var places: [TrajectoryPoint] = []
  private var sightings: [Sighting] = []
  /// Whether errors of ranges that last are estimated; without them only to compare.
  var estimatesRangeErrors = true

  /// Places of the path are kept at least so often, seconds: what a moving peer needs.
  private static let longestSeconds = 0.25
  /// As many values as a place has coordinates; one less in a planar world.
  private static let leastValues = 3

  /// Makes a smoother that has seen nothing.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - map: The engine's prior map; the smoother does not use it.
  /// - Throws: The first setting that makes no sense.
  public init(
    _ configuration: FusionConfiguration = FusionConfiguration(), map: PeerMap? = nil
  ) throws(FusionConfigurationError) {
    engine = try FusionEngine(configuration, map: map)
    faults = FaultModel(configuration)
    self.configuration = configuration
  }

  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameter motion: How the peer may move; of `PeerMotion.unknown` the smoother decides.
  /// - Returns: The peer's handle in this smoother.
  public mutating func addPeer(_ motion: PeerMotion = .stationary) -> PeerID {
    motions.append(motion)
    return engine.addPeer(motion)
  }

  /// Adds a peer with a name; samples of it may follow.
  ///
  /// - Parameters:
  ///   - motion: How the peer may move; of `PeerMotion.unknown` the smoother decides.
  ///   - name: What it is called in a `PeerMap`.
  /// - Returns: The peer's handle in this smoother.
  /// - Throws: When another peer has that name.
  public mutating func addPeer(
    _ motion: PeerMotion = .stationary, named name: String?
  ) throws(FusionConfigurationError) -> PeerID {
    let peer = try engine.addPeer(motion, named: name)
    motions.append(motion)
    return peer
  }

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: What became of it.
  @discardableResult
  public mutating func add(_ pose: DevicePose) -> PoseOutcome {
    let outcome = engine.add(pose)
    guard let newest = engine.newestDevicePoint else { return outcome }
    guard let last = places.last else {
      places.append(newest)
      return outcome
    }
    let hasDrifted =
      newest.positionDriftVariance != last.positionDriftVariance
      || newest.yawDriftVariance != last.yawDriftVariance || newest.world != last.world
    if hasDrifted || newest.timestamp.seconds(since: last.timestamp) >= Self.longestSeconds {
      places.append(newest)
    }
    return outcome
  }

  /// Takes note of the odometry's quality and the light, from the next pose on.
  ///
  /// - Parameter tracking: What the odometry reports.
  public mutating func add(_ tracking: TrackingSample) { engine.add(tracking) }

  /// Adds a ranging sample.
  ///
  /// - Parameter sample: The sample, up to a second late.
  /// - Returns: What became of it in the engine; components that are rejected for what they are, and not
  ///   as outliers, are left out here too.
  @discardableResult
  public mutating func add(_ sample: RangingSample) -> SampleReport {
    let report = engine.add(sample)
    let sample = sample.advanced(bySeconds: -configuration.ranging.clockOffset)
    var measurements = PerKind<MeasuredValue?>(repeating: nil)
    for kind in MeasurementKind.allCases {
      switch report[kind].outcome {
      case .absent, .rejected: continue
      case .fused, .rejectedAsOutlier:
        measurements[kind] = MeasuredValue(kind, of: sample, configuration.ranging)
      }
    }
    let index = sample.peer.index
    var sighting = Sighting(
      peer: index, timestamp: sample.timestamp,
      device: engine.trackedDevicePoint(at: sample.timestamp), measurements: measurements,
      isObstructed: sample.isNonLineOfSight ?? false)
    if motions[index] != .stationary {
      sighting.filterPosition = engine.estimate(of: sample.peer).positionInWorld
    }
    sightings.append(sighting)
    return report
  }

  /// What the engine knows of a peer at a moment, from what has come so far.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment, not before the peer's last sample.
  /// - Returns: The engine's estimate, not a smoothed one.
  public func estimate(of peer: PeerID, at time: Timestamp) -> PeerEstimate {
    engine.estimate(of: peer, at: time)
  }

  /// The places where a peer may be at a moment, the most probable first.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment, not before the peer's last sample.
  /// - Returns: The modes of the engine's posterior.
  public func modes(of peer: PeerID, at time: Timestamp) -> [PositionMode] {
    engine.modes(of: peer, at: time)
  }

  /// Where the odometry's world lies in the map, by the engine; ``SmoothedRecording/path`` has it smoothed.
  public var mapAlignment: MapAlignment? { engine.mapAlignment }

  /// Where peers at rest are in the map, by the engine.
  public var peerMap: PeerMap? { engine.peerMap }
  /// What is made of the places of the map, by the engine.
  public var mapVerdict: SurveyVerdict? { engine.mapVerdict }

  // MARK: Solving

  /// Estimates everything together.
  ///
  /// - Parameters:
  ///   - starts: Where peers are taken to be at the end of the recording, in the odometry's world as it
  ///     was then, to begin the search with; where the engine had them for all others.
  ///   - progress: Called now and then with the share of the work that is done.
  /// - Returns: A track for each peer; an empty one for a peer without a sample that can be used, and of more
  ///   than ``mostPeers`` also for one of which fewer than three values, or two in a planar world, can be.
  public func solve(
    startingFrom starts: [PeerID: Vector3] = [:], progress: (Double) -> Void = { _ in }
  ) -> SmoothedRecording {
    var tracks = motions.indices.map { index in
      SmoothedTrack(
        peer: engine.peerIDs[index], motion: motions[index], positions: [], final: nil,
        rangeBias: SmoothedParameter(value: 0, sigma: configuration.ranging.rangeBiasSigma),
        rangeScale: SmoothedParameter(value: 0, sigma: configuration.ranging.rangeScaleSigma),
        modes: [])
    }
    let usable = sightings.filter(\.isUsable).sorted { $0.timestamp < $1.timestamp }
    guard let first = usable.first else { return SmoothedRecording(tracks: tracks) }
    let located = locatablePeers(usable)
    guard !located.isEmpty else { return SmoothedRecording(tracks: tracks) }
    let builder = ProblemBuilder(configuration, usable)
    let knots = chosenKnots(builder, from: first.timestamp, peerCount: located.count)
    let problem = builder.problem(
      knots: knots, peers: located, isMoving: located.map { motions[$0] == .moving })
    var finder = ModeFinder(
      problem, starts: located.map { start(of: $0, starts, knots: knots) },
      alternatives: located.map(alternatives),
      filterTracks: located.map { filterTrack(of: $0, usable, knots: knots) },
      undecided: located.indices.filter { motions[located[$0]] == .unknown })
    finder.estimatesRangeErrors = estimatesRangeErrors
    guard let result = finder.find(progress: progress) else {
      return SmoothedRecording(tracks: tracks)
    }
    let writer = TrackWriter(result)
    for (peer, index) in located.enumerated() {
      let moments = sightings.filter { $0.peer == index }.map { sighting in
        TrackWriter.Moment(
          time: sighting.timestamp, worldFromDevice: sighting.device?.worldFromDevice,
          knot: ProblemBuilder.knot(of: sighting.timestamp, sighting.device?.world, in: knots))
      }
      writer.write(peer, moments: moments, end: knots[knots.count - 1].device, into: &tracks[index])
    }
    return SmoothedRecording(
      tracks: tracks, path: SmoothedPath(knots, result.best.state.devices))
  }

  /// The peers to be estimated: all that were heard, or in a crowd those of which enough was measured to
  /// tell a place.
  ///
  /// A peer that was heard once or twice tells nothing of the path, but each of hundreds of them makes every
  /// step of the solution slower.
  private func locatablePeers(_ usable: [Sighting]) -> [Int] {
    var values = [Int](repeating: 0, count: motions.count)
    var isHeard = [Bool](repeating: false, count: motions.count)
    for sighting in usable {
      values[sighting.peer] += MeasurementKind.allCases.count { sighting.measurements[$0] != nil }
      if sighting.hasRadio { isHeard[sighting.peer] = true }
    }
    let heard = motions.indices.filter { isHeard[$0] }
    guard heard.count > Self.mostPeers else { return heard }
    let least = configuration.odometry.isPlanar ? Self.leastValues - 1 : Self.leastValues
    return heard.filter { values[$0] >= least }
  }

  /// How many peers there are to estimate together; with more than ``mostPeers`` that takes hours.
  public var locatablePeerCount: Int { locatablePeers(sightings.filter(\.isUsable)).count }

  /// With so many peers the time, which grows with the third power of their number, is still minutes.
  public static let mostPeers = 64

  /// The knots of a path, from the last one before the first sample on.
  private func chosenKnots(
    _ builder: ProblemBuilder, from start: Timestamp, peerCount: Int
  ) -> [DriftKnot] {
    var spacing = KnotSpacing(
      rangeSigma: builder.lineOfSightSigma, distance: builder.typicalDistance,
      isOfRangeErrors: !motions.contains(.moving) && peerCount <= RangeErrorSizes.mostPeers)
    if motions.contains(where: { $0 != .stationary }) {
      spacing.longestSeconds = Self.longestSeconds
    }
    // A sample before the first pose has no place; its world is that of the first pose.
    let begin = max(0, (places.firstIndex { $0.timestamp > start } ?? places.count) - 1)
    return spacing.knots(Array(places[begin...]))
  }

  // MARK: Starts

  private func start(
    of peer: Int, _ given: [PeerID: Vector3], knots: [DriftKnot]
  ) -> PeerStart? {
    let end = knots.count - 1
    if let place = given[engine.peerIDs[peer]] {
      return PeerStart(
        knot: end, position: place,
        covariance: SymmetricMatrix3(xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1))
    }
    guard let (device, modes) = engine.hypotheses(of: engine.peerIDs[peer]), let mode = modes.first,
      mode.positionInWorld.isFinite
    else { return nil }
    return PeerStart(
      knot: ProblemBuilder.knot(of: device.timestamp, device.world, in: knots),
      position: mode.positionInWorld,
      covariance: mode.covarianceInWorld)
  }

  private func alternatives(of peer: Int) -> [Vector3] {
    guard let (_, modes) = engine.hypotheses(of: engine.peerIDs[peer]) else { return [] }
    return modes.dropFirst().prefix(8).map(\.positionInWorld).filter(\.isFinite)
  }

  private func filterTrack(
    of peer: Int, _ usable: [Sighting], knots: [DriftKnot]
  ) -> [Vector3?] {
    var track = [Vector3?](repeating: nil, count: knots.count)
    for sighting in usable where sighting.peer == peer {
      guard let place = sighting.filterPosition, place.isFinite else { continue }
      track[ProblemBuilder.knot(of: sighting.timestamp, sighting.device?.world, in: knots)] = place
    }
    return track
  }
}
