// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// `recording.json`: name, frames, and the accuracy of the sensors.
///
/// Values are as in the file, degrees included. ``fusionConfiguration()`` and ``frames`` convert
/// them for the engine.
public struct RecordingManifest: Hashable, Sendable {
  /// The file's name in its folder.
  public static let fileName = "recording.json"
  /// The value of the key `format`.
  public static let format = "nearby-recording"
  /// The value of the key `version`.
  public static let version = 1

  /// The recording's name.
  public var name: String
  /// A description of it.
  public var description: String?
  /// Its origin.
  public var source: String?
  /// Its licence.
  public var license: String?
  /// Which axis of the world points up.
  public var worldUp = WorldUp.y
  /// The device.
  public var device = Device()
  /// The odometry.
  public var trajectory = Trajectory()
  /// The radio.
  public var ranging = Ranging()
  /// The range differences of `tdoa.csv`.
  public var differences = Differences()
  /// The peers that are declared; those found in `ranging.csv` besides are stationary.
  public var peers: [RecordingPeer] = []

  /// Makes a manifest of defaults.
  ///
  /// - Parameter name: The recording's name.
  public init(name: String) { self.name = name }

  /// The device's axes, and its radio's position and field of view.
  public struct Device: Hashable, Sendable {
    /// How the device's axes are named.
    public var axes = DeviceAxes.arkit
    /// The antenna's phase centre in these axes, metres.
    public var antenna = Vector3.zero
    /// The full cone in which angles are measured, degrees.
    public var fieldOfViewDegrees = 120.0

    /// Makes a device of defaults.
    public init() {}
  }

  /// The odometry's kind and drift.
  public struct Trajectory: Hashable, Sendable {
    /// The source of the poses.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
      /// Camera and inertial sensors.
      case visualInertial
      /// Wheels, whose heading drifts fast.
      case wheel
      /// A laser scanner.
      case lidar
      /// Legs or anything else that drifts.
      case odometry
      /// The truth.
      case groundTruth
    }

    /// The source of the poses.
    public var kind = Kind.visualInertial
    /// Metres of one-sigma random walk per square root of a metre travelled.
    public var positionDrift = 0.01
    /// Degrees of one-sigma random walk per square root of a metre travelled.
    public var yawDriftDegrees = 0.3
    /// The constant error of the rate of yaw, as of a gyroscope's bias: one sigma, degrees per second.
    public var turnRateSigmaDegrees = 0.0
    /// Whether the odometry is two-dimensional.
    public var isPlanar = false

    /// Makes an odometry of defaults.
    public init() {}

    /// Makes an odometry of a kind, with the drift that is usual for it.
    ///
    /// | kind | position, m/√m | yaw, degrees/√m | steady turn, degrees/s |
    /// | --- | --- | --- | --- |
    /// | ``Kind/visualInertial`` | 0.01 | 0.3 | 0 |
    /// | ``Kind/odometry`` | 0.01 | 0.3 | 0.2 |
    /// | ``Kind/wheel`` | 0.05 | 0.5 | 0.2 |
    /// | ``Kind/lidar`` | 0.02 | 0.1 | 0 |
    /// | ``Kind/groundTruth`` | 0 | 0 | 0 |
    ///
    /// What turns steadily is an odometry whose yaw is that of a gyroscope or of two wheels: a camera and a
    /// laser scanner see their surroundings turn.
    public init(kind: Kind) {
      self.kind = kind
      switch kind {
      case .visualInertial: break
      case .odometry: turnRateSigmaDegrees = 0.2
      case .wheel:
        (positionDrift, yawDriftDegrees, turnRateSigmaDegrees) = (0.05, 0.5, 0.2)
      case .lidar: (positionDrift, yawDriftDegrees) = (0.02, 0.1)
      case .groundTruth: (positionDrift, yawDriftDegrees) = (0, 0)
      }
    }
  }

  /// The radio's accuracy.
  public struct Ranging: Hashable, Sendable {
    /// One standard deviation of a range, metres.
    public var rangeSigma = 0.10
    /// One standard deviation of an azimuth, degrees.
    public var azimuthSigmaDegrees = 3.5
    /// One standard deviation of an elevation, degrees.
    public var elevationSigmaDegrees = 5.0
    /// How long after its measurement a sample is stamped, seconds, as by a callback of a phone.
    public var latency = 0.0

    /// Makes a radio of defaults.
    public init() {}
  }

  /// How accurate range differences are, and how the anchors' clocks err.
  public struct Differences: Hashable, Sendable {
    /// One standard deviation of a difference, metres; `nil` for that of two independent ranges.
    public var sigma: Double?
    /// How the clocks err.
    public var clocks = AnchorClocks.synchronized

    /// Makes clocks that the anchors' system keeps together.
    public init() {}
  }

  /// The recording's frames, for converting poses and results.
  public var frames: FrameConvention { FrameConvention(up: worldUp, axes: device.axes) }

  /// The engine's default settings with the recording's sensor parameters.
  ///
  /// The antenna is turned to the engine's axes, degrees become radians.
  public func fusionConfiguration() -> FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.ranging.antennaInDevice = frames.engineDeviceVector(device.antenna)
    configuration.ranging.fieldOfViewRadians = device.fieldOfViewDegrees.degreesAsRadians
    configuration.ranging.rangeSigma = ranging.rangeSigma
    configuration.ranging.azimuthSigmaRadians = ranging.azimuthSigmaDegrees.degreesAsRadians
    configuration.ranging.elevationSigmaRadians = ranging.elevationSigmaDegrees.degreesAsRadians
    // A late stamp is that of a clock that is ahead.
    configuration.ranging.clockOffset = ranging.latency
    configuration.odometry.positionDrift = trajectory.positionDrift
    configuration.odometry.yawDriftRadians = trajectory.yawDriftDegrees.degreesAsRadians
    configuration.odometry.turnRateSigmaRadians =
      trajectory.turnRateSigmaDegrees.degreesAsRadians
    // A camera guesses scale; wheels and lasers measure it.
    if trajectory.kind != .visualInertial { configuration.odometry.scaleSigma = 0 }
    configuration.odometry.isPlanar = trajectory.isPlanar
    return configuration
  }
}
