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
  /// White noise of every reported position, one sigma for each axis, metres.
  public var positionNoise = 0.0
  /// White noise of every reported attitude, one sigma about each axis, degrees.
  public var attitudeNoiseDegrees = 0.0
  /// The spread of the odometry's error about the vertical from run to run, one sigma about each of
  /// two horizontal axes, degrees: its world is tilted about the device's first place.
  public var tiltDegrees = 0.0
  /// A step of the odometry's world.
  public var jump = Jump()
  /// A loss of tracking.
  public var loss = Loss()
  /// Light in the scene, lumens; reported only when there is a loss or a dark time.
  public var lightLumens = 1000.0
  /// A time in the dark.
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
    /// By how much all later places are moved, metres; zero: there is no jump.
    public var displacement: Vector3

    /// Makes a step; by default there is none.
    public init(seconds: Double = 0, displacement: Vector3 = .zero) {
      self.seconds = seconds
      self.displacement = displacement
    }
  }

  /// A loss of tracking: no poses for a time, then poses in a world that may be another.
  ///
  /// When it is announced, tracking is `notAvailable` meanwhile, `limited` while the odometry relocalises,
  /// then `normal`.
  public struct Loss: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// For how long there are no poses, seconds; zero: tracking is never lost.
    public var duration = 0.0
    /// For how long after that tracking is limited, seconds.
    public var relocalizing = 1.0
    /// How the world has moved when poses come again, metres.
    public var displacement = Vector3.zero
    /// How the world has turned about the device and the vertical by then, degrees.
    public var turnDegrees = 0.0
    /// Whether the odometry says that it has lost tracking, or only falls silent.
    public var isAnnounced = true

    /// Makes a loss that never comes.
    public init() {}

    var end: Double { seconds + duration }
  }

  /// A time in the dark: tracking is limited, the light is as low as it says.
  public struct Dark: Hashable, Sendable, Codable {
    /// Seconds after the start.
    public var seconds = 0.0
    /// How long it lasts, seconds; zero: it is never dark.
    public var duration = 0.0
    /// Light in the scene meanwhile, lumens.
    public var lumens = 30.0

    /// Makes a dark time that never comes.
    public init() {}
  }
}
