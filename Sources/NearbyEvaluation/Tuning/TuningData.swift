// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// What a ``Tuner`` takes from a recording: the device's path and the samples of peers at rest.
///
/// It holds no truth.
public struct TuningData: Sendable {
  /// A sample that an engine would accept for what it is.
  struct Sample: Sendable {
    var peer: Int
    var timestamp: Timestamp
    var values: KindArray<Double?>
  }

  /// The settings as they are stated, with which the search begins.
  public var stated: FusionConfiguration
  /// The path.
  ///
  /// Its drift variances are those of a drift of one: metres travelled, in effect.
  private(set) var points: [TrajectoryPoint] = []
  /// The times at which the odometry's world jumped.
  private(set) var jumps: Set<Int> = []
  private(set) var samples: [Sample] = []
  private(set) var motions: [PeerMotion] = []
  /// How many samples state an accuracy of their own, by which an engine then goes.
  public private(set) var samplesWithOwnSigma = 0

  private var path: FusionEngine
  private var jumpWatch: FusionEngine

  /// Makes data without poses and samples.
  ///
  /// - Parameter stated: The settings as they are stated.
  /// - Throws: The first setting that makes no sense.
  public init(stated: FusionConfiguration) throws(FusionConfigurationError) {
    self.stated = stated
    var unit = stated
    unit.odometry.positionDrift = 1
    unit.odometry.yawDriftRadians = 1
    unit.features.remove(.jumpDetection)
    path = try FusionEngine(unit)
    jumpWatch = try FusionEngine(stated)
  }

  /// Reads a recording, not its truth.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - stated: The settings as they are stated; those of the recording when `nil`.
  /// - Throws: The first fault of the recording.
  public init(
    _ recording: RecordingReader, stated: FusionConfiguration? = nil
  ) throws {
    try self.init(stated: stated ?? recording.manifest.fusionConfiguration())
    var stream = try recording.events()
    var ids: [PeerID] = []
    while let event = try stream.next() {
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
    return jumpWatch.addPeer(motion)
  }

  /// Extends the device's path.
  public mutating func add(_ pose: DevicePose) {
    let outcome = jumpWatch.add(pose)
    path.add(pose)
    guard let newest = path.newestDevicePoint, newest.timestamp == pose.timestamp else { return }
    if case .acceptedAfterJump = outcome { jumps.insert(points.count) }
    points.append(newest)
  }

  /// Takes note of the odometry's quality.
  public mutating func add(_ tracking: TrackingSample) {
    path.add(tracking)
    jumpWatch.add(tracking)
  }

  /// Adds a sample.
  public mutating func add(_ sample: RangingSample) {
    let peer = sample.peer.index
    guard motions.indices.contains(peer) else { return }
    var values = KindArray<Double?>(repeating: nil)
    var hasAny = false
    for kind in MeasurementKind.allCases where kind != .heightDifference {
      guard let value = MeasuredValue(kind, of: sample, stated.ranging), value.rejection == nil
      else { continue }
      values[kind] = value.value
      hasAny = true
      if sample[kind].sigma != nil { samplesWithOwnSigma += 1 }
    }
    guard hasAny else { return }
    samples.append(Sample(peer: peer, timestamp: sample.timestamp, values: values))
  }

  // MARK: The device

  /// Finds the device at a moment.
  ///
  /// - Parameters:
  ///   - time: The moment.
  ///   - gap: The longest time between two poses that is bridged, seconds.
  /// - Returns: The point, its variances interpolated; `nil` where no tracked pose is near.
  func point(at time: Timestamp, gap: Double) -> TrajectoryPoint? {
    var (low, high) = (0, points.count)
    while low < high {
      let middle = (low + high) / 2
      if points[middle].timestamp <= time { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let before = points[low - 1]
    guard before.isTracked else { return nil }
    guard low < points.count else {
      return time.seconds(since: before.timestamp) <= 0.1 ? before : nil
    }
    let after = points[low]
    let length = after.timestamp.seconds(since: before.timestamp)
    guard length <= gap, after.isTracked else { return nil }
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

  /// How many jumps of the world lie between two moments.
  func jumpCount(from a: Timestamp, to b: Timestamp) -> Int {
    guard !jumps.isEmpty else { return 0 }
    let (first, last) = (min(a, b), max(a, b))
    return jumps.count { points[$0].timestamp > first && points[$0].timestamp <= last }
  }

  /// Whether all poses are at one height and level, as those of wheels are.
  var hasFlatPath: Bool {
    guard let first = points.first else { return false }
    let height = first.worldFromDevice.translation.y
    return points.allSatisfy { point in
      abs(point.worldFromDevice.translation.y - height) < 1e-3
        && point.worldFromDevice.rotation.yAxis.y > 0.9999
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
  /// - Returns: Places and covariances, with `nil` for peers that it has nowhere.
  func starts(
    _ configuration: FusionConfiguration
  ) -> [(place: Vector3, covariance: SymmetricMatrix3)?]? {
    guard var engine = try? FusionEngine(configuration) else { return nil }
    let peers = motions.map { _ in engine.addPeer() }
    var next = 0
    let ordered = samples.sorted { $0.timestamp < $1.timestamp }
    for point in points {
      engine.add(DevicePose(timestamp: point.timestamp, worldFromDevice: point.worldFromDevice))
      while next < ordered.count, ordered[next].timestamp <= point.timestamp {
        var sample = RangingSample(
          peer: peers[ordered[next].peer], timestamp: ordered[next].timestamp)
        for kind in MeasurementKind.allCases {
          sample[kind] = (ordered[next].values[kind], nil)
        }
        engine.add(sample)
        next += 1
      }
    }
    return peers.map { peer in
      guard let mode = engine.modes(of: peer)?.modes.first, mode.position.isFinite else {
        return nil
      }
      let floor = SymmetricMatrix3(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01)
      return (mode.position, 4 * mode.covariance + floor)
    }
  }
}
