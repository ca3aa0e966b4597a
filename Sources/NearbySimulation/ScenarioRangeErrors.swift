// SPDX-License-Identifier: Apache-2.0

/// Errors of ranges that last or come back, of which the stated accuracy says nothing.
///
/// They are what recordings of real radios have and white noise has not: a range that depends on how
/// the device is held, a part of a room in which a reflection is measured, an anchor whose antenna
/// faces away, a minute in which all ranges are short.
public struct ScenarioRangeErrors: Hashable, Sendable, Codable {
  /// The spread of the error that depends on the direction of the peer in device axes, a
  /// ``DirectionField`` for each peer, metres.
  public var attitudeSigma = 0.0
  /// The spread of a second error that depends on the device's place, metres.
  ///
  /// Unlike ``ScenarioRadio/rangePlaceSigma`` it is not told to the engine.
  public var placeSigma = 0.0
  /// The distance between two places over which that error's correlation falls to 0.61, metres.
  public var placeLength = 3.0
  /// Parts of the room in which a reflection is measured.
  public var zones = Zones()
  /// Anchors whose antenna faces away from half of the room.
  public var turned = TurnedAntenna()
  /// Walls that delay what passes them.
  public var walls = Walls()
  /// Ranges that grow as the radio warms.
  public var warming = Warming()
  /// An interval in which all ranges of a peer are wrong by about the same.
  public var lapse = Lapse()

  /// Makes no such errors.
  public init() {}

  /// Discs in the room in which the ranges of a peer are those of its mirror image in a wall.
  ///
  /// The walk begins outside of all of them, if there is room. The image is beyond the peer as seen from the disc, turned by up to 60 degrees, so that the
  /// ranges in a disc are too long and agree with one false place.
  public struct Zones: Hashable, Sendable, Codable {
    /// How many discs each peer has; they may overlap, and the first one counts.
    public var count = 0
    /// The radius of a disc, metres.
    public var radius = 2.0...5.0
    /// How much too long a range is at the centre of a disc, about, metres.
    public var excess = 0.3...5.0

    /// Makes none.
    public init() {}
  }

  /// The back lobe of an anchor's antenna: ranges are too long in the half of the directions that it
  /// does not face.
  public struct TurnedAntenna: Hashable, Sendable, Codable {
    /// The share of peers that have it.
    public var share = 0.0
    /// How much too long ranges are straight behind it, metres; less to the sides.
    public var excess = 0.3...1.2

    /// Makes none.
    public init() {}
  }

  /// The walls of rooms side by side: vertical planes across both horizontal axes, drawn for each run and
  /// the same for all peers.
  public struct Walls: Hashable, Sendable, Codable {
    /// How much longer each wall between device and peer makes a range, metres; zero for no walls.
    public var excess = 0.0
    /// How far apart walls are, drawn for each axis, metres.
    public var spacing = 4.0...8.0

    /// Makes none.
    public init() {}
  }

  /// Ranges of all peers that grow while the radio warms: by `metres (1 - exp(-t / seconds))`.
  public struct Warming: Hashable, Sendable, Codable {
    /// By how much they grow in the end, metres; zero for none.
    public var metres = 0.0
    /// The time constant, seconds.
    public var seconds = 90.0

    /// Makes none.
    public init() {}
  }

  /// An interval in which the ranges of a peer are wrong by about the same.
  public struct Lapse: Hashable, Sendable, Codable {
    /// When it begins, seconds after the start.
    public var seconds = 0.0...0.0
    /// How long it lasts, seconds; zero for none.
    public var duration = 0.0...0.0
    /// The error, metres: below zero for ranges that are too short.
    public var error = 0.0...0.0
    /// The share of its ranges that are too long by ten to twenty metres.
    public var wildShare = 0.0

    /// Makes none.
    public init() {}
  }
}
