// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyEvaluation
public import NearbyRecordings

/// The results for one peer of one recording: a row of the batch's table.
public struct BatchRow: Sendable {
  /// The summary of the run.
  public var peer: PeerSummary
  /// Seconds from the recording's first pose or sample to its last.
  public var duration: Double
  /// The mean NIS over its degrees of freedom; `nil` unless results were evaluated.
  public var normalizedInnovationSquared: Double?
  /// The root mean square step of the published position, metres; `nil` unless results were
  /// evaluated.
  public var jitter: Double?

  /// The error of the recording's odometry, aligned, metres; `nil` unless results were evaluated.
  public var odometryRMSE: Double?

  /// Reads the rows from a result.
  static func rows(of item: BatchItem, in folder: String) throws(RecordingError) -> [BatchRow] {
    let remedy = "remove the folder of this result and resume"
    let summary = try JSONFile.decode(
      RunSummary.self, path: "\(folder)/\(RunSummary.fileName)", remedy: remedy)
    let path = "\(folder)/\(ResultEvaluation.fileName)"
    var figures: [String: ResultFigures] = [:]
    var odometryRMSE: Double?
    if FileManager.default.fileExists(atPath: path) {
      let evaluations = try JSONFile.decode([ResultEvaluation].self, path: path, remedy: remedy)
      for peer in evaluations.first?.peers ?? [] { figures[peer.id] = peer.figures }
      odometryRMSE = evaluations.first?.trajectory?.rmse
    }
    return summary.peers.map { peer in
      BatchRow(
        peer: peer, duration: summary.duration,
        normalizedInnovationSquared: figures[peer.id]?.normalizedInnovationSquared,
        jitter: figures[peer.id]?.jitter, odometryRMSE: odometryRMSE)
    }
  }
}
