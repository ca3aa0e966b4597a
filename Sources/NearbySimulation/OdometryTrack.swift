// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// The poses that drifting odometry reports.
///
/// They are the true increments, rotated by the yaw error so far, plus a random walk of position
/// and yaw over the path length, and a slip. Then the faults of its world as a whole are applied.
struct OdometryTrack: DeviceTrack {
  private(set) var poses: [DevicePose] = []
  private(set) var arrivals: [Double] = []
  private(set) var tracking: [(seconds: Double, sample: TrackingSample)] = []
  private(set) var positions: [(seconds: Double, position: Vector3)] = []

  /// The odometry's drift at one tick.
  private struct Tick {
    var yawError: Double
    /// The odometry's position minus the rotated true position.
    var offset: Vector3
    /// The path length so far.
    var length: Double
  }

  private let motion: ScenarioMotion
  private let clock: TickClock
  private var ticks: [Tick] = []
  /// The tilt of the whole world, and its displacement after a loss of tracking.
  private let tilt: RigidTransform?
  private var loss: (end: Double, shift: RigidTransform)?
  /// The first tick after a slip without duration.
  private var stepTick: Int?

  fileprivate static let up = Vector3(0, 1, 0)

  init(_ scenario: Scenario, motion: ScenarioMotion, seed: UInt64) {
    let odometry = scenario.odometry
    self.motion = motion
    clock = TickClock(rate: odometry.rate, idle: scenario.idle)
    tilt = Self.tilt(of: odometry, about: motion.pose(at: 0).translation, seed: seed)
    tracking = Self.tracking(of: odometry)
    // Usually every sixth pose. Performance: the motion is not evaluated again.
    let positionStride =
      odometry.rate.truncatingRemainder(dividingBy: 10) == 0 ? Int(odometry.rate / 10) : 0

    var noise = SeededGenerator(seed: seed, stream: 3)
    var reckoning = DeadReckoning(odometry, from: motion.pose(at: 0).translation, seed: seed)
    let count = clock.count(until: scenario.duration)
    ticks.reserveCapacity(count)
    poses.reserveCapacity(count)
    arrivals.reserveCapacity(count)
    for index in 0..<count {
      let seconds = clock.seconds(at: index)
      let truth = motion.pose(at: seconds)
      let interval = index > 0 ? seconds - clock.seconds(at: index - 1) : 0
      reckoning.advance(
        to: truth.translation, at: seconds, interval, isIdle: clock.isIdle(at: seconds))
      if reckoning.hasStepped(at: seconds) { stepTick = stepTick ?? index }
      var reported = reckoning.position
      if seconds >= odometry.jump.seconds { reported += odometry.jump.displacement }
      ticks.append(
        Tick(
          yawError: reckoning.yaw, offset: reported - reckoning.turn.act(truth.translation),
          length: reckoning.length))
      if positionStride > 0, index % positionStride == 0 || clock.isIdle(at: seconds) {
        positions.append((seconds, truth.translation))
      }

      var pose = RigidTransform(rotation: reckoning.turn * truth.rotation, translation: reported)
      if odometry.loss.duration > 0 {
        if loss == nil, seconds >= odometry.loss.end {
          loss = (odometry.loss.end, Self.shift(of: odometry.loss, about: reported))
        }
        if seconds >= odometry.loss.seconds, seconds < odometry.loss.end { continue }
      }
      pose = Self.shaken(inFinalWorld(pose, at: seconds), by: odometry, &noise)
      if odometry.freeze.contains(seconds), let last = poses.last { pose = last.worldFromDevice }
      poses.append(
        DevicePose(timestamp: SimulatedRun.timestamp(at: seconds), worldFromDevice: pose))
      arrivals.append(seconds)
    }
    if positionStride == 0 {
      positions = stride(from: 0, through: scenario.duration, by: 0.1).map {
        ($0, motion.pose(at: $0).translation)
      }
    }
  }

  func moment(at seconds: Double) -> DeviceMoment {
    let truth = motion.pose(at: seconds)
    let position = clock.position(at: seconds)
    let index = min(Int(position), ticks.count - 2)
    let fraction = position - Double(index)
    let (before, after) = (ticks[index], ticks[index + 1])
    // The world steps at a tick, not between two of them.
    let passed = index + 1 == stepTick ? fraction.rounded(.down) : fraction
    let yaw = before.yawError + passed * (after.yawError - before.yawError)
    let offset = before.offset + passed * (after.offset - before.offset)
    let odometryFromTruth = RigidTransform(
      rotation: Rotation(angleRadians: yaw, about: Self.up), translation: offset)
    return DeviceMoment(
      truth: truth, odometryFromTruth: inFinalWorld(odometryFromTruth, at: seconds),
      travelled: before.length + fraction * (after.length - before.length))
  }

  /// Applies the faults of the odometry's world as a whole to a pose or to a world.
  private func inFinalWorld(_ pose: RigidTransform, at seconds: Double) -> RigidTransform {
    var pose = pose
    if let loss, seconds >= loss.end { pose = loss.shift * pose }
    if let tilt { pose = tilt * pose }
    return pose
  }

  /// Adds the white noise of a pose.
  private static func shaken(
    _ pose: RigidTransform, by odometry: ScenarioOdometry, _ noise: inout SeededGenerator
  ) -> RigidTransform {
    guard odometry.positionNoise > 0 || odometry.attitudeNoiseDegrees > 0 else { return pose }
    var pose = pose
    pose.translation += noise.normalVector(sigma: odometry.positionNoise)
    let shake = noise.normalVector(sigma: odometry.attitudeNoiseDegrees.degreesAsRadians)
    pose.rotation = Rotation(angleRadians: shake.length, about: shake) * pose.rotation
    return pose
  }

  // MARK: Events of the world

  private static func tilt(
    of odometry: ScenarioOdometry, about position: Vector3, seed: UInt64
  ) -> RigidTransform? {
    guard odometry.tiltDegrees > 0 else { return nil }
    var generator = SeededGenerator(seed: seed, stream: 4)
    let sigma = odometry.tiltDegrees.degreesAsRadians
    let axis = Vector3(generator.normal(sigma: sigma), 0, generator.normal(sigma: sigma))
    return turned(Rotation(angleRadians: axis.length, about: axis), about: position)
  }

  private static func shift(
    of loss: ScenarioOdometry.Loss, about position: Vector3
  ) -> RigidTransform {
    var shift = turned(
      Rotation(angleRadians: loss.turnDegrees.degreesAsRadians, about: up), about: position)
    shift.translation += loss.displacement
    return shift
  }

  private static func turned(_ rotation: Rotation, about position: Vector3) -> RigidTransform {
    RigidTransform(rotation: rotation, translation: position - rotation.act(position))
  }

  private static func tracking(
    of odometry: ScenarioOdometry
  ) -> [(seconds: Double, sample: TrackingSample)] {
    let (loss, dark) = (odometry.loss, odometry.dark)
    let isAnnounced = loss.duration > 0 && loss.isAnnounced
    guard isAnnounced || dark.duration > 0 else { return [] }
    var moments = [0.0]
    if isAnnounced { moments += [loss.seconds, loss.end, loss.end + loss.relocalizing] }
    if dark.duration > 0 { moments += [dark.seconds, dark.seconds + dark.duration] }
    return Set(moments).sorted().map { seconds in
      let isDark = seconds >= dark.seconds && seconds < dark.seconds + dark.duration
      var quality = TrackingSample.Quality.normal
      if isDark { quality = .limited(.insufficientFeatures) }
      if isAnnounced, seconds >= loss.seconds, seconds < loss.end + loss.relocalizing {
        quality = seconds < loss.end ? .notAvailable : .limited(.relocalizing)
      }
      return (
        seconds,
        TrackingSample(
          timestamp: SimulatedRun.timestamp(at: seconds), quality: quality,
          ambientIntensityLumens: isDark ? dark.lumens : odometry.lightLumens)
      )
    }
  }
}

/// Dead reckoning with the errors of odometry.
private struct DeadReckoning {
  /// The device in the odometry's world, metres.
  private(set) var position: Vector3
  /// The yaw error, radians.
  private(set) var yaw = 0.0
  /// The rotation by the yaw error.
  private(set) var turn = Rotation.identity
  /// The length of the true path so far, metres.
  private(set) var length = 0.0

  private var previous: Vector3
  private let odometry: ScenarioOdometry
  private let steadyTurn: Double
  private let slip: SlipDraw
  /// How much of the slip has happened.
  private var slipped = 0.0
  private var generator: SeededGenerator

  init(_ odometry: ScenarioOdometry, from position: Vector3, seed: UInt64) {
    self.odometry = odometry
    self.position = position
    previous = position
    generator = SeededGenerator(seed: seed, stream: 2)
    var turning = SeededGenerator(seed: seed, stream: 5)
    steadyTurn = turning.normal(sigma: odometry.steadyTurnDegrees.degreesAsRadians)
    slip = SlipDraw(odometry.slip, seed: seed)
  }

  /// Whether the world has stepped by a slip without duration.
  func hasStepped(at seconds: Double) -> Bool { slip.isStep && slip.share(at: seconds) > 0 }

  /// Advances to the device's next true position, an interval later.
  mutating func advance(
    to truth: Vector3, at seconds: Double, _ interval: Double, isIdle: Bool
  ) {
    let increment = truth - previous
    previous = truth
    // At rest only tremor moves the device, and it does not count as a path.
    let distance = isIdle ? 0 : increment.length
    let walk = distance.squareRoot()
    let factor = odometry.freeze.contains(seconds) ? 0 : odometry.scale * slip.scale(at: seconds)
    position +=
      turn.act(factor * increment)
      + generator.normalVector(sigma: odometry.positionDrift * walk)
    yaw += generator.normal(sigma: odometry.yawDriftRadians * walk)
    if steadyTurn != 0 { yaw += steadyTurn * interval }
    let slipping = slip.share(at: seconds) - slipped
    if slipping > 0 {
      slipped += slipping
      position += slipping * slip.shift
      yaw += slipping * slip.turn
    }
    length += distance
    turn = Rotation(angleRadians: yaw, about: OdometryTrack.up)
  }
}

/// The times of the poses: at one rate, and at another once the device is idle.
private struct TickClock {
  private let rate: Double
  private let idleRate: Double
  /// The last tick at the first rate, and its time.
  private let lastTick: Int
  private let lastSeconds: Double

  init(rate: Double, idle: Scenario.Idle) {
    self.rate = rate
    idleRate = idle.poseRate
    lastTick = idle.start.isFinite ? Int(idle.start * rate) : .max
    lastSeconds = idle.start.isFinite ? Double(lastTick) / rate : .infinity
  }

  func isIdle(at seconds: Double) -> Bool { seconds > lastSeconds }

  func seconds(at tick: Int) -> Double {
    tick <= lastTick ? Double(tick) / rate : lastSeconds + Double(tick - lastTick) / idleRate
  }

  /// A time in ticks, with its fraction.
  func position(at seconds: Double) -> Double {
    isIdle(at: seconds) ? Double(lastTick) + (seconds - lastSeconds) * idleRate : seconds * rate
  }

  /// How many ticks there are from zero to the end.
  func count(until end: Double) -> Int { Int(position(at: end).rounded(.down)) + 1 }
}
