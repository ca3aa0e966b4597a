// SPDX-License-Identifier: Apache-2.0

/// A line of a recording as JSON lines; see <doc:JSONLines>.
package enum RecordingLine: Hashable, Sendable {
  /// The contents of `recording.json`.
  case manifest(RecordingManifest)
  /// A row of `trajectory.txt`.
  case pose(PoseRow)
  /// A row of `ranging.csv`.
  case range(RangingRow)
  /// A row of `tracking.csv`.
  case tracking(TrackingRow)
  /// A row of `truth/trajectory.txt`.
  case truePose(PoseRow)
  /// A row of `truth/peers.csv`.
  case truePeer(TruthPeerRow)

  /// The values of the key `type`.
  static let types = ["manifest", "pose", "range", "tracking", "truePose", "truePeer"]
}
