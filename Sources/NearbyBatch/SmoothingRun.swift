// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySmoothing

/// The smoothing of a recording that was replayed through a smoother: writes `smoothed.csv` and
/// `trajectory-smoothed.txt`, and adds to the summary.
struct SmoothingRun {
  var recording: RecordingReader
  var configuration: FusionConfiguration

  /// The rows of `ranging.csv` of the selected peers, in time order.
  private var rows: [Row] = []
  private var poses: [DevicePose] = []

  /// A row of `ranging.csv` and its peer.
  private struct Row {
    var timestamp: Timestamp
    var peer: String
    var peerIndex: Int
    var id: PeerID
  }

  init(_ recording: RecordingReader, _ configuration: FusionConfiguration) {
    self.recording = recording
    self.configuration = configuration
  }

  /// Keeps a pose of the odometry, to be written smoothed.
  mutating func keep(_ pose: DevicePose) { poses.append(pose) }

  /// Keeps a row that the smoother has taken, to be written smoothed.
  mutating func keep(_ row: RangingRow, of id: PeerID) {
    rows.append(
      Row(timestamp: row.timestamp, peer: row.peer, peerIndex: row.peerIndex, id: id))
  }

  /// Solves, writes a row for each sample and a pose for each of the odometry's, and adds to the summary.
  func finish(
    _ smoother: Smoother, into files: inout ResultFiles.Smoothed, summary: inout RunSummary,
    progress: (_ fraction: Double, _ samples: Int) -> Void
  ) throws {
    let start = ContinuousClock.now
    try checkPeerCount(smoother)
    let smoothed = smoother.solve { progress($0, rows.count) }

    var next = [Int](repeating: 0, count: smoothed.tracks.count)
    for row in rows {
      let track = smoothed.tracks[row.id.index]
      let position =
        track.positions.isEmpty ? nil : track.positions[next[row.id.index]]
      next[row.id.index] += 1
      let smoothedRow = SmoothedRow(
        timestamp: row.timestamp, peer: row.peer, peerIndex: row.peerIndex,
        worldFromDevice: position?.worldFromDevice, positionInWorld: position?.positionInWorld,
        covariance: position?.covarianceInWorld ?? .zero,
        modeProbability: track.modes.first?.probability,
        horizontalAngleRadians: position?.horizontalAngleRadians)
      try files.rows.write(smoothedRow)
    }

    for pose in poses {
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
}

extension SmoothedSummary {
  /// A track in the recording's frames.
  fileprivate init(
    _ track: SmoothedTrack, frames: FrameConvention, errors: ErrorStatistics?
  ) {
    self.init(
      motion: track.motion,
      positionInWorld: (track.final?.positionInWorld).map(frames.worldVector(fromEngine:)),
      covarianceInWorld: (track.final?.covarianceInWorld).map(frames.worldCovariance(fromEngine:)),
      rangeBias: track.rangeBias.value, rangeBiasSigma: track.rangeBias.sigma,
      rangeScale: track.rangeScale.value, rangeScaleSigma: track.rangeScale.sigma,
      modes: track.modes.map { mode in
        Mode(
          positionInWorld: frames.worldVector(fromEngine: mode.positionInWorld),
          covarianceInWorld: frames.worldCovariance(fromEngine: mode.covarianceInWorld),
          probability: mode.probability)
      }, errors: errors)
  }
}
