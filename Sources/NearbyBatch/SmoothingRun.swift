// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySmoothing

/// Smooths a recording: writes `smoothed.csv` and adds to the summary.
struct SmoothingRun {
  var recording: RecordingReader
  var configuration: FusionConfiguration
  /// The names of the peers to be located; all when empty.
  var selection: Set<String>

  /// The share of the progress that is shown for reading.
  private static let readingShare = 0.2

  /// A row of `ranging.csv` and its peer.
  private struct Row {
    var timestamp: Timestamp
    var peer: String
    var peerIndex: Int
    var id: PeerID
  }

  /// Smooths, writes a row for each sample and a pose for each of the odometry's, and adds to the summary.
  func run(
    into files: inout ResultFiles.Smoothed, summary: inout RunSummary,
    progress: (_ fraction: Double, _ samples: Int) -> Void
  ) throws {
    let start = ContinuousClock.now
    var smoother = try Smoother(configuration)
    let rows = try read(into: &smoother) { progress(Self.readingShare * $0, $1) }
    try checkPeerCount(smoother)
    let smoothed = smoother.solve { share in
      progress(Self.readingShare + (1 - Self.readingShare) * share, rows.count)
    }

    var next = [Int](repeating: 0, count: smoothed.tracks.count)
    for row in rows {
      let track = smoothed.tracks[row.id.index]
      let position =
        track.positions.isEmpty ? nil : track.positions[next[row.id.index]]
      next[row.id.index] += 1
      let smoothedRow = SmoothedRow(
        timestamp: row.timestamp, peer: row.peer, peerIndex: row.peerIndex,
        worldFromDevice: position?.worldFromDevice, positionInWorld: position?.positionInWorld,
        covariance: position?.covariance ?? .zero,
        modeProbability: track.modes.first?.probability,
        horizontalAngleRadians: position?.horizontalAngleRadians)
      try files.rows.write(smoothedRow)
    }

    var poses = try recording.events()
    while let event = try poses.next() {
      guard case .pose(let pose) = event else { continue }
      try files.path.write(pose, mapFromWorld: smoothed.path?.mapFromWorld(at: pose.timestamp))
    }

    let evaluation = try evaluation(of: files.rows.flush())
    let errors = Dictionary(
      evaluation?.peers.map { ($0.id, $0.figures.errors) } ?? [],
      uniquingKeysWith: { first, _ in first })
    let indices = Dictionary(rows.map { ($0.peer, $0) }, uniquingKeysWith: { first, _ in first })
    for index in summary.peers.indices {
      guard let row = indices[summary.peers[index].id] else { continue }
      summary.peers[index].smoothed = SmoothedSummary(
        smoothed.tracks[row.id.index], frames: recording.manifest.frames,
        errors: errors[row.peer])
    }
    summary.smoothedErrors = evaluation?.all.errors
    summary.timing?.smoothingSeconds = start.duration(to: .now) / .seconds(1)
  }

  /// Refuses what would take hours.
  private func checkPeerCount(_ smoother: Smoother) throws(RecordingError) {
    let count = smoother.locatablePeerCount
    guard count > Smoother.mostPeers else { return }
    throw RecordingError(
      .tooManyPeers,
      "\(count) peers are to be smoothed together: the time grows with the third power of their number, "
        + "and more than \(Smoother.mostPeers) take hours", file: recording.folder,
      remedy: "name those that matter with --peer, or run it without --smooth")
  }

  /// The evaluation of the rows as written; `nil` without truth.
  private func evaluation(of path: String) throws(RecordingError) -> ResultEvaluation? {
    guard recording.hasTruth else { return nil }
    return try ResultEvaluation.evaluate(
      try EstimateReader(path: path, kind: .smoothed), of: .smoothed, under: configuration,
      result: recording.folder, recording: recording)
  }

  private func read(
    into smoother: inout Smoother, progress: (_ fraction: Double, _ samples: Int) -> Void
  ) throws -> [Row] {
    var stream = try recording.events()
    var ids: [PeerID?] = []
    var rows: [Row] = []
    while let event = try stream.next() {
      while ids.count < stream.peerCount {
        let peer = stream.peer(at: ids.count)
        let isSelected = selection.isEmpty || selection.contains(peer.id)
        ids.append(isSelected ? smoother.addPeer(peer.motion) : nil)
      }
      switch event {
      case .pose(let pose): smoother.add(pose)
      case .tracking(let sample): smoother.add(sample)
      case .ranging(let row):
        guard let id = ids[row.peerIndex] else { continue }
        smoother.add(row.sample(of: id))
        rows.append(
          Row(timestamp: row.timestamp, peer: row.peer, peerIndex: row.peerIndex, id: id))
        progress(
          Double(stream.bytesRead) / Double(max(1, stream.totalBytes)), rows.count)
      }
    }
    return rows
  }
}

extension SmoothedSummary {
  /// A track in the recording's frames.
  fileprivate init(
    _ track: SmoothedTrack, frames: FrameConvention, errors: ErrorStatistics?
  ) {
    self.init(
      motion: track.motion,
      position: (track.final?.positionInWorld).map(frames.worldVector(fromEngine:)),
      covariance: (track.final?.covariance).map(frames.worldCovariance(fromEngine:)),
      rangeBias: track.rangeBias.value, rangeBiasSigma: track.rangeBias.sigma,
      rangeScale: track.rangeScale.value, rangeScaleSigma: track.rangeScale.sigma,
      modes: track.modes.map { mode in
        Mode(
          position: frames.worldVector(fromEngine: mode.positionInWorld),
          covariance: frames.worldCovariance(fromEngine: mode.covariance),
          probability: mode.probability)
      }, errors: errors)
  }
}
