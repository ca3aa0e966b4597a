// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// What a simulated run is made of; ``simulated(seed:peer:)`` draws one from a seed.
public struct Scenario: Sendable {
  /// How the device moves.
  public var motion: ScenarioMotion.Kind
  /// How the odometry reports that.
  public var odometry = ScenarioOdometry()
  /// How the radio measures.
  public var radio = ScenarioRadio()
  /// The horizontal distance from the device's first place to the peer, metres.
  public var peerDistance = 1.0...8.0
  /// The peer's height above the device's first place, metres; the sign is drawn as well.
  public var peerHeightDifference = 0.0...2.0

  /// Makes a scenario with a kind of motion, ranges and angles, and no faults.
  public init(_ motion: ScenarioMotion.Kind) { self.motion = motion }

  /// The configuration that tells an engine the truth about this scenario's sensors.
  public var matchingConfiguration: FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.ranging.antennaInDevice = radio.antennaInDevice
    configuration.ranging.fieldOfViewRadians = radio.fieldOfViewRadians
    configuration.ranging.rangeSigma = radio.rangeNoise
    configuration.ranging.rangeBiasSigma = radio.rangeBiasSigma
    configuration.ranging.azimuthSigmaRadians = radio.azimuth.totalSigma
    configuration.ranging.elevationSigmaRadians = radio.elevation.totalSigma
    configuration.odometry.positionDrift = odometry.positionDrift
    configuration.odometry.yawDriftRadians = odometry.yawDriftRadians
    return configuration
  }
}

/// How simulated odometry reports the motion.
public struct ScenarioOdometry: Sendable {
  /// Poses per second.
  public var rate = 60.0
  /// The random walk of position, metres per square root of a metre travelled.
  public var positionDrift = 0.01
  /// The random walk of yaw, radians per square root of a metre travelled.
  public var yawDriftRadians = 0.3.degreesAsRadians
  /// A step of the odometry's world, if there is one.
  public var jump: Jump?

  /// A step of the odometry's world.
  public struct Jump: Sendable {
    /// Seconds after the start.
    public var seconds: Double
    /// By how much all later places are moved, metres.
    public var displacement: Vector3

    /// Makes a step.
    public init(seconds: Double, displacement: Vector3) {
      self.seconds = seconds
      self.displacement = displacement
    }
  }
}

/// How a simulated radio measures.
public struct ScenarioRadio: Sendable {
  /// Samples per second.
  public var rate = 10.0
  /// The antenna's phase centre in device axes, metres.
  public var antennaInDevice = Vector3(0.02, 0.05, 0.01)
  /// White noise of ranges, metres.
  public var rangeNoise = 0.10
  /// The spread of the constant error of ranges from run to run, metres.
  public var rangeBiasSigma = 0.15
  /// The spread of the scale error of ranges from run to run.
  public var rangeScaleSigma = 0.0
  /// Whether there are angles.
  public var measuresAngles = true
  /// The full cone in which there are angles, radians.
  public var fieldOfViewRadians = 120.0.degreesAsRadians
  /// Errors of azimuths.
  public var azimuth = AngleError(noiseDegrees: 3, biasDegrees: 2)
  /// Errors of elevations.
  public var elevation = AngleError(noiseDegrees: 4, biasDegrees: 3)
  /// Ranges without line of sight: too long by an exponential of mean 1.5 m, drawn for each sample.
  public var rangeFaults = FaultProcess()
  /// Angle pairs that stick at a direction drawn from the cone while the fault lasts.
  public var angleFaults = FaultProcess()
  /// An error added to the very first range only, metres.
  public var firstRangeError = 0.0
  /// How long after its moment a sample arrives, drawn uniformly, seconds.
  public var latency = 0.03...0.03
  /// By how much the radio's clock is ahead of the poses', seconds.
  public var clockOffset = 0.0

  /// Errors of an angle: white noise, and a smooth function of the direction in device axes.
  public struct AngleError: Sendable {
    /// White noise, one sigma, radians.
    public var noise: Double
    /// The direction-dependent error, one sigma over directions and runs, radians.
    public var bias: Double

    /// Makes errors from degrees.
    public init(noiseDegrees: Double, biasDegrees: Double) {
      noise = noiseDegrees.degreesAsRadians
      bias = biasDegrees.degreesAsRadians
    }

    /// Both together.
    public var totalSigma: Double { (noise * noise + bias * bias).squareRoot() }
  }

  /// When a component is faulty: a Markov chain of two states.
  public struct FaultProcess: Sendable {
    /// The share of faulty samples.
    public var share: Double
    /// The probability that a fault lasts to the next sample; bursts last 1 / (1 - it) on average.
    public var persistence: Double

    /// Makes a process; by default there are no faults.
    public init(share: Double = 0, persistence: Double = 0) {
      self.share = share
      self.persistence = persistence
    }

    func isFaulty(after wasFaulty: Bool, _ generator: inout SeededGenerator) -> Bool {
      guard share > 0 else { return false }
      let onset = share * (1 - persistence) / (1 - share)
      return generator.uniform() < (wasFaulty ? persistence : onset)
    }
  }
}

/// A simulated run: what an engine receives, in the order of arrival, and the truth behind it.
public struct SimulatedRun: Sendable {
  /// What arrives.
  public enum Event: Sendable {
    /// A pose, by its place in ``poses``.
    case pose(Int)
    /// A sample, by its place in ``samples``.
    case sample(Int)
  }

  /// One ranging sample and the truth behind it.
  public struct Sample: Sendable {
    /// Its stamp, on the poses' clock but for the scenario's clock offset.
    public var timestamp: Timestamp
    /// Seconds after the start at which it was really made.
    public var seconds: Double
    /// The measured distance, metres.
    public var distance: Double
    /// The measured azimuth, radians; `nil` outside the cone.
    public var azimuthRadians: Double?
    /// The measured elevation, radians; `nil` outside the cone.
    public var elevationRadians: Double?
    /// Whether the distance is a fault.
    public var isRangeFaulty: Bool
    /// Whether the angles are a fault.
    public var areAnglesFaulty: Bool
    /// The device's pose in the odometry's world at that moment.
    public var odometryFromDevice: RigidTransform
    /// Where the peer is in the odometry's world as it was at that moment.
    ///
    /// An error in this world has the same length as the error relative to the device in the
    /// device's frame, and the same normalised square: the two differ by the device's rotation.
    public var peerInOdometry: Vector3
    /// The length of the path that the device has travelled by then, metres.
    public var travelled: Double
  }

  /// The poses that the odometry reports.
  public var poses: [DevicePose]
  /// The samples in the order of their moments.
  public var samples: [Sample]
  /// What arrives, in order.
  public var events: [Event]
  /// The range's scale error in this run.
  public var rangeScale: Double
  /// The antenna's phase centre in device axes, metres.
  public var antennaInDevice: Vector3

  /// A sample as an engine takes it.
  ///
  /// - Parameters:
  ///   - index: Its place in ``samples``.
  ///   - peer: The peer to which the engine shall count it.
  /// - Returns: The sample.
  public func rangingSample(_ index: Int, of peer: PeerID) -> RangingSample {
    let sample = samples[index]
    return RangingSample(
      peer: peer, timestamp: sample.timestamp, distance: sample.distance,
      azimuthRadians: sample.azimuthRadians, elevationRadians: sample.elevationRadians)
  }

  /// Feeds everything to an engine, in order of arrival.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - peer: The peer to which the samples belong.
  ///   - afterSample: Called after each sample with its place in ``samples`` and its report.
  public func feed(
    _ engine: inout FusionEngine, as peer: PeerID,
    afterSample: (_ index: Int, _ report: SampleReport, _ engine: FusionEngine) -> Void = {
      _, _, _ in
    }
  ) {
    for event in events {
      switch event {
      case .pose(let index): engine.add(poses[index])
      case .sample(let index):
        let report = engine.add(rangingSample(index, of: peer))
        afterSample(index, report, engine)
      }
    }
  }
}

// MARK: - Drawing a run

extension Scenario {
  /// Draws a run.
  ///
  /// - Parameters:
  ///   - seed: The seed of the motion and of the odometry's drift.
  ///   - peer: Which peer; runs of one seed differ from peer to peer only in the peer's place and in
  ///     what its radio measures.
  /// - Returns: The run.
  public func simulated(seed: UInt64, peer: UInt64 = 0) -> SimulatedRun {
    let motion = ScenarioMotion(self.motion, seed: seed)
    let odometry = OdometryTrack(self.odometry, motion: motion, seed: seed)
    let place = peerPlace(motion, seed: seed, peer: peer)
    var draw = RadioDraw(radio, seed: seed, peer: peer)
    var samples: [SimulatedRun.Sample] = []
    var arrivals: [(seconds: Double, event: SimulatedRun.Event)] = odometry.poses.indices.map {
      (Double($0) / self.odometry.rate, .pose($0))
    }
    for (index, time) in draw.times(until: motion.duration).enumerated() {
      let truth = motion.pose(at: time)
      let seen = odometry.seen(at: time, truth: truth, peer: place)
      samples.append(draw.sample(at: time, truth: truth, peer: place, seen: seen))
      arrivals.append((time + draw.latency(), .sample(index)))
    }
    // Stable: equal times keep their order, poses first.
    let order = arrivals.indices.sorted {
      (arrivals[$0].seconds, $0) < (arrivals[$1].seconds, $1)
    }
    return SimulatedRun(
      poses: odometry.poses, samples: samples, events: order.map { arrivals[$0].event },
      rangeScale: draw.rangeScale, antennaInDevice: radio.antennaInDevice)
  }

  /// Somewhere around the start that the device never comes closer to than 0.7 m.
  private func peerPlace(_ motion: ScenarioMotion, seed: UInt64, peer: UInt64) -> Vector3 {
    var generator = SeededGenerator(seed: seed, stream: 1000 + 2 * peer)
    let path = stride(from: 0, through: motion.duration, by: 0.1).map {
      motion.pose(at: $0).translation
    }
    while true {
      let distance = generator.uniform(in: peerDistance)
      let bearing = generator.uniform(in: -.pi...Double.pi)
      let height = generator.uniform(in: peerHeightDifference)
      let side = generator.uniform() < 0.5 ? -1.0 : 1.0
      let turn = Rotation(angleRadians: bearing, about: Vector3(0, 1, 0))
      let place = path[0] + turn.act(Vector3(0, 0, -distance)) + Vector3(0, side * height, 0)
      if path.allSatisfy({ ($0 - place).length > 0.7 }) { return place }
    }
  }
}

/// Seconds on the simulated clock at which every run starts: zero would hide mistakes.
private let startSeconds: Int64 = 1_000

private func stamp(_ seconds: Double) -> Timestamp {
  Timestamp(nanoseconds: startSeconds * 1_000_000_000).advanced(bySeconds: seconds)
}

/// The poses that drifting odometry reports: true increments, turned by the yaw error so far, plus
/// a random walk of place and yaw over the path length.
private struct OdometryTrack {
  var poses: [DevicePose] = []
  private let rate: Double
  /// At each pose: the yaw error, the odometry's place minus the turned true place, and the path
  /// length so far.
  private var yawErrors: [Double] = []
  private var offsets: [Vector3] = []
  private var lengths: [Double] = []

  init(_ odometry: ScenarioOdometry, motion: ScenarioMotion, seed: UInt64) {
    rate = odometry.rate
    var generator = SeededGenerator(seed: seed, stream: 2)
    var previous = motion.pose(at: 0).translation
    var place = previous
    var yaw = 0.0
    var length = 0.0
    let up = Vector3(0, 1, 0)
    for index in 0...Int((motion.duration * rate).rounded(.down)) {
      let seconds = Double(index) / rate
      let truth = motion.pose(at: seconds)
      let increment = truth.translation - previous
      let walk = increment.length.squareRoot()
      place +=
        Rotation(angleRadians: yaw, about: up).act(increment)
        + generator.normalVector(sigma: odometry.positionDrift * walk)
      yaw += generator.normal(sigma: odometry.yawDriftRadians * walk)
      length += increment.length
      previous = truth.translation
      var reported = place
      if let jump = odometry.jump, seconds >= jump.seconds { reported += jump.displacement }
      let turn = Rotation(angleRadians: yaw, about: up)
      poses.append(
        DevicePose(
          timestamp: stamp(seconds),
          worldFromDevice: RigidTransform(
            rotation: turn * truth.rotation, translation: reported)))
      yawErrors.append(yaw)
      offsets.append(reported - turn.act(truth.translation))
      lengths.append(length)
    }
  }

  /// The device and the peer in the odometry's world as it is at a moment, and the path length.
  func seen(
    at seconds: Double, truth: RigidTransform, peer: Vector3
  ) -> (device: RigidTransform, peer: Vector3, travelled: Double) {
    let index = min(Int(seconds * rate), poses.count - 2)
    let fraction = seconds * rate - Double(index)
    let yaw = yawErrors[index] + fraction * (yawErrors[index + 1] - yawErrors[index])
    let offset = offsets[index] + fraction * (offsets[index + 1] - offsets[index])
    let worldFromTruth = RigidTransform(
      rotation: Rotation(angleRadians: yaw, about: Vector3(0, 1, 0)), translation: offset)
    return (
      worldFromTruth * truth, worldFromTruth.act(peer),
      lengths[index] + fraction * (lengths[index + 1] - lengths[index])
    )
  }
}

/// The radio's errors in one run.
private struct RadioDraw {
  let radio: ScenarioRadio
  let rangeScale: Double
  private let rangeBias: Double
  private let azimuthBias: DirectionField
  private let elevationBias: DirectionField
  private var noise: SeededGenerator
  private var faults: SeededGenerator
  private var timing: SeededGenerator
  private var isFirst = true
  private var isRangeFaulty = false
  private var areAnglesFaulty = false
  private var stuck = ArrivalAngles(azimuthRadians: 0, elevationRadians: 0)

  init(_ radio: ScenarioRadio, seed: UInt64, peer: UInt64) {
    self.radio = radio
    var errors = SeededGenerator(seed: seed, stream: 1001 + 2 * peer)
    rangeBias = errors.normal(sigma: radio.rangeBiasSigma)
    rangeScale = errors.normal(sigma: radio.rangeScaleSigma)
    azimuthBias = DirectionField(sigma: radio.azimuth.bias, &errors)
    elevationBias = DirectionField(sigma: radio.elevation.bias, &errors)
    noise = SeededGenerator(seed: errors.next())
    faults = SeededGenerator(seed: errors.next())
    timing = SeededGenerator(seed: errors.next())
  }

  /// The moments of the samples: at the radio's rate, from a moment drawn from the first period on.
  mutating func times(until end: Double) -> [Double] {
    let period = 1 / radio.rate
    return Array(stride(from: 0.02 + period * timing.uniform(), to: end - 0.05, by: period))
  }

  mutating func latency() -> Double { timing.uniform(in: radio.latency) }

  mutating func sample(
    at seconds: Double, truth: RigidTransform, peer: Vector3,
    seen: (device: RigidTransform, peer: Vector3, travelled: Double)
  ) -> SimulatedRun.Sample {
    let offset = truth.rotation.inverse.act(peer - truth.act(radio.antennaInDevice))
    var distance =
      (1 + rangeScale) * offset.length + rangeBias + noise.normal(sigma: radio.rangeNoise)
    isRangeFaulty = radio.rangeFaults.isFaulty(after: isRangeFaulty, &faults)
    let excess = faults.exponential(mean: 1.5)
    if isRangeFaulty { distance += excess }
    if isFirst { distance += radio.firstRangeError }
    let isDistanceFaulty = isRangeFaulty || isFirst && radio.firstRangeError != 0
    isFirst = false
    let angles = measuredAngles(offset)
    return SimulatedRun.Sample(
      timestamp: stamp(seconds + radio.clockOffset), seconds: seconds,
      distance: max(0.01, distance),
      azimuthRadians: angles?.azimuthRadians, elevationRadians: angles?.elevationRadians,
      isRangeFaulty: isDistanceFaulty, areAnglesFaulty: areAnglesFaulty,
      odometryFromDevice: seen.device, peerInOdometry: seen.peer, travelled: seen.travelled)
  }

  private mutating func measuredAngles(_ offset: Vector3) -> ArrivalAngles? {
    let truth = ArrivalAngles(ofDirection: offset)
    let white = (
      noise.normal(sigma: radio.azimuth.noise), noise.normal(sigma: radio.elevation.noise)
    )
    let wasFaulty = areAnglesFaulty
    areAnglesFaulty = radio.angleFaults.isFaulty(after: wasFaulty, &faults)
    let drawn = (faults.uniform(in: -1...1), faults.uniform(in: -1...1))
    let halfCone = radio.fieldOfViewRadians / 2
    if areAnglesFaulty, !wasFaulty {
      stuck = ArrivalAngles(
        azimuthRadians: halfCone * drawn.0, elevationRadians: min(halfCone, .pi / 2) * drawn.1)
    }
    guard radio.measuresAngles else { return nil }
    if areAnglesFaulty { return stuck }
    guard isInCone(offset, halfCone) else { return nil }
    let elevation = truth.elevationRadians + elevationBias.value(at: offset) + white.1
    return ArrivalAngles(
      azimuthRadians: (truth.azimuthRadians + azimuthBias.value(at: offset) + white.0).wrappedAngle,
      elevationRadians: min(max(elevation, -.pi / 2), .pi / 2))
  }

  /// Whether a direction is within so many radians of straight ahead.
  private func isInCone(_ offset: Vector3, _ halfCone: Double) -> Bool {
    let across = Vector3(offset.x, offset.y, 0).length
    return ArrivalAngles(ofDirection: Vector3(across, 0, offset.z)).azimuthRadians <= halfCone
  }
}
