// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyEvaluation
public import NearbyFusion
public import NearbyRecordings

/// A run over one recording whose results become files of a folder.
///
/// The files are `estimates.csv`, `summary.json` and `configuration.json`; where peers correct the
/// odometry `trajectory-corrected.txt`; and with smoothing `smoothed.csv` and `trajectory-smoothed.txt`. Each file appears whole or not at all, and none if the recording has a fault.
public struct RecordingRun: Sendable {
  /// The recording.
  public var recording: RecordingReader
  /// The engine's settings.
  public var configuration: FusionConfiguration
  /// The names of the peers to be located; all when empty.
  public var selection: Set<String> = []
  /// Whether the recording is also smoothed.
  public var smooths = false
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
    let base = folder.hasSuffix("/") ? folder : folder + "/"
    let replay = try RecordingReplay(
      recording, configuration: configuration, selection: selection)
    var estimates = try EstimateWriter(
      path: base + EstimateWriter.fileName, frames: recording.manifest.frames)
    var corrected = try MapTrajectoryWriter(
      path: base + MapTrajectoryWriter.correctedFileName, frames: recording.manifest.frames)
    var outcome = try replay.run(
      progress: progress,
      poses: { (pose, alignment) throws(RecordingError) in
        try corrected.write(pose, mapFromWorld: alignment?.mapFromWorld)
      }
    ) {
      (row, report, estimate) throws(RecordingError) in
      try estimates.write(row, report: report, estimate: estimate)
    }
    try accept(outcome)
    var smoothedPath = try MapTrajectoryWriter(
      path: base + MapTrajectoryWriter.smoothedFileName, frames: recording.manifest.frames)
    let smoothed =
      try smooths ? smoothed(into: base, &smoothedPath, &outcome.summary, progress) : nil
    if !keepsTime { outcome.summary.timing = nil }

    // The recording has no fault: from here on files may appear.
    try corrected.commit()
    try smoothedPath.commit()
    outcome.summary.trajectory = try trajectory(into: base)

    var settings = try AtomicFile(path: base + ConfigurationFile.fileName)
    try settings.write(ConfigurationFile.json(of: configuration))
    var summary = try AtomicFile(path: base + RunSummary.fileName)
    try summary.write(outcome.summary.json())
    try estimates.commit()
    try smoothed?.commit()
    try settings.commit()
    try summary.commit()
    return outcome
  }

  /// How far the odometry is from the true trajectory, if there is one.
  private func trajectory(into base: String) throws(RecordingError) -> TrajectorySummary? {
    let gap = configuration.odometry.maximumPoseGap
    guard let raw = try TrajectoryError.evaluate(recording, longestPoseGap: gap) else { return nil }
    func figures(of name: String) throws(RecordingError) -> TrajectorySummary.Figures? {
      guard FileManager.default.fileExists(atPath: base + name) else { return nil }
      return try TrajectoryError.evaluate(
        recording, trajectory: base + name, longestPoseGap: gap)?.figures
    }
    return TrajectorySummary(
      odometry: raw.figures, corrected: try figures(of: MapTrajectoryWriter.correctedFileName),
      smoothed: try figures(of: MapTrajectoryWriter.smoothedFileName))
  }

  private func smoothed(
    into base: String, _ trajectory: inout MapTrajectoryWriter, _ summary: inout RunSummary,
    _ progress: (_ fraction: Double, _ samples: Int) -> Void
  ) throws -> SmoothedWriter {
    var writer = try SmoothedWriter(
      path: base + SmoothedWriter.fileName, frames: recording.manifest.frames)
    let run = SmoothingRun(
      recording: recording, configuration: configuration, selection: selection)
    try run.run(into: &writer, &trajectory, summary: &summary, progress: progress)
    return writer
  }
}
