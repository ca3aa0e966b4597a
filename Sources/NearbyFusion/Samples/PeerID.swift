// SPDX-License-Identifier: Apache-2.0

/// A peer as one engine knows it: a small number, handed out by ``FusionEngine/addPeer(_:named:)``.
///
/// Names, tokens and radio addresses stay with the caller.
@frozen
public struct PeerID: Hashable, Sendable {
  /// The peer's place in the order in which peers were added, from zero.
  public let index: Int

  @inlinable
  package init(index: Int) { self.index = index }
}

/// How a peer may move.
public enum PeerMotion: String, Sendable, Codable, CaseIterable {
  /// It rests. Its place in the odometry's world changes only as that world drifts.
  case stationary
  /// It moves, as ``MotionConfiguration`` says.
  case moving
  /// It may rest or move, and change between the two: the engine finds out.
  case unknown
}
