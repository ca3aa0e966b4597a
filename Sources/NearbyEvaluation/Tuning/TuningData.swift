// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings
internal import NearbySmoothing

/// What a ``Tuner`` takes from a recording: the device's path and the samples of peers at rest.
///
/// It holds no truth.
public struct TuningData: Sendable {
  /// What an engine is given.
  enum Event: Sendable {
    case pose(DevicePose)
    case tracking(TrackingSample)
    case sample(RangingSample)
  }

  /// The settings as they are stated, with which the search begins.
  public var stated: FusionConfiguration
  /// The path, with the variances of a drift of one.
  private(set) var path: [NoiseEvidence.PathPoint] = []
  private(set) var samples: [StatedSample] = []
  private(set) var motions: [PeerMotion] = []
  /// All that an engine is given in a run, in the order of arrival; samples that it would refuse too.
  private(set) var events: [Event] = []
  /// How each peer of the events may move.
  private(set) var eventMotions: [PeerMotion] = []
  /// How many samples state an accuracy of their own, by which an engine then goes.
  public private(set) var samplesWithOwnSigma = 0

  /// Two engines that take the poses: with a drift of one, and with none but for jumps.
  private var unitDrift: FusionEngine
  private var jumpsOnly: FusionEngine

  /// Makes data without poses and samples.
  ///
  /// - Parameter stated: The settings as they are stated.
  /// - Throws: The first setting that makes no sense.
  public init(stated: FusionConfiguration) throws(FusionConfigurationError) {
    self.stated = stated
    var unit = stated
    unit.odometry.positionDrift = 1
    unit.odometry.yawDriftRadians = 1
    unitDrift = try FusionEngine(unit)
    var none = stated
    none.odometry.positionDrift = 0
    none.odometry.yawDriftRadians = 0
    jumpsOnly = try FusionEngine(none)
  }

  /// Reads a recording, not its truth.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - stated: The settings as they are stated; those of the recording when `nil`.
  ///   - mostSamples: How many samples are read at most.
  ///   - mostPoses: How many poses are read at most.
  /// - Throws: The first fault of the recording.
  public init(
    _ recording: RecordingReader, stated: FusionConfiguration? = nil, mostSamples: Int = .max,
    mostPoses: Int = .max
  ) throws {
    let stated = stated ?? recording.manifest.fusionConfiguration()
    try self.init(stated: stated)
    var stream = try recording.ordered(by: stated).events()
    var ids: [PeerID] = []
    while samples.count < mostSamples, path.count < mostPoses, let event = try stream.next() {
      while ids.count < stream.peerCount {
        ids.append(addPeer(stream.peer(at: ids.count).motion))
      }
      switch event {
      case .pose(let pose): add(pose)
      case .tracking(let sample): add(sample)
      case .ranging(let row): add(row.sample(of: ids[row.peerIndex]))
      }
    }
  }

  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameter motion: How it may move; only peers at rest are used.
  /// - Returns: Its handle.
  @discardableResult
  public mutating func addPeer(_ motion: PeerMotion) -> PeerID {
    motions.append(motion)
    eventMotions.append(motion)
    _ = jumpsOnly.addPeer(motion)
    // Any engine may be given the samples.
    return PeerID(index: motions.count - 1)
  }

  /// Extends the device's path.
  public mutating func add(_ pose: DevicePose) {
    events.append(.pose(pose))
    jumpsOnly.add(pose)
    unitDrift.add(pose)
    guard var point = unitDrift.newestDevicePoint, point.timestamp == pose.timestamp,
      let jumps = jumpsOnly.newestDevicePoint
    else { return }
    point.positionDriftVariance -= jumps.positionDriftVariance
    point.yawDriftVariance -= jumps.yawDriftVariance
    path.append(
      NoiseEvidence.PathPoint(
        point, jumpPositionVariance: jumps.positionDriftVariance,
        jumpYawVariance: jumps.yawDriftVariance))
  }

  /// Takes note of the odometry's quality.
  public mutating func add(_ tracking: TrackingSample) {
    events.append(.tracking(tracking))
    unitDrift.add(tracking)
    jumpsOnly.add(tracking)
  }

  /// Adds a sample.
  public mutating func add(_ sample: RangingSample) {
    let peer = sample.peer.index
    guard motions.indices.contains(peer) else { return }
    events.append(.sample(sample))
    guard let accepted = StatedSample(sample, stated.ranging) else { return }
    samples.append(accepted)
    samplesWithOwnSigma += MeasurementKind.allCases.count {
      accepted.values[$0] != nil && sample[$0].sigma != nil
    }
  }

  /// The events in the order in which an engine can use them with an offset of the radio's clock.
  ///
  /// A sample comes as soon as the first pose at or after its time has come, as in `RecordingEventStream`.
  func events(clockOffset: Double) -> [Event] {
    guard clockOffset != stated.ranging.clockOffset else { return events }
    var ordered: [Event] = []
    ordered.reserveCapacity(events.count)
    let waiting = events.compactMap { event -> (time: Timestamp, event: Event)? in
      guard case .sample(let sample) = event else { return nil }
      return (sample.timestamp.advanced(bySeconds: -clockOffset), event)
    }.sorted { $0.time < $1.time }
    var next = 0
    for event in events {
      if case .sample = event { continue }
      ordered.append(event)
      guard case .pose(let pose) = event else { continue }
      while next < waiting.count, waiting[next].time <= pose.timestamp {
        ordered.append(waiting[next].event)
        next += 1
      }
    }
    return ordered + waiting[next...].map(\.event)
  }

  // MARK: The device

  /// Finds the device at a moment.
  ///
  /// - Parameters:
  ///   - time: The moment.
  ///   - gap: The longest time between two poses that is bridged, seconds.
  /// - Returns: The point, its variances interpolated; `nil` where no tracked pose is near.
  private func point(at time: Timestamp, gap: Double) -> TrajectoryPoint? {
    var (low, high) = (0, path.count)
    while low < high {
      let middle = (low + high) / 2
      if path[middle].point.timestamp <= time { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let before = path[low - 1].point
    guard before.isTracked else { return nil }
    guard low < path.count else {
      return time.seconds(since: before.timestamp) <= 0.1 ? before : nil
    }
    let after = path[low].point
    let length = after.timestamp.seconds(since: before.timestamp)
    guard length <= gap, after.isTracked, after.world == before.world else { return nil }
    let passed = time.seconds(since: before.timestamp)
    let fraction = length > 0 ? passed / length : 0
    var point = before
    point.timestamp = time
    point.worldFromDevice = before.worldFromDevice.interpolated(
      to: after.worldFromDevice, fraction: fraction)
    point.path += fraction * (after.path - before.path)
    point.turn += fraction * (after.turn - before.turn)
    point.positionDriftVariance +=
      fraction * (after.positionDriftVariance - before.positionDriftVariance)
    point.yawDriftVariance += fraction * (after.yawDriftVariance - before.yawDriftVariance)
    let sigma = 0.5 * passed * (length - passed)
    point.interpolationVariance = sigma * sigma
    return point
  }

  /// The offset of the radio's clock at which ranges fit the path best; `nil` where that is the stated one, as
  /// far as can be told.
  var alignedClockOffset: Double? {
    ClockAligner.offset(
      of: path.lazy.map { ($0.point.timestamp, $0.point.worldFromDevice.translation) }, samples,
      stated: stated.ranging.clockOffset)
  }

  /// Half of the time over which the device's velocity is measured.
  ///
  /// Drift is a random walk, so its share of a velocity grows as the time shrinks, and it counts as information
  /// about the clock. The time is chosen so that drift is a twentieth of the device's speed.
  ///
  /// - Parameter drift: The drift of position, m/√m.
  /// - Returns: Seconds.
  private func motionSeconds(drift: Double) -> Double {
    guard let first = path.first?.point, let last = path.last?.point else { return 0 }
    let seconds = max(last.timestamp.seconds(since: first.timestamp), 1)
    let speed = max((last.path - first.path) / seconds, 0.05)
    let noise = Self.velocityNoise * speed
    let window = drift * drift * speed / (noise * noise)
    return min(max(0.5 * window, Self.motionSeconds.lowerBound), Self.motionSeconds.upperBound)
  }

  private static let velocityNoise = 0.05
  private static let motionSeconds = 0.02...0.5

  /// The samples with the device where it was.
  ///
  /// - Parameters:
  ///   - constants: How far the radio's clock is ahead of the poses', and where the antenna is.
  ///   - drift: The drift of the path's position, m/√m.
  /// - Returns: Those for which there are poses, in the order of time.
  func sightings(at constants: NoiseEvidence.Constants, drift: Double) -> [Sighting] {
    let gap = stated.odometry.maximumPoseGap
    let half = motionSeconds(drift: drift)
    return samples.sorted { $0.timestamp < $1.timestamp }.compactMap { sample in
      let time = sample.timestamp.advanced(bySeconds: -constants.clockOffset)
      guard let device = point(at: time, gap: gap) else { return nil }
      var sighting = Sighting(
        peer: sample.peer, timestamp: time, device: device, measurements: sample.values,
        isObstructed: sample.isObstructed)
      let before = point(at: time.advanced(bySeconds: -half), gap: gap)
      let after = point(at: time.advanced(bySeconds: half), gap: gap)
      let seconds = (before == nil ? 0 : half) + (after == nil ? 0 : half)
      if seconds > 0 {
        sighting.rate = ChainProblem.Rate(
          from: (before ?? device).worldFromDevice, to: (after ?? device).worldFromDevice,
          antenna: constants.antenna, seconds: seconds)
        // The path's variances are those of a drift of one.
        let length =
          (after ?? device).positionDriftVariance - (before ?? device).positionDriftVariance
        sighting.velocityVariance = drift * drift * length / (seconds * seconds)
      }
      return sighting
    }
  }

  /// Whether all poses are at one height and level, as those of wheels are.
  var hasFlatPath: Bool {
    guard let first = path.first else { return false }
    let height = first.point.worldFromDevice.translation.y
    return path.lazy.map(\.point.worldFromDevice).allSatisfy { pose in
      abs(pose.translation.y - height) < 1e-3 && pose.rotation.yAxis.y > 0.9999
    }
  }

  /// How many values of a kind there are.
  func count(of kind: MeasurementKind) -> Int { samples.count { $0.values[kind] != nil } }

  // MARK: What is used

  /// The peers at rest with most samples, renumbered, and evenly thinned samples.
  func prepared(_ mostPeers: Int, _ mostSamples: Int) -> TuningData {
    var counts = [Int](repeating: 0, count: motions.count)
    for sample in samples { counts[sample.peer] += 1 }
    let chosen = motions.indices.filter { motions[$0] != .moving && counts[$0] >= 10 }
      .sorted { (counts[$1], $0) < (counts[$0], $1) }.prefix(mostPeers)
    let places = Dictionary(uniqueKeysWithValues: chosen.enumerated().map { ($1, $0) })
    let total = chosen.reduce(0) { $0 + counts[$1] }
    let every = max(1, (total + mostSamples - 1) / mostSamples)
    var data = self
    var seen = [Int](repeating: 0, count: chosen.count)
    data.samples = samples.compactMap { sample in
      guard let place = places[sample.peer] else { return nil }
      seen[place] += 1
      guard seen[place] % every == 0 else { return nil }
      var sample = sample
      sample.peer = place
      return sample
    }
    data.motions = chosen.map { motions[$0] }
    return data
  }

  /// Where an engine has each peer at the peer's last sample.
  ///
  /// - Parameter configuration: The engine's settings.
  /// - Returns: Its best idea of each peer, with `nil` for peers that it has nowhere; `nil` for settings
  ///   that make no sense.
  func starts(_ configuration: FusionConfiguration) -> [NoiseEvidence.Start?]? {
    guard var engine = try? FusionEngine(configuration) else { return nil }
    let peers = run(&engine) { _ in }
    return peers.map { peer in
      guard let (device, modes) = engine.hypotheses(of: peer), let mode = modes.first,
        mode.positionInWorld.isFinite
      else { return nil }
      let floor = SymmetricMatrix3(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01)
      return NoiseEvidence.Start(
        timestamp: device.timestamp, position: mode.positionInWorld,
        covariance: mode.covarianceInWorld + floor)
    }
  }

  /// The peers at rest that an engine finds moved.
  ///
  /// The evidence would explain their samples by drift.
  ///
  /// - Parameter configuration: The engine's settings.
  /// - Returns: Their numbers; none if all peers were moved.
  func movedPeers(_ configuration: FusionConfiguration) -> Set<Int> {
    guard var engine = try? FusionEngine(configuration) else { return [] }
    var moved: Set<Int> = []
    _ = run(&engine) { report in
      if case .peerMoved = report.event { moved.insert(report.peer.index) }
    }
    return moved.count < motions.count ? moved : []
  }

  /// The same without some peers.
  func excluding(_ peers: Set<Int>) -> TuningData {
    var data = self
    data.samples.removeAll { peers.contains($0.peer) }
    return data
  }

  /// Runs an engine over the path and the samples.
  private func run(
    _ engine: inout FusionEngine, _ body: (SampleReport) -> Void
  ) -> [PeerID] {
    let configuration = engine.configuration
    let peers = motions.map { _ in engine.addPeer() }
    var next = 0
    let ordered = samples.sorted { $0.timestamp < $1.timestamp }
    let offset = configuration.ranging.clockOffset
    for point in path.lazy.map(\.point) {
      engine.add(DevicePose(timestamp: point.timestamp, worldFromDevice: point.worldFromDevice))
      while next < ordered.count,
        ordered[next].timestamp.advanced(bySeconds: -offset) <= point.timestamp
      {
        let sample = ordered[next].ranging(of: peers[ordered[next].peer])
        body(engine.add(sample))
        next += 1
      }
    }
    return peers
  }
}

extension ChainProblem.Rate {
  /// How a device moves between two poses.
  fileprivate init(
    from a: RigidTransform, to b: RigidTransform, antenna: Vector3, seconds: Double
  ) {
    let turn = b.rotation * a.rotation.inverse
    // Twice the quaternion's vector part is the angle, for so small a turn.
    let scale = (turn.w < 0 ? -2 : 2) / seconds
    self.init(
      velocity: (1 / seconds) * (b.act(antenna) - a.act(antenna)),
      turn: Vector3(scale * turn.x, scale * turn.y, scale * turn.z))
  }
}
