// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// The files of a run's result while they are written; they replace those of an earlier run together.
struct ResultFiles: ~Copyable {
  /// The names of all files that a run may write.
  ///
  /// The first is the last to appear and the first to go: where it is, the others belong to it.
  static let names = [
    RunSummary.fileName, ConfigurationFile.fileName, EstimateWriter.fileName,
    ModesWriter.fileName, SmoothedWriter.fileName, MapTrajectoryWriter.correctedFileName,
    MapTrajectoryWriter.smoothedFileName, LocatedWriter.fileName,
  ]

  /// The page that `nearby report` writes beside a result: it goes with the result that it shows.
  static let reportName = "report.html"

  /// What the smoother writes.
  struct Smoothed: ~Copyable {
    /// A row for each sample.
    var rows: SmoothedWriter
    /// A pose for each of the odometry's.
    var path: MapTrajectoryWriter

    fileprivate init(in folder: String, frames: FrameConvention) throws(RecordingError) {
      let rows = try SmoothedWriter(
        path: "\(folder)/\(SmoothedWriter.fileName)", frames: frames)
      path = try MapTrajectoryWriter(
        path: "\(folder)/\(MapTrajectoryWriter.smoothedFileName)", frames: frames)
      self.rows = rows
    }
  }

  /// A row for each sample.
  var estimates: EstimateWriter
  /// A row for each mode of a peer with several.
  var modes: ModesWriter
  /// A row for each moment at which the device was looked for by range differences.
  var located: LocatedWriter
  /// A pose for each of the odometry's.
  var corrected: MapTrajectoryWriter
  /// `nil` when nothing is smoothed.
  var smoothed: Smoothed?

  private let folder: String

  /// Starts the files in a folder, which must exist.
  init(
    in folder: String, frames: FrameConvention, smooths: Bool, hasKnownMap: Bool
  ) throws(RecordingError) {
    let estimates = try EstimateWriter(
      path: "\(folder)/\(EstimateWriter.fileName)", frames: frames)
    let corrected = try MapTrajectoryWriter(
      path: "\(folder)/\(MapTrajectoryWriter.correctedFileName)", frames: frames,
      isOfKnownMap: hasKnownMap)
    let modes = try ModesWriter(path: "\(folder)/\(ModesWriter.fileName)", frames: frames)
    let located = try LocatedWriter(path: "\(folder)/\(LocatedWriter.fileName)", frames: frames)
    let smoothed = smooths ? try Smoothed(in: folder, frames: frames) : nil
    self.folder = folder
    self.estimates = estimates
    self.modes = modes
    self.located = located
    self.corrected = corrected
    self.smoothed = smoothed
  }

  /// Removes the result of an earlier run and makes the files appear, the summary last.
  ///
  /// Everything is written before. A process that is killed meanwhile leaves files of one run only, and
  /// no summary unless they are all there.
  consuming func commit(
    summary: String, configuration: FusionConfiguration
  ) throws(RecordingError) {
    var settings = try AtomicFile(path: "\(folder)/\(ConfigurationFile.fileName)")
    try settings.write(ConfigurationFile.json(of: configuration))
    var end = try AtomicFile(path: "\(folder)/\(RunSummary.fileName)")
    try end.write(summary)
    try estimates.flush()
    try modes.flush()
    try located.flush()
    _ = try corrected.flush()
    var smoothed = smoothed.take()
    _ = try smoothed?.rows.flush()
    _ = try smoothed?.path.flush()

    // Not the folder itself: as long as it is unfinished its process holds a lock on it.
    let lock = FolderLock(around: folder)
    for name in Self.names + [Self.reportName] { try AtomicFile.remove("\(folder)/\(name)") }
    try estimates.commit()
    try modes.commit()
    try located.commit()
    try corrected.commit()
    if let smoothed = smoothed.take() {
      try smoothed.rows.commit()
      try smoothed.path.commit()
    }
    try settings.commit()
    try end.commit()
    _ = consume lock
  }
}
