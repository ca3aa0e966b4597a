// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
public import NearbyRecordings

extension RecordingReader {
  /// Reads the whole recording, the truth included, and says what it holds.
  ///
  /// One pass, in memory that does not depend on the files' sizes.
  ///
  /// - Returns: The recording's contents.
  /// - Throws: The first fault in any of its files.
  public func info() throws(RecordingError) -> RecordingInfo {
    let survey = try survey()
    var info = survey.info
    info.truth = try truth(&info.warnings)
    info.clock = survey.clock
    info.findings = RecordingChecks.findings(survey)
    return info
  }

  /// Reads poses, samples and tracking once, for the checks of a recording.
  ///
  /// - Returns: The figures.
  /// - Throws: The first fault in any of the files.
  func survey() throws(RecordingError) -> RecordingSurvey {
    var stream = try eventsOfAnyMotion()
    var gatherer = InfoGatherer(self)
    var survey = SurveyGatherer(manifest)
    while let event = try stream.next() {
      switch event {
      case .pose(let pose):
        gatherer.add(pose)
        survey.add(pose)
      case .tracking(let sample): gatherer.add(sample)
      case .ranging(let row):
        gatherer.add(row)
        survey.add(row)
      }
    }
    var info = gatherer.finish(peers: stream.peers)
    info.warnings = stream.warnings
    info.differences = try differences(&info.warnings)
    return survey.finish(info)
  }

  private func differences(
    _ warnings: inout RecordingWarnings
  ) throws(RecordingError) -> RecordingInfo.Differences? {
    let map = try anchorMap(manifest.fusionConfiguration())
    guard var rows = try differences(anchors: map?.peers.map(\.name)) else { return nil }
    var differences = RecordingInfo.Differences()
    var (seen, first): (Set<String>, DifferenceRow?) = ([], nil)
    var last: DifferenceRow?
    while var row = try rows.next() {
      differences.count += 1
      for name in [row.from, row.to] where seen.insert(name).inserted {
        differences.anchors.append(name)
      }
      row.line = 0
      if row == last { differences.duplicates += 1 }
      (first, last) = (first ?? row, row)
    }
    if let first, let last, last.timestamp > first.timestamp {
      differences.rate =
        Double(differences.count - 1) / last.timestamp.seconds(since: first.timestamp)
    }
    differences.anchorsInMap = map.map { map in
      map.peers.count { seen.contains($0.name) }
    }
    warnings.add(rows.warnings)
    return differences
  }

  private func truth(
    _ warnings: inout RecordingWarnings
  ) throws(RecordingError) -> RecordingInfo.Truth? {
    guard hasTruth, var poses = try truthTrajectory(), var positions = try truthPeers() else {
      return nil
    }
    var truth = RecordingInfo.Truth()
    var names: Set<String> = []
    while try poses.next() != nil { truth.poseCount += 1 }
    while let row = try positions.next() { names.insert(row.peer) }
    truth.peerCount = names.count
    warnings.add(poses.warnings)
    warnings.add(positions.warnings)
    return truth
  }
}

/// Collects the statistics of a recording from its events, one by one.
private struct InfoGatherer {
  private struct PeerState {
    var info = RecordingInfo.Peer(peer: RecordingPeer(id: ""))
    var first: Timestamp
    var last: RangingRow
    var distances = LogHistogram()

    init(first: Timestamp, last: RangingRow) {
      self.first = first
      self.last = last
    }

    mutating func add(_ row: RangingRow) {
      info.sampleCount += 1
      for kind in MeasurementKind.allCases where row[kind].value != nil { info[kind] += 1 }
      if let distance = row.distance, distance.isFinite, distance > 0 {
        info.minimumDistance = min(info.minimumDistance ?? distance, distance)
        info.maximumDistance = max(info.maximumDistance ?? distance, distance)
        distances.add(distance)
      }
      last = row
    }
  }

  private var info: RecordingInfo
  private var peers: [Int: PeerState] = [:]
  private var firstPose: DevicePose?
  private var lastPose: DevicePose?
  /// Between the last two poses.
  private var lastGap = 0.0
  private var first: Timestamp?
  private var last: Timestamp?

  private let maximumDistance = RangingConfiguration().maximumRange
  private let maximumPoseGap = OdometryConfiguration().maximumPoseGap

  init(_ recording: RecordingReader) {
    let manifest = recording.manifest
    info = RecordingInfo(
      name: manifest.name, description: manifest.description, source: manifest.source,
      license: manifest.license, worldUp: manifest.worldUp, deviceAxes: manifest.device.axes,
      trajectory: RecordingInfo.Trajectory(
        kind: manifest.trajectory.kind, isPlanar: manifest.trajectory.isPlanar))
    if recording.has(RecordingReader.trackingFile) { info.trackingStates = [:] }
  }

  mutating func add(_ pose: DevicePose) {
    extend(to: pose.timestamp)
    info.trajectory.poseCount += 1
    if let lastPose {
      lastGap = pose.timestamp.seconds(since: lastPose.timestamp)
      info.trajectory.pathLength +=
        (pose.worldFromDevice.translation - lastPose.worldFromDevice.translation).length
      let gap = RecordingInfo.Gap(
        startSeconds: lastPose.timestamp.seconds, durationSeconds: lastGap)
      let gaps = info.trajectory.largestGaps
      let place = gaps.firstIndex { $0.durationSeconds < lastGap } ?? gaps.count
      if place < 3 {
        info.trajectory.largestGaps.insert(gap, at: place)
        info.trajectory.largestGaps = Array(info.trajectory.largestGaps.prefix(3))
      }
    } else {
      firstPose = pose
    }
    lastPose = pose
  }

  mutating func add(_ sample: TrackingSample) {
    let state =
      switch sample.quality {
      case .normal: "normal"
      case .limited: "limited"
      case .notAvailable: "notAvailable"
      }
    info.trackingStates?[state, default: 0] += 1
  }

  mutating func add(_ row: RangingRow) {
    extend(to: row.timestamp)
    judge(row)
    let isRepeated = peers[row.peerIndex].map { row.repeats($0.last) } ?? false
    if isRepeated { info.faults.duplicate += 1 }
    peers[row.peerIndex, default: PeerState(first: row.timestamp, last: row)].add(row)
  }

  private mutating func judge(_ row: RangingRow) {
    let values = MeasurementKind.allCases.compactMap { row[$0].value }
    if values.isEmpty { info.faults.empty += 1 }
    if !values.allSatisfy(\.isFinite) { info.faults.notFinite += 1 }
    if let distance = row.distance, distance.isFinite {
      if distance <= 0 { info.faults.notPositiveDistance += 1 }
      if distance > maximumDistance { info.faults.absurdDistance += 1 }
    }
    if let height = row.heightDifference, height.isFinite, abs(height) > maximumDistance {
      info.faults.absurdHeightDifference += 1
    }
    // A value written with few digits may be π rounded up.
    let rounding = 1e-5
    let isOutOfBounds = { (angle: Double?, bound: Double) in
      angle.map { $0.isFinite && abs($0) > bound + rounding } ?? false
    }
    if isOutOfBounds(row.azimuthRadians, .pi) || isOutOfBounds(row.elevationRadians, .pi / 2) {
      info.faults.angleOutOfBounds += 1
    }
    guard let firstPose, let lastPose else { return }
    if row.timestamp < firstPose.timestamp {
      info.faults.beforeFirstPose += 1
    } else if row.timestamp > lastPose.timestamp {
      info.faults.afterLastPose += 1
    } else if lastGap > maximumPoseGap, row.timestamp < lastPose.timestamp {
      info.faults.inPoseGap += 1
    }
  }

  private mutating func extend(to time: Timestamp) {
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }

  func finish(peers names: [RecordingPeer]) -> RecordingInfo {
    var info = info
    if let first, let last {
      info.startSeconds = first.seconds
      info.durationSeconds = last.seconds(since: first)
    }
    if let firstPose, let lastPose {
      info.trajectory.rate = rate(
        info.trajectory.poseCount, from: firstPose.timestamp, to: lastPose.timestamp)
    }
    info.peers = names.enumerated().map { index, name in
      guard let state = peers[index] else { return RecordingInfo.Peer(peer: name) }
      var peer = state.info
      peer.peer = name
      peer.rate = rate(peer.sampleCount, from: state.first, to: state.last.timestamp)
      if let minimum = peer.minimumDistance, let maximum = peer.maximumDistance {
        peer.medianDistance = state.distances.median.map { min(max($0, minimum), maximum) }
      }
      return peer
    }
    return info
  }

  private func rate(_ count: Int, from first: Timestamp, to last: Timestamp) -> Double? {
    let span = last.seconds(since: first)
    return count > 1 && span > 0 ? Double(count - 1) / span : nil
  }
}

extension RangingRow {
  /// Whether its timestamp and values equal those of the row before it.
  fileprivate func repeats(_ other: RangingRow) -> Bool {
    timestamp == other.timestamp
      && MeasurementKind.allCases.allSatisfy { self[$0].value == other[$0].value }
  }
}
