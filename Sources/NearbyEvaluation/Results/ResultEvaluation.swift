// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyFusion
public import NearbyRecordings

/// The results of a run held against the truth of its recording.
///
/// Rows of the result are joined with the recording's samples by time and peer; the errors are those of
/// `ErrorStatistics`.
public struct ResultEvaluation: Sendable, Codable {
  /// The name of the file that a batch puts it into.
  public static let fileName = "evaluation.json"

  /// What was evaluated.
  public enum Source: String, Sendable, Codable {
    /// `estimates.csv`.
    case estimates
    /// `smoothed.csv`.
    case smoothed

    fileprivate var fileName: String {
      self == .estimates ? EstimateWriter.fileName : "smoothed.csv"
    }
  }

  /// The result's folder, as it was named.
  public var result: String
  /// What was evaluated.
  public var source: Source
  /// The recording's name.
  public var recording: String
  /// The peers in the order in which their rows begin; those whose truth is not known are left out.
  public var peers: [PeerFigures]
  /// The figures over the rows of all of them.
  public var all: ResultFigures

  /// The figures of one peer.
  public struct PeerFigures: Sendable, Codable {
    /// The peer's name.
    public var id: String
    /// Its figures.
    public var figures: ResultFigures
  }

  /// Evaluates a result: the estimates, and what was smoothed where that is there.
  ///
  /// - Parameters:
  ///   - folder: The folder that a run has written.
  ///   - recordingFolder: The recording; the one that the summary names when `nil`.
  /// - Returns: One evaluation, or two.
  /// - Throws: The first fault of the result or of the recording, located.
  public static func evaluate(
    folder: String, recording recordingFolder: String? = nil
  ) throws(RecordingError) -> [ResultEvaluation] {
    let base = folder.hasSuffix("/") ? folder : folder + "/"
    let summary = base + RunSummary.fileName
    var named = recordingFolder
    if named == nil { named = try RunSummary.recordingFolder(inSummary: summary) }
    guard let named else {
      throw RecordingError(
        .missingValue, "the summary does not say which recording the result is of", file: summary,
        remedy: "name the recording's folder")
    }
    let recording = try RecordingReader(folder: named)
    guard recording.hasTruth else {
      throw RecordingError(
        .missingFile, "the recording holds no truth to evaluate by", file: named,
        remedy: "add truth/trajectory.txt and truth/peers.csv")
    }
    let configuration = try ConfigurationFile.read(
      path: base + ConfigurationFile.fileName, over: FusionConfiguration())
    var evaluations: [ResultEvaluation] = []
    for source in [Source.estimates, .smoothed] {
      let path = base + source.fileName
      if source == .smoothed, !FileManager.default.fileExists(atPath: path) { continue }
      let rows = try EstimateReader(path: path, kind: source == .smoothed ? .smoothed : .estimates)
      var join = try ResultJoin(recording, configuration)
      try join.run(rows, recording: named)
      evaluations.append(
        join.evaluation(result: folder, source: source, recording: recording.manifest.name))
    }
    return evaluations
  }
}
