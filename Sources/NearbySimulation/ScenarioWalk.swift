// SPDX-License-Identifier: Apache-2.0

/// A walk through a room, at nearly constant height over its floor, for motions of the kind
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
  /// How steep the floor is, percent: a plane that rises in a direction drawn from the seed.
  public var slopePercent = 0.0
  /// How steep two planes are that meet in a ridge across the middle of the room, percent.
  public var ridgePercent = 0.0
  /// The amplitude of the floor's hills and hollows, 8 to 15 m from one to the next, metres.
  public var undulation = 0.0
  /// How much the walk climbs, m/s: a spiral stair in a small room.
  public var climbRate = 0.0
  /// For how long the walk is straight before it enters the room, seconds.
  public var straightSeconds = 0.0
  /// When a flight of stairs of about 3 m begins, which takes 12 s; seconds after the start, zero for
  /// no stairs.
  public var stairsAfterSeconds = 0.0

  /// Makes a walk through an office with a device in the hand.
  public init() {}
}
