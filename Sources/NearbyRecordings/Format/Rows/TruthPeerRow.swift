// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// One row of `truth/peers.csv`: where a peer truly was, in the recording's true world.
public struct TruthPeerRow: Hashable, Sendable {
  /// The time of the position.
  ///
  /// The position of a peer with a single row holds for all times.
  public var timestamp: Timestamp
  /// The peer's name.
  public var peer: String
  /// The position in the true world, in the recording's own frame, metres.
  public var positionInWorld: Vector3
  /// The line in its file, from 1; 0 when it comes from no file.
  public var line: Int

  /// Makes a row.
  public init(timestamp: Timestamp, peer: String, positionInWorld: Vector3, line: Int = 0) {
    self.timestamp = timestamp
    self.peer = peer
    self.positionInWorld = positionInWorld
    self.line = line
  }

  /// The position in the true world, converted to the engine's y up, metres.
  ///
  /// - Parameter frames: The recording's frames, ``RecordingManifest/frames``.
  /// - Returns: The position in the engine's axes.
  public func positionInEngineWorld(from frames: FrameConvention) -> Vector3 {
    frames.engineWorldFromWorld.act(positionInWorld)
  }
}
