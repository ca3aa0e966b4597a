// SPDX-License-Identifier: Apache-2.0

/// A walk at nearly constant height through a room, for motions of the kind
/// ``ScenarioMotion/Kind/levelWalk``.
public struct ScenarioWalk: Hashable, Sendable, Codable {
  /// The length of the room, metres.
  public var roomLength = 24.0
  /// The width of the room, metres.
  public var roomWidth = 16.0
  /// The device stays within this of its mean height while it walks, metres.
  public var heightVariation = 0.12
  /// Whether the walk begins with an arm's sweep from side to side and up and down, while standing
  /// for 5 s.
  public var sweeps = false
  /// Whether a person holds the device, which then also swings about its three axes.
  ///
  /// A trolley only turns with its path.
  public var isHandHeld = true
  /// When a flight of stairs of about 3 m begins, which takes 12 s; seconds after the start, zero for
  /// no stairs.
  public var stairsAfterSeconds = 0.0

  /// Makes a walk through an office with a device in the hand.
  public init() {}
}
