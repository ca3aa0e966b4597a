// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
public import NearbyRecordings

/// The comparison of a run's results with the truth of its recording.
///
/// Rows of the result are joined with the recording's samples by time and peer; the errors are those of
/// `ErrorStatistics`.
public struct ResultEvaluation: Sendable, Codable {
  /// The name of the file to which a batch writes it.
  public static let fileName = "evaluation.json"

  /// The evaluated file.
  public enum Source: String, Sendable, Codable, CaseIterable {
    /// `estimates.csv`.
    case estimates
    /// `smoothed.csv`.
    case smoothed

    var fileName: String {
      self == .estimates ? EstimateWriter.fileName : SmoothedWriter.fileName
    }
  }

  /// The result's folder, as given by the caller.
  public var result: String
  /// The evaluated file.
  public var source: Source
  /// The recording's name.
  public var recording: String
  /// The peers with a known truth, in the order of their first rows.
  public var peers: [PeerFigures]
  /// The figures over the rows of all of them.
  public var all: ResultFigures
  /// The error of the recording's odometry.
  public var trajectory: TrajectoryError?
  /// The error of the odometry as peers correct it, `trajectory-corrected.txt`; `nil` where there is none.
  public var correctedTrajectory: TrajectoryError?
  /// The error of the path as the whole recording has it, `trajectory-smoothed.txt`; `nil` where there is
  /// none.
  public var smoothedTrajectory: TrajectoryError?

  /// The figures of one peer.
  public struct PeerFigures: Sendable, Codable {
    /// The peer's name.
    public var id: String
    /// Its figures.
    public var figures: ResultFigures
  }

  /// Evaluates a result: the estimates, and the smoothed rows if there are any.
  ///
  /// - Parameters:
  ///   - folder: The folder that a run wrote.
  ///   - recordingFolder: The recording; the one that the summary names when `nil`.
  /// - Returns: One evaluation, or two.
  /// - Throws: The first fault of the result or of the recording, located.
  public static func evaluate(
    folder: String, recording recordingFolder: String? = nil
  ) throws(RecordingError) -> [ResultEvaluation] {
    let result = ResultFolder(path: folder)
    let named = try result.recording(named: recordingFolder)
    let recording = try RecordingReader(folder: named).keepingFiles
    guard recording.hasTruth else {
      throw RecordingError(
        .missingFile, "the recording holds no truth to evaluate by", file: named,
        remedy: "add truth/trajectory.txt and truth/peers.csv")
    }
    let longestPoseGap = try result.configuration().odometry.maximumPoseGap
    let trajectory = try TrajectoryError.evaluate(recording, longestPoseGap: longestPoseGap)
    func error(of file: String) throws(RecordingError) -> TrajectoryError? {
      guard let path = result.trajectory(named: file) else { return nil }
      return try TrajectoryError.evaluate(
        recording, trajectory: path, longestPoseGap: longestPoseGap)
    }
    let corrected = try error(of: MapTrajectoryWriter.correctedFileName)
    let smoothed = try error(of: MapTrajectoryWriter.smoothedFileName)
    var evaluations: [ResultEvaluation] = []
    for source in Source.allCases where source == .estimates || result.has(source) {
      evaluations.append(try evaluate(source, folder: folder, recording: recording))
      evaluations[evaluations.count - 1].trajectory = trajectory
      evaluations[evaluations.count - 1].correctedTrajectory = corrected
      evaluations[evaluations.count - 1].smoothedTrajectory = smoothed
    }
    return evaluations
  }

  /// Evaluates one source of a result whose recording holds the truth.
  package static func evaluate(
    _ source: Source, folder: String, recording: RecordingReader
  ) throws(RecordingError) -> ResultEvaluation {
    let result = ResultFolder(path: folder)
    return try evaluate(
      try result.rows(source), of: source, under: try result.configuration(), result: folder,
      recording: recording)
  }

  /// Evaluates rows as they are in a file, so that every reader of the file gets the same verdict.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - source: The file from which they come.
  ///   - configuration: The settings that were in force.
  ///   - result: The name of the result.
  ///   - recording: The recording, which holds the truth.
  /// - Returns: The evaluation, without the error of the trajectory.
  /// - Throws: The first fault of the rows or of the recording, located.
  package static func evaluate(
    _ rows: consuming EstimateReader, of source: Source, under configuration: FusionConfiguration,
    result: String, recording: RecordingReader
  ) throws(RecordingError) -> ResultEvaluation {
    var join = try ResultJoin(recording, configuration)
    try join.run(rows, recording: recording.folder)
    return join.evaluation(result: result, source: source, recording: recording.manifest.name)
  }
}
