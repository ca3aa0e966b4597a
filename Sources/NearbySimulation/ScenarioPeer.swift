// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// Where simulated peers are, how they move, and what the engine is told about that.
public struct ScenarioPeer: Hashable, Sendable, Codable {
  /// The horizontal distance from the device's first place to the peer's, metres.
  public var distance = 1.0...8.0
  /// The peer's height above or below the device's first place, metres.
  public var heightDifference = 0.0...2.0
  /// On which side of the device's first height it is.
  public var side = Side.either
  /// In which direction it is, as the device is held at first.
  public var direction = Direction.anywhere
  /// How it moves.
  public var motion = Motion.resting
  /// How fast it moves, drawn for each run, m/s.
  public var speed = 0.5...1.5
  /// When it is picked up, if it is ever ``Motion/carried``, seconds after the start.
  public var carriedAfterSeconds = 20.0
  /// How long it is carried, seconds.
  public var carriedForSeconds = 6.0
  /// What an engine is told of its motion.
  public var declaredMotion = PeerMotion.stationary

  /// Makes a peer at rest somewhere around the device.
  public init() {}

  /// Above or below.
  public enum Side: String, Hashable, Sendable, Codable, CaseIterable {
    /// One of the two, drawn.
    case either
    /// Above the device.
    case above
    /// Below the device.
    case below
  }

  /// Where a peer is, as the device is held at first.
  public enum Direction: String, Hashable, Sendable, Codable, CaseIterable {
    /// Anywhere around.
    case anywhere
    /// Within 30 degrees of straight ahead.
    case ahead
    /// Within 30 degrees of straight behind.
    case behind
  }

  /// How a peer moves.
  public enum Motion: String, Hashable, Sendable, Codable, CaseIterable {
    /// It stays where it is.
    case resting
    /// It walks about all the time, on a ``PeerPath``.
    case walking
    /// It rests, is carried away on a ``PeerPath``, and rests again.
    case carried
  }
}
