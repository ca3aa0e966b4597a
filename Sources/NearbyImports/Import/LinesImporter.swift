// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// Makes a recording from JSON lines; see `JSONLines.md` of `NearbyRecordings`.
///
/// The file is read twice, first for its manifest and for the set of values that occur. Memory does
/// not grow with the file.
public struct LinesImporter: Sendable {
  /// The file's path.
  public var path: String
  /// The frames of a file without a manifest.
  public var frames = ImportFrames()
  /// How the recording is written.
  public var options = ImportOptions()

  /// Makes an importer of a file.
  public init(path: String) { self.path = path }

  /// Reads the file and writes the recording.
  ///
  /// - Parameter output: The folder to make.
  /// - Returns: The report of the import.
  /// - Throws: The first fault, with its line.
  public func importRecording(to output: String) throws(RecordingError) -> ImportReport {
    var manifest = options.manifest(
      output: output, frames: frames.recorded, source: "imported from JSON lines")
    var survey = try RecordingLineReader(path: path)
    var turn = frames
    var options = options
    while let line = try survey.next() {
      guard case .manifest(var found) = line else { continue }
      found.name = options.name ?? found.name
      manifest = options.stated(found)
      // What a manifest says is stated, be it a default.
      options.assumptions = []
      options.isPlanar = manifest.trajectory.isPlanar
      options.rangeSigma = manifest.ranging.rangeSigma
      // The frames of a manifest need no conversion.
      turn = ImportFrames()
    }
    var sink = try ImportSink(
      output: output, manifest: manifest, options: options, columns: survey.columns)
    var lines = try RecordingLineReader(path: path)
    while let line = try lines.next() {
      switch line {
      case .manifest: break
      case .pose(var row):
        row.worldFromDevice = turn.recordedPose(row.worldFromDevice)
        try sink.append(row, file: path)
      case .truePose(var row):
        row.worldFromDevice = turn.recordedPose(row.worldFromDevice)
        try sink.appendTruth(row, file: path)
      case .range(let row): try sink.append(row, file: path)
      case .tracking(let row): try sink.append(row, file: path)
      case .truePeer(var row):
        row.positionInWorld = turn.recordedPlace(row.positionInWorld)
        try sink.appendTruth(row, file: path)
      }
    }
    for key in survey.unknownKeys { sink.leaveOut(key) }
    return try sink.finish(file: path, ranging: sink.report.samples > 0 ? path : nil)
  }
}
