// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
public import NearbyFusion
internal import NearbyImports
public import NearbyRecordings
internal import NearbySmoothing

/// A run over one recording whose results become files of a folder.
///
/// The files are `estimates.csv`, `summary.json` and `configuration.json`; where peers correct the
/// odometry `trajectory-corrected.txt`; where a peer may be in several places `modes.csv`; and with smoothing `smoothed.csv` and `trajectory-smoothed.txt`. They
/// replace all files of an earlier run, and none appears if the recording has a fault.
public struct RecordingRun: Sendable {
  /// The recording.
  public var recording: RecordingReader
  /// The engine's settings.
  public var configuration: FusionConfiguration
  /// The names of the peers to be located; all when empty.
  public var selection: Set<String> = []
  /// Whether the recording is also smoothed.
  public var smooths = false
  /// The file of the map of peers at rest, which is read if it exists and, unless it is a survey, written anew;
  /// `nil` for none.
  public var mapPath: String?
  /// Where the map is written after the run; `nil` for ``mapPath``.
  public var mapOutput: String?
  /// What is done about errors of radio and odometry that the recording tells.
  public var calibration = CalibrationMode.use
  /// Whether the summary contains durations.
  ///
  /// Without it equal work gives equal files.
  public var keepsTime = true

  /// Opens a recording.
  ///
  /// - Parameters:
  ///   - folder: The recording's folder.
  ///   - settings: A file of settings that overrides those of the recording.
  /// - Throws: The first fault of `recording.json` or of the settings.
  public init(folder: String, settings: String? = nil) throws(RecordingError) {
    recording = try RecordingReader(folder: folder).keepingFiles
    configuration = recording.manifest.fusionConfiguration()
    if let settings {
      configuration = try ConfigurationFile.read(path: settings, over: configuration)
    }
  }

  /// Runs the engine, and lets the files appear when everything succeeded.
  ///
  /// - Parameters:
  ///   - folder: The output folder, which must exist.
  ///   - progress: Called from time to time with the share of the work that is done and the number
  ///     of samples so far.
  ///   - accept: Called before any file appears; an error that it throws stops the run.
  /// - Returns: The summary, and the warnings.
  /// - Throws: The first fault of the recording or of the settings, or what `accept` throws.
  public func write(
    into folder: String, progress: (_ fraction: Double, _ samples: Int) -> Void = { _, _ in },
    accept: (RecordingReplay.Outcome) throws -> Void = { _ in }
  ) throws -> RecordingReplay.Outcome {
    let calibrated = try RecordingCalibration(
      recording, try hasSamples() ? calibration : .off, stated: configuration)
    let configuration = calibrated.configuration
    var replay = try RecordingReplay(
      recording, configuration: configuration, selection: selection)
    replay.tellsModes = true
    let keeper = try mapPath.map { path throws(RecordingError) in
      try MapKeeper(path: path, output: mapOutput, recording, configuration)
    }
    let known = keeper?.known
    var files = try ResultFiles(
      in: Self.plain(folder), frames: recording.manifest.frames, smooths: smooths,
      hasKnownMap: known != nil)
    var newMap: PeerMap?
    var verdict: SurveyVerdict?
    var outcome: RecordingReplay.Outcome
    if smooths {
      var smoother = try Smoother(configuration, map: known?.map)
      var smoothing: SmoothingRun? = SmoothingRun(recording, configuration)
      outcome = try run(replay, through: &smoother, into: &files, &smoothing) {
        progress(Self.replayShare * $0, $1)
      }
      try accept(outcome)
      (newMap, verdict) = (smoother.peerMap, smoother.mapVerdict)
      guard var smoothed = files.smoothed.take() else { return outcome }
      try smoothing?.finish(smoother, into: &smoothed, summary: &outcome.summary) {
        progress(Self.replayShare + (1 - Self.replayShare) * $0, $1)
      }
      files.smoothed = consume smoothed
    } else {
      var engine = try FusionEngine(configuration, map: known?.map)
      var smoothing: SmoothingRun?
      outcome = try run(replay, through: &engine, into: &files, &smoothing, progress: progress)
      try accept(outcome)
      (newMap, verdict) = (engine.peerMap, engine.mapVerdict)
    }
    if let verdict, let map = known?.map, outcome.summary.samples > 0 {
      outcome.summary.survey = SurveySummary(verdict, names: map.peers.map(\.name))
    }
    try locate(&outcome, &files, known?.map, configuration)
    outcome.summary.calibration = summary(of: calibrated, newMap)
    outcome.summary.findings = try findings(of: outcome.summary)
    if !keepsTime { outcome.summary.timing = nil }
    outcome.summary.trajectory = try trajectory(
      &files, longestPoseGap: configuration.odometry.maximumPoseGap)
    // The recording has no fault: from here on files may appear.
    try files.commit(summary: outcome.summary.json(), configuration: configuration)
    // Without a sample there is nothing to be kept, and nothing that tells this recording from others.
    if outcome.summary.samples > 0 { try keeper?.keep(newMap) }
    return outcome
  }

  /// Whether `ranging.csv` has a row: a recording with range differences may have none.
  private func hasSamples() throws(RecordingError) -> Bool {
    guard recording.hasDifferences else { return true }
    var ranging = try recording.ranging()
    return try ranging.next() != nil
  }

  /// Locates the device by range differences, if there are any: among the anchors of the run's map, or of the
  /// recording's own.
  private func locate(
    _ outcome: inout RecordingReplay.Outcome, _ files: inout ResultFiles, _ map: PeerMap?,
    _ configuration: FusionConfiguration
  ) throws(RecordingError) {
    guard recording.hasDifferences else { return }
    var anchors = map
    if anchors == nil { anchors = try recording.anchorMap(configuration) }
    var replay = try DownlinkReplay(recording, configuration, map: anchors)
    let found = try replay.run { fix throws(RecordingError) in try files.located.write(fix) }
    outcome.summary.located = found.summary
    outcome.warnings.add(found.warnings)
  }

  /// What the recording told, with the biases that a run has found; `nil` when there is nothing to say.
  private func summary(
    of calibrated: RecordingCalibration, _ map: PeerMap?
  ) -> CalibrationSummary? {
    var summary = calibrated.summary
    if calibration != .off, mapPath == nil {
      let prior = calibrated.configuration.ranging.rangeBiasSigma
      let expected = configuration.ranging.rangeBiasSigma
      summary.rangeBiases =
        (map?.unexpectedBiases(priorSigma: prior, expectedSigma: expected) ?? [])
        .filter { selection.isEmpty || selection.contains($0.peer) }
    }
    return summary == CalibrationSummary() ? nil : summary
  }

  /// What may be why a peer was not found; `nil` when all were, or when nothing is wrong.
  private func findings(of summary: RunSummary) throws(RecordingError) -> [RunFinding]? {
    guard summary.peers.contains(where: { $0.status != .converged }) else { return nil }
    // The calibration has its own word on the clock.
    let findings = try recording.info().findings.filter {
      $0.severity != .note && $0.kind != .clockOffset
    }
    guard !findings.isEmpty else { return nil }
    return findings.map {
      RunFinding(
        severity: $0.severity.rawValue, kind: $0.kind.rawValue, message: $0.message,
        remedy: $0.remedy)
    }
  }

  /// The share of the progress that is shown for the replay, when smoothing follows.
  private static let replayShare = 0.2

  /// A folder's path without the slash at its end.
  private static func plain(_ folder: String) -> String {
    folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
  }

  /// How far the odometry is from the true trajectory, if there is one.
  private func trajectory(
    _ files: inout ResultFiles, longestPoseGap gap: Double
  ) throws(RecordingError) -> TrajectorySummary? {
    guard let raw = try TrajectoryError.evaluate(recording, longestPoseGap: gap) else { return nil }
    func figures(_ path: String?) throws(RecordingError) -> TrajectorySummary.Figures? {
      guard let path else { return nil }
      return try TrajectoryError.evaluate(recording, trajectory: path, longestPoseGap: gap)?.figures
    }
    return TrajectorySummary(
      odometry: raw.figures, corrected: try figures(files.corrected.flush()),
      smoothed: try figures(files.smoothed?.path.flush()))
  }

  /// Replays the recording through an estimator and writes the estimates.
  ///
  /// What has been replayed is kept for the smoothing, if there is to be one.
  private func run(
    _ replay: RecordingReplay, through estimator: inout some SequentialEstimator,
    into files: inout ResultFiles, _ smoothing: inout SmoothingRun?,
    progress: (_ fraction: Double, _ samples: Int) -> Void
  ) throws -> RecordingReplay.Outcome {
    try replay.run(
      through: &estimator, progress: progress,
      poses: { (pose, alignment) throws(RecordingError) in
        smoothing?.keep(pose)
        try files.corrected.write(pose, mapFromWorld: alignment?.mapFromWorld)
      },
      modes: { (row, modes) throws(RecordingError) in try files.modes.write(row, modes) }
    ) {
      (row, report, estimate) throws(RecordingError) in
      smoothing?.keep(row, of: report.peer)
      try files.estimates.write(row, report: report, estimate: estimate)
    }
  }
}

extension PeerMap {
  /// The range biases that are not expected as stated: beyond two of the stated sigmas, and known to a quarter of
  /// their size.
  ///
  /// They are those of the ranges alone: with a prior variance p, a posterior mean b and variance v are a mean
  /// m and a variance u of the likelihood with `1/u = 1/v - 1/p` and `m = u b / v`.
  fileprivate func unexpectedBiases(
    priorSigma: Double, expectedSigma: Double
  ) -> [CalibrationSummary.RangeBias] {
    peers.indices.compactMap { index in
      let row = PeerMap.numbersPerPeer * index + 3
      let variance = covariance[row * size + row]
      let information = 1 / variance - 1 / (priorSigma * priorSigma)
      guard variance > 0, information > 0 else { return nil }
      let (bias, sigma) = (
        peers[index].rangeBias / (variance * information), 1 / information.squareRoot()
      )
      guard abs(bias) > max(2 * expectedSigma, 4 * sigma) else { return nil }
      return CalibrationSummary.RangeBias(peer: peers[index].name, metres: bias, sigma: sigma)
    }
  }
}
