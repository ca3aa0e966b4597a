// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyRecordings

/// A folder that a run wrote.
package struct ResultFolder {
  private let base: String

  /// Refers to a folder without reading it.
  package init(path: String) { base = path.hasSuffix("/") ? path : path + "/" }

  /// The path of a file with the device's path, as ``MapTrajectoryWriter`` names it; `nil` when there is
  /// none.
  package func trajectory(named name: String) -> String? {
    let path = base + name
    return FileBytes.size(path: path) != nil ? path : nil
  }

  /// The summary; `nil` when it is not one of this version.
  package var summary: RunSummary? {
    try? JSONFile.decode(
      RunSummary.self, path: base + RunSummary.fileName, remedy: "run the recording again")
  }

  /// Whether the folder has the file of a source.
  package func has(_ source: ResultEvaluation.Source) -> Bool {
    FileBytes.size(path: base + source.fileName) != nil
  }

  /// Opens the rows of a source.
  package func rows(_ source: ResultEvaluation.Source) throws(RecordingError) -> EstimateReader {
    try EstimateReader(
      path: base + source.fileName, kind: source == .smoothed ? .smoothed : .estimates)
  }

  /// The settings that were in force.
  package func configuration() throws(RecordingError) -> FusionConfiguration {
    try ConfigurationFile.read(
      path: base + ConfigurationFile.fileName, over: FusionConfiguration())
  }

  /// The recording: the given folder, or else the one that the summary names.
  package func recording(named folder: String?) throws(RecordingError) -> String {
    if let folder { return folder }
    let summary = base + RunSummary.fileName
    if let folder = try RunSummary.recordingFolder(inSummary: summary) { return folder }
    throw RecordingError(
      .missingValue, "the summary does not say which recording the result is of", file: summary,
      remedy: "name the recording's folder")
  }
}
