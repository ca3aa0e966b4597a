// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// A simulated run: the inputs of an engine in the order of arrival, and the truth.
public struct SimulatedRun: Sendable {
  /// An input of the engine.
  public enum Event: Hashable, Sendable {
    /// A pose, by its index in ``poses``.
    case pose(Int)
    /// A report of the odometry's quality, by its index in ``tracking``.
    case tracking(Int)
    /// A sample, by its index in ``samples``. A duplicated sample arrives twice.
    case sample(Int)
  }

  /// One ranging sample and the truth at its time.
  public struct Sample: Sendable {
    /// The peer's index in ``SimulatedRun/peers``.
    public var peer: Int
    /// Its timestamp, on the poses' clock plus the scenario's clock offset.
    public var timestamp: Timestamp
    /// The true time of the measurement, seconds after the start.
    public var seconds: Double
    /// What was measured of each kind; `nil` when it was not.
    package var values = PerKind<Double?>(repeating: nil)
    /// Whether the measurement of a kind is a fault.
    package var faults = PerKind(repeating: false)
    /// The device's pose in the odometry's world at that time, without the noise of single poses.
    public var odometryFromDevice: RigidTransform
    /// The peer's position in the odometry's world as it was at that time.
    ///
    /// An error in this world has the same length as the error relative to the device in the
    /// device's frame, and the same normalised square: the two differ by the device's rotation.
    public var peerInOdometry: Vector3
    /// The peer's true velocity, rotated into the odometry's world as it was at that time, m/s.
    public var peerVelocityInOdometry: Vector3
    /// The length of the path that the device has travelled by then, metres.
    public var travelled: Double

    /// The measured distance, metres; `nil` when the radio measures none.
    public var distance: Double? {
      get { values.range }
      set { values.range = newValue }
    }
    /// The measured azimuth, radians; `nil` outside the cone.
    public var azimuthRadians: Double? {
      get { values.azimuth }
      set { values.azimuth = newValue }
    }
    /// The measured elevation, radians; `nil` outside the cone.
    public var elevationRadians: Double? {
      get { values.elevation }
      set { values.elevation = newValue }
    }
    /// The measured height of the peer over the device, metres; `nil` when barometers measure none.
    public var heightDifference: Double? {
      get { values.heightDifference }
      set { values.heightDifference = newValue }
    }
    /// Whether the distance is a fault.
    public var isRangeFaulty: Bool {
      get { faults.range }
      set { faults.range = newValue }
    }
    /// Whether the azimuth is a fault.
    public var isAzimuthFaulty: Bool {
      get { faults.azimuth }
      set { faults.azimuth = newValue }
    }
    /// Whether the elevation is a fault.
    public var isElevationFaulty: Bool {
      get { faults.elevation }
      set { faults.elevation = newValue }
    }
    /// Whether the height difference is a fault.
    public var isHeightDifferenceFaulty: Bool {
      get { faults.heightDifference }
      set { faults.heightDifference = newValue }
    }

    /// Whether any of the angles is a fault.
    public var areAnglesFaulty: Bool { isAzimuthFaulty || isElevationFaulty }
  }

  /// The truth about one peer and the radio that measures it.
  public struct Peer: Sendable {
    /// Its true motion.
    public var path: PeerPath
    /// The range's scale error.
    public var rangeScale: Double
    /// The range's constant error, metres.
    public var rangeBias: Double
  }

  /// The poses that the odometry reports.
  public var poses: [DevicePose]
  /// The odometry's reports of its quality; empty when its quality never changes.
  public var tracking: [TrackingSample]
  /// The samples that arrive, in the order of their times.
  public var samples: [Sample]
  /// The inputs in the order of arrival.
  public var events: [Event]
  /// The peers.
  public var peers: [Peer]
  /// The antenna's phase centre in device axes, metres.
  public var antennaInDevice: Vector3
  /// The true motion of the device.
  public var device: DeviceMotion

  /// The range's scale error of the first peer.
  public var rangeScale: Double { peers[0].rangeScale }

  /// The timestamp of a time on the poses' clock.
  ///
  /// - Parameter seconds: The time, seconds after the start.
  /// - Returns: The timestamp. Runs do not start at zero, because that would hide mistakes.
  public static func timestamp(at seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: startSeconds * 1_000_000_000).advanced(bySeconds: seconds)
  }

  private static let startSeconds: Int64 = 1_000

  /// A sample as an input of the engine.
  ///
  /// - Parameters:
  ///   - index: Its index in ``samples``.
  ///   - peer: The engine's handle of the peer.
  /// - Returns: The sample.
  public func rangingSample(_ index: Int, of peer: PeerID) -> RangingSample {
    let sample = samples[index]
    var measured = RangingSample(peer: peer, timestamp: sample.timestamp)
    for kind in MeasurementKind.allCases { measured[kind].value = sample.values[kind] }
    return measured
  }

  /// Feeds everything of a run with one peer to an engine, in order of arrival.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - peer: The engine's handle of the peer.
  ///   - afterSample: Called after each sample with its index in ``samples`` and its report.
  public func feed(
    _ engine: inout FusionEngine, as peer: PeerID,
    afterSample: (_ index: Int, _ report: SampleReport, _ engine: FusionEngine) -> Void = {
      _, _, _ in
    }
  ) {
    feed(&engine, as: [peer], afterSample: afterSample)
  }

  /// Feeds everything to an engine, in order of arrival.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - peers: The engine's handles of ``peers``, in that order.
  ///   - afterSample: Called after each sample with its index in ``samples`` and its report.
  public func feed(
    _ engine: inout FusionEngine, as peers: [PeerID],
    afterSample: (_ index: Int, _ report: SampleReport, _ engine: FusionEngine) -> Void = {
      _, _, _ in
    }
  ) {
    for event in events {
      switch event {
      case .pose(let index): engine.add(poses[index])
      case .tracking(let index): engine.add(tracking[index])
      case .sample(let index):
        let report = engine.add(rangingSample(index, of: peers[samples[index].peer]))
        afterSample(index, report, engine)
      }
    }
  }
}

/// The true motion of the device.
public enum DeviceMotion: Sendable {
  /// The motion of a person, drawn from a seed.
  case drawn(ScenarioMotion)
  /// A recorded motion.
  case recorded(RecordedTrajectory)

  /// The device's true pose.
  ///
  /// - Parameter seconds: The time, seconds after the start.
  /// - Returns: Device coordinates to the true world, y up, metres.
  public func pose(at seconds: Double) -> RigidTransform {
    switch self {
    case .drawn(let motion): motion.pose(at: seconds)
    case .recorded(let trajectory): trajectory.truePose(at: seconds)
    }
  }
}
