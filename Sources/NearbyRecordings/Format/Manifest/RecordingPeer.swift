// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// A peer of a recording.
public struct RecordingPeer: Hashable, Sendable, Codable {
  /// The name by which `ranging.csv` calls it.
  public var id: String
  /// How it may move.
  public var motion: PeerMotion

  /// Makes a peer.
  public init(id: String, motion: PeerMotion = .stationary) {
    self.id = id
    self.motion = motion
  }
}
