// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyFusion
internal import NearbyGeometry

/// Locates the device of a recording by its range differences, as if it were live.
package struct DownlinkReplay {
  private let recording: RecordingReader
  private let configuration: FusionConfiguration
  private let names: [String]
  private let inMap: Int
  private var locator: RangeDifferenceLocator

  /// The device is looked for this often, seconds.
  private static let interval = 0.5
  /// The truth is tied to the map by so many anchors at least, which are then no line.
  private static let leastTrueAnchors = 3

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - recording: A recording with range differences.
  ///   - configuration: The engine's settings.
  ///   - map: Where the anchors are; those that it lacks are located, too.
  /// - Throws: The first fault of the file of differences.
  package init(
    _ recording: RecordingReader, _ configuration: FusionConfiguration, map: PeerMap?
  ) throws(RecordingError) {
    self.recording = recording.ordered(by: configuration)
    self.configuration = configuration
    var named: [String] = []
    if var reader = try recording.differences() {
      var seen: Set<String> = []
      while let row = try reader.next() {
        for name in [row.from, row.to] where seen.insert(name).inserted { named.append(name) }
      }
    }
    let places = map?.peers.map(\.name) ?? []
    let known = places.filter(named.contains)
    names = known + named.filter { !known.contains($0) }
    inMap = known.count
    let anchors = names.map { name -> AnchorPlacement in
      guard let map, let index = places.firstIndex(of: name) else { return .unknown }
      let sigma = (map.positionCovariance(of: index).trace / 3).squareRoot()
      return .uncertain(map.peers[index].positionInWorld, sigma: sigma)
    }
    do {
      locator = try RangeDifferenceLocator(
        anchors: anchors, clocks: recording.manifest.differences.clocks, configuration)
    } catch {
      throw RecordingError(
        .valueOutOfRange, error.description, file: RecordingManifest.fileName,
        remedy: "correct the settings")
    }
  }

  /// Locates the device from the first difference to the last.
  ///
  /// - Parameter consume: Called with each fix, in time order.
  /// - Returns: The summary, and the warnings about the file of differences.
  /// - Throws: The first fault of the recording, or what the function throws.
  package mutating func run(
    _ consume: (AnchorFix) throws(RecordingError) -> Void
  ) throws(RecordingError) -> (summary: LocatedSummary, warnings: RecordingWarnings) {
    var summary = LocatedSummary()
    let indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    guard var rows = try recording.differences(anchors: inMap > 0 ? Array(names[..<inMap]) : nil)
    else { return (summary, RecordingWarnings()) }
    var poses = try recording.trajectory()
    var tracking = try recording.tracking()
    let frames = recording.manifest.frames
    var (pose, report) = (try poses.next(), try tracking?.next())
    var newest: Timestamp?
    var fixes: [AnchorFix] = []
    var (first, lookedAt): (Timestamp?, Timestamp?)
    func look(_ locator: inout RangeDifferenceLocator) throws(RecordingError) {
      guard let fix = locator.locate() else { return }
      summary.moments += 1
      if fix.position.value != nil {
        summary.located += 1
        if let first {
          summary.secondsToFirstFix =
            summary.secondsToFirstFix ?? fix.timestamp.seconds(since: first)
        }
      }
      fixes.append(fix)
      try consume(fix)
    }
    while let row = try rows.next() {
      summary.differences += 1
      let time = row.timestamp.advanced(bySeconds: -recording.clockOffset)
      first = first ?? time
      while let next = pose, newest.map({ $0 < time }) ?? true {
        while let quality = report, quality.sample.timestamp <= next.timestamp {
          locator.add(quality.sample)
          report = try tracking?.next()
        }
        if let lookedAt, next.timestamp.seconds(since: lookedAt) >= Self.interval {
          try look(&locator)
        }
        if lookedAt.map({ next.timestamp.seconds(since: $0) >= Self.interval }) ?? true {
          lookedAt = next.timestamp
        }
        locator.add(next.devicePose(from: frames))
        newest = next.timestamp
        pose = try poses.next()
      }
      guard let from = indices[row.from], let to = indices[row.to] else { continue }
      let outcome = locator.add(
        RangeDifference(
          timestamp: time, from: from, to: to, metres: row.metres,
          sigma: row.sigma ?? recording.manifest.differences.sigma))
      if outcome == .accepted { summary.differencesUsed += 1 }
    }
    try look(&locator)
    try finish(&summary, fixes)
    return (summary, rows.warnings)
  }

  private func finish(
    _ summary: inout LocatedSummary, _ fixes: [AnchorFix]
  ) throws(RecordingError) {
    let frames = recording.manifest.frames
    if let last = fixes.last {
      summary.position = last.position.value.map { frames.worldVector(fromEngine: $0) }
      summary.positionSigma = last.position.sigma
    }
    if inMap > 0 { summary.survey = SurveySummary(locator.surveyVerdict, names: names) }
    let estimates = locator.anchorEstimates
    summary.anchors = names.enumerated().map { index, name in
      let estimate = estimates.isEmpty ? nil : estimates[index]
      return LocatedSummary.Anchor(
        id: name, isInMap: index < inMap,
        position: estimate?.position.value.map { frames.worldVector(fromEngine: $0) },
        positionSigma: estimate?.position.sigma, clockError: estimate?.clockError ?? 0,
        clockRate: estimate?.clockRate ?? 0)
    }
    summary.errors = try errors(of: fixes)
  }

  /// The errors against the truth, which anchors tie to the map, or else the path itself.
  private func errors(
    of fixes: [AnchorFix]
  ) throws(RecordingError) -> LocatedSummary.Errors? {
    guard var truth = try TruthPath.open(recording) else { return nil }
    var pairs: [(fix: AnchorFix, place: Vector3, truth: Vector3)] = []
    var ofPath = PathAlignment()
    for fix in fixes {
      guard let place = fix.position.value, let there = try truth.place(at: fix.timestamp) else {
        continue
      }
      pairs.append((fix, place, there))
      ofPath.add(there, place)
    }
    var (ofAnchors, count) = (PathAlignment(), 0)
    for (index, anchor) in locator.anchors.enumerated() {
      guard let place = anchor.place, let there = truth.place(of: names[index]) else { continue }
      ofAnchors.add(there, place)
      count += 1
    }
    let isByAnchors = count >= Self.leastTrueAnchors
    guard let mapFromTruth = isByAnchors ? ofAnchors.transform : ofPath.transform, !pairs.isEmpty
    else { return nil }
    let errors = pairs.map { $0.place - mapFromTruth.act($0.truth) }
    let lengths = errors.map(\.length).sorted()
    let normalized = zip(pairs, errors).compactMap { pair, error in
      pair.fix.covariance.positiveDefiniteInverse.map { $0.quadraticForm(error) / 3 }
    }
    let number = Double(pairs.count)
    let middle = pairs.reduce(Vector3.zero) { $0 + $1.truth } / number
    let ahead = mapFromTruth.rotation.zAxis
    return LocatedSummary.Errors(
      count: pairs.count, alignment: isByAnchors ? "anchors" : "path",
      alignmentMetres: (mapFromTruth.act(middle) - middle).length,
      alignmentDegrees: abs(atan2(ahead.x, ahead.z)).radiansAsDegrees,
      rmse: (lengths.reduce(0) { $0 + $1 * $1 } / number).squareRoot(),
      median: lengths[lengths.count / 2], largest: lengths[lengths.count - 1],
      consistency: normalized.reduce(0, +) / max(Double(normalized.count), 1))
  }
}

/// The true path of the device, and the true places of anchors.
private struct TruthPath: ~Copyable {
  private let frames: FrameConvention
  private var trajectory: TrajectoryReader
  private var window = PoseWindow()
  private var places: [String: Vector3] = [:]

  /// Opens the truth; `nil` without a true trajectory.
  static func open(_ recording: RecordingReader) throws(RecordingError) -> TruthPath? {
    guard let trajectory = try recording.truthTrajectory() else { return nil }
    return try TruthPath(
      trajectory: trajectory, peers: recording.truthPeers(), frames: recording.manifest.frames)
  }

  private init(
    trajectory: consuming TrajectoryReader, peers: consuming TruthPeersReader?,
    frames: FrameConvention
  ) throws(RecordingError) {
    self.frames = frames
    self.trajectory = trajectory
    while let row = try peers?.next() {
      places[row.peer] = places[row.peer] ?? row.positionInEngineWorld(from: frames)
    }
  }

  func place(of anchor: String) -> Vector3? { places[anchor] }

  /// The device's true place at a time that never goes back; `nil` outside the truth and in its gaps.
  mutating func place(at time: Timestamp) throws(RecordingError) -> Vector3? {
    while window.last.map({ $0.timestamp < time }) ?? true, let row = try trajectory.next() {
      window.add(row.devicePose(from: frames))
    }
    return window.pose(at: time, longestGap: TruthTrack.longestGap)?.translation
  }
}
