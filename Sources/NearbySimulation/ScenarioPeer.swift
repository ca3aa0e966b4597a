// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// The positions and motions of simulated peers, and the motion that is declared to the engine.
public struct ScenarioPeer: Hashable, Sendable, Codable {
  /// How many peers the device measures.
  public var count = 1
  /// Whether peers are anywhere in the room of a level walk, and not at a ``distance`` from the
  /// device's first position.
  ///
  /// Without a level walk it has no effect.
  public var isInRoom = false
  /// The horizontal distance from the device's first position to the peer's, metres.
  public var distance = 1.0...8.0
  /// The peer's height above or below the device's first position, metres; ``side`` says which,
  /// and a negative height is on the other side.
  public var heightDifference = 0.0...2.0
  /// Whether it is above or below the device's first height.
  public var side = Side.either
  /// Its direction relative to the device's first attitude.
  public var direction = Direction.anywhere
  /// How it moves.
  public var motion = Motion.resting
  /// How fast it moves, drawn for each run, m/s.
  public var speed = 0.5...1.5
  /// When it is picked up, if its motion is ``Motion/carried`` or ``Motion/handedOver``, seconds after
  /// the start.
  public var carriedAfterSeconds = 20.0
  /// How long it is carried, by each of those who carry it, seconds.
  public var carriedForSeconds = 6.0
  /// How long it rests between the two who carry it, if its motion is ``Motion/handedOver``, drawn for
  /// each run, seconds.
  public var pauseSeconds = 1.0...2.0
  /// How long it rests before each walk, if its motion is ``Motion/outings``, or between two walks, if it
  /// is ``Motion/stops``, drawn for each walk, seconds.
  public var restSeconds = 8.0...20.0
  /// How long each of these walks lasts, drawn for each walk to a quarter of a second, seconds.
  public var walkSeconds = 3.0...8.0
  /// The number of peers, from the last one backwards, that move with the device, whatever ``motion`` says.
  public var alongCount = 0
  /// The number of peers before those that creep in a straight line, whatever ``motion`` says.
  public var creepingCount = 0
  /// How fast they creep, drawn for each, m/s.
  public var creepingSpeed = 0.01...0.03
  /// The number of peers before those that are carried once, as ``Motion/carried`` says, whatever ``motion`` says.
  public var carriedCount = 0
  /// How walking peers move together.
  public var formation = Formation.alone
  /// An interval of radio silence.
  public var silence = Silence()
  /// The motion that is declared to the engine.
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

  /// The direction of a peer relative to the device's first attitude.
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
    /// It rests.
    case resting
    /// It walks about all the time, on a ``PeerPath``.
    case walking
    /// It rests, is carried away on a ``PeerPath``, and rests again.
    case carried
    /// It is carried twice, with a pause: by another person, with another heading and speed.
    case handedOver
    /// It rests, stands up, walks, sits down and rests, over and over.
    case outings
    /// It walks, stops and walks on, over and over.
    case stops
  }

  /// How the walking peers of a run move together.
  ///
  /// The clearance from the device's path is that of ``ScenarioPeer/count`` peers.
  public enum Formation: String, Hashable, Sendable, Codable, CaseIterable {
    /// Each peer walks on a path of its own.
    case alone
    /// All walk on one path, ``PeerPath/spacing`` apart across the heading: the first peer in the
    /// middle, the others in turn to its right and to its left.
    case sideBySide
    /// All walk round their centre in a circle of ``PeerPath/circleRadius``, evenly spaced, at
    /// ``ScenarioPeer/speed``. The centre walks at ``PeerPath/centreShare`` of it.
    case circling
  }

  /// An interval without samples of any peer, as if nobody listened.
  public struct Silence: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// How long it lasts, seconds; zero for no silence.
    public var duration = 0.0

    /// Makes no silence.
    public init() {}

    /// Whether there are no samples at a time.
    func contains(_ time: Double) -> Bool { time >= seconds && time < seconds + duration }
  }
}
