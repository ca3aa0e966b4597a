// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// How simulated odometry reports the device's motion.
public struct ScenarioOdometry: Hashable, Sendable, Codable {
  /// Poses per second.
  public var rate = 60.0
  /// The random walk of position, metres per square root of a metre travelled.
  public var positionDrift = 0.01
  /// The random walk of yaw, degrees per square root of a metre travelled.
  public var yawDriftDegrees = 0.3
  /// The spread of a constant error of the rate of yaw from run to run, as of a gyroscope's bias,
  /// degrees per second.
  public var steadyTurnDegrees = 0.0
  /// The factor of all increments: 1.03 for an odometry whose distances are 3 % too long.
  public var scale = 1.0
  /// White noise of every reported position, one sigma for each axis, metres.
  public var positionNoise = 0.0
  /// White noise of every reported attitude, one sigma about each axis, degrees.
  public var attitudeNoiseDegrees = 0.0
  /// The spread of the odometry's error about the vertical from run to run, one sigma about each of
  /// two horizontal axes, degrees: its world is tilted about the device's first position.
  public var tiltDegrees = 0.0
  /// A step of the odometry's world.
  public var jump = Jump()
  /// A slip of the odometry's world, which nothing announces.
  public var slip = Slip()
  /// A tracker that reports the same pose again and again.
  public var freeze = Freeze()
  /// A loss of tracking.
  public var loss = Loss()
  /// The light in the scene, lumens; reported only if tracking is lost or the scene is dark at some
  /// time.
  public var lightLumens = 1000.0
  /// An interval in the dark.
  public var dark = Dark()

  /// Makes an odometry that drifts a little and has no faults.
  public init() {}

  /// The random walk of yaw, radians per square root of a metre travelled.
  public var yawDriftRadians: Double {
    get { yawDriftDegrees.degreesAsRadians }
    set { yawDriftDegrees = newValue.radiansAsDegrees }
  }

  /// A step of the odometry's world.
  public struct Jump: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds: Double
    /// The displacement of all later positions, metres; zero for no jump.
    public var displacement: Vector3

    /// Makes a step; by default there is none.
    public init(seconds: Double = 0, displacement: Vector3 = .zero) {
      self.seconds = seconds
      self.displacement = displacement
    }
  }

  /// A slip: within a short time, the odometry's world turns about the vertical through the device, moves
  /// horizontally, or counts increments with a wrong scale.
  ///
  /// Wheels that slip, visual odometry that relocalises without saying so, or, with no duration, a device
  /// that is carried off with its odometry asleep.
  public struct Slip: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// How long it lasts, seconds; zero for a step.
    ///
    /// Turn and shift are spread over it smoothly.
    public var duration = 0.0
    /// By how much the world turns, drawn for each run, with either sign, degrees.
    public var turnDegrees = 0.0...0.0
    /// How far the world moves, drawn for each run, in any horizontal direction, metres.
    public var shift = 0.0...0.0
    /// How far the world moves along gravity, drawn for each run, up or down, metres.
    ///
    /// An elevator that only the radio notices.
    public var rise = 0.0...0.0
    /// The factor of all increments while it lasts: 1.5 for wheels that spin, 0.3 for wheels that slide,
    /// 1 for none.
    public var scale = 1.0

    /// Makes no slip.
    public init() {}

    /// When it is over, seconds after the start.
    package var end: Double { seconds + duration }

    /// Whether there is any slip.
    package var isPresent: Bool {
      turnDegrees.upperBound > 0 || shift.upperBound > 0 || rise.upperBound > 0
        || duration > 0 && scale != 1
    }
  }

  /// An interval in which the odometry repeats its last pose to the last bit.
  ///
  /// How the device moves meanwhile is lost: the path goes on from where it stopped.
  public struct Freeze: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// How long it lasts, seconds; zero if it never happens.
    public var duration = 0.0

    /// Makes no such interval.
    public init() {}

    /// Whether a time is in it.
    func contains(_ time: Double) -> Bool { time >= seconds && time < seconds + duration }
  }

  /// A loss of tracking: no poses for some time, then poses in a world that may be a new one.
  ///
  /// If the loss is announced, tracking is `notAvailable` without poses, `limited` while the
  /// odometry relocalises, then `normal`.
  public struct Loss: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// How long there are no poses, seconds; zero if tracking is never lost.
    public var duration = 0.0
    /// How long tracking is limited after that, seconds.
    public var relocalizing = 1.0
    /// The displacement of the world when poses return, metres.
    public var displacement = Vector3.zero
    /// The rotation of the world about the vertical through the device by then, degrees.
    public var turnDegrees = 0.0
    /// Whether the odometry reports the loss of tracking, or only stops sending poses.
    public var isAnnounced = true

    /// Makes no loss.
    public init() {}

    var end: Double { seconds + duration }
  }

  /// An interval in the dark: tracking is limited, and the light is low.
  public struct Dark: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// How long it lasts, seconds; zero if it is never dark.
    public var duration = 0.0
    /// The light in the scene during that time, lumens.
    public var lumens = 30.0

    /// Makes no dark interval.
    public init() {}
  }
}
