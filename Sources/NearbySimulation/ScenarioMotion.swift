// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

/// How a simulated person moves the device: a smooth, analytic motion, drawn from a seed.
///
/// World: y up, metres. The device starts 1.4 m above the floor; its back camera looks along the walk.
public struct ScenarioMotion: Sendable {
  /// The kinds of motion.
  public enum Kind: String, CaseIterable, Hashable, Sendable, Codable {
    /// Stands and sweeps the device from side to side and up and down for 5 s, then walks a curved
    /// path, stretching the arms. 20 s.
    case sweepThenWalk
    /// Walks about, the device's height changing by about a metre. 50 s.
    case wanderingWalk
    /// Walks straight at constant speed; the device only turns a little. 12 s.
    case straightLine
    /// Turns round and nods without moving the device's origin. 20 s.
    case rotationInPlace
    /// Walks a curved path, height and tilt exactly constant: a horizontal mirror remains. 40 s.
    case constantHeightWalk
    /// Stands still with 5 mm of tremor. 30 s.
    case standingStill
    /// As ``sweepThenWalk``, then up a flight of stairs of about 3 m from 15 to 27 s. 35 s.
    case sweepThenClimb
    /// As ``sweepThenWalk`` for 20 s, then stands still with 5 mm of tremor, for as long as it takes.
    /// 60 s.
    case sweepThenStand
    /// Walks about and swings the device widely about all three axes. 60 s.
    case swingingWalk
    /// Walks through a room at nearly constant height, as a ``ScenarioWalk`` says. 60 s.
    case levelWalk
  }

  /// The kind of motion.
  public let kind: Kind

  private var standing = 0.0
  /// The time at which the walk ends.
  private var stop = Double.infinity
  private var path = RoomPath()
  private var origin = Vector3.zero
  private var pathDirection = 0.0
  private var worldFromPath = Rotation.identity
  private var isStraight = false
  private var speed = 0.0
  private var turnRate = 0.0
  private var sweep = ArmSweep()
  private var climb = StairClimb()
  private var ground = Ground()
  /// How much the walk climbs, m/s.
  private var climbRate = 0.0
  private var height: [Sinusoid] = []
  private var stretch: [Sinusoid] = []
  private var tremor: [[Sinusoid]] = [[], [], []]
  private var yaw: [Sinusoid] = []
  private var pitch: [Sinusoid] = []
  private var roll: [Sinusoid] = []

  /// The walk of a motion of the kind ``Kind/levelWalk``.
  private var walk: ScenarioWalk?

  /// Draws a motion of a kind from a seed.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - walk: The room and the device's height, for the kind ``Kind/levelWalk``.
  ///   - seed: The seed.
  public init(_ kind: Kind, walk: ScenarioWalk = ScenarioWalk(), seed: UInt64) {
    self.kind = kind
    var generator = SeededGenerator(seed: seed, stream: 1)
    pathDirection = generator.uniform(in: -.pi...Double.pi)
    worldFromPath = Rotation(angleRadians: pathDirection, about: Self.up)
    switch kind {
    case .sweepThenWalk, .sweepThenClimb, .sweepThenStand:
      standing = 5
      path = RoomPath(radius: 1.5...3, &generator)
      sweep = ArmSweep(&generator)
      stretch = [Sinusoid(0.1...0.25, period: 3...5, &generator)]
      height = [Sinusoid(0.03...0.06, period: 2...4, &generator)]
      yaw = [Sinusoid(0.1...0.3, period: 3...5, &generator)]
      pitch = [Sinusoid(0.1...0.25, period: 3...5, &generator)]
      roll = [Sinusoid(0.03...0.1, period: 3...5, &generator)]
      if kind == .sweepThenClimb { climb = StairClimb(start: 15, &generator) }
      if kind == .sweepThenStand {
        stop = Self.secondsToStop
        drawTremor(&generator)
      }
    case .wanderingWalk:
      path = RoomPath(radius: 2...3.5, &generator)
      height = [
        Sinusoid(0.35...0.6, period: 8...14, &generator),
        Sinusoid(0.1...0.2, period: 3...5, &generator),
      ]
      yaw = [Sinusoid(0.1...0.4, period: 3...6, &generator)]
      pitch = [Sinusoid(0.1...0.3, period: 3...6, &generator)]
      roll = [Sinusoid(0.03...0.1, period: 3...6, &generator)]
    case .straightLine:
      isStraight = true
      speed = generator.uniform(in: 0.8...1.2)
      yaw = [Sinusoid(0.05...0.2, period: 2...4, &generator)]
    case .rotationInPlace:
      turnRate = generator.uniform(in: 0.4...0.8)
      pitch = [Sinusoid(0.2...0.4, period: 3...6, &generator)]
    case .constantHeightWalk:
      path = RoomPath(radius: 2...3.5, &generator)
      yaw = [Sinusoid(0.1...0.4, period: 3...6, &generator)]
    case .standingStill:
      drawTremor(&generator)
      yaw = [Sinusoid(0.01...0.03, period: 2...5, &generator)]
      pitch = [Sinusoid(0.01...0.03, period: 2...5, &generator)]
    case .swingingWalk:
      path = RoomPath(radius: 1.5...3, &generator)
      height = [Sinusoid(0.2...0.4, period: 4...8, &generator)]
      stretch = [Sinusoid(0.1...0.25, period: 3...5, &generator)]
      yaw = [Sinusoid(0.5...0.9, period: 3...6, &generator)]
      pitch = [Sinusoid(0.3...0.5, period: 3...6, &generator)]
      roll = [Sinusoid(0.4...0.7, period: 3...6, &generator)]
    case .levelWalk: draw(walk, &generator)
    }
    origin = path.point(at: 0).position
  }

  private mutating func draw(_ walk: ScenarioWalk, _ generator: inout SeededGenerator) {
    self.walk = walk
    path = RoomPath(
      roomLength: walk.roomLength, roomWidth: walk.roomWidth,
      straightSeconds: walk.straightSeconds, &generator)
    let (slow, fast) = (0.7 * walk.heightVariation, 0.3 * walk.heightVariation)
    height = [
      Sinusoid(slow...slow, period: 10...20, &generator),
      Sinusoid(fast...fast, period: 3...5, &generator),
    ]
    let swing = walk.isHandHeld ? 1.0 : 0
    yaw = [Sinusoid(0.1 * swing...0.3 * swing, period: 3...6, &generator)]
    pitch = [Sinusoid(0.1 * swing...0.25 * swing, period: 3...6, &generator)]
    roll = [Sinusoid(0.03 * swing...0.1 * swing, period: 3...6, &generator)]
    if walk.stairsAfterSeconds > 0 {
      climb = StairClimb(start: walk.stairsAfterSeconds, &generator)
    }
    ground = Ground(walk, &generator)
    climbRate = walk.climbRate
    guard walk.sweeps else { return }
    standing = 5
    sweep = ArmSweep(&generator)
  }

  /// A place of the room through which a level walk leads.
  ///
  /// - Parameters:
  ///   - along: The place along the room's length, -1 to 1.
  ///   - across: The place along its width, -1 to 1.
  /// - Returns: The place at the device's first height over the floor; `nil` for other kinds of motion.
  func placeInRoom(along: Double, across: Double) -> Vector3? {
    guard let walk else { return nil }
    var place = Vector3(along * walk.roomLength / 2, 1.4, across * walk.roomWidth / 2)
    place.y += ground.height(at: place) - ground.height(at: origin)
    return worldFromPath.act(place - origin)
  }

  private mutating func drawTremor(_ generator: inout SeededGenerator) {
    for axis in tremor.indices {
      tremor[axis] = [Sinusoid(0.003...0.005, period: 1...3, &generator)]
    }
  }

  private static let up = Vector3(0, 1, 0)
  /// When a walk begins to slow down, and how long that takes, seconds.
  private static let secondsToStop = 20.0
  private static let stopping = 1.5

  /// How long a run of the motion lasts by default, seconds.
  ///
  /// The motion itself has no end.
  public var duration: Double { kind.duration }

  /// The time from which on the device only trembles; infinite when there is none.
  var rest: Double { stop + Self.stopping }

  /// The true pose of the device, device coordinates to the world.
  ///
  /// - Parameter seconds: The time since the motion began; it has derivatives of second order
  ///   everywhere.
  /// - Returns: The pose.
  public func pose(at seconds: Double) -> RigidTransform {
    let walked = walkingTime(at: seconds)
    var forward = Vector3(0, 0, -1)
    var position = Vector3(0, 1.4, 0)
    if isStraight {
      position += (speed * walked) * forward
    } else {
      let point = path.point(at: walked)
      position += point.position - origin
      position.y +=
        ground.height(at: point.position) - ground.height(at: origin) + climbRate * walked
      forward = point.direction
    }
    let gait = gait(at: seconds)
    let right = Vector3(-forward.z, 0, forward.x)
    position +=
      sweep.side(at: seconds) * right + (gait * stretch.value(at: seconds)) * forward
    position.y += gait * height.value(at: seconds) + sweep.height(at: seconds)
    position.y += climb.height(at: seconds)
    position += Vector3(
      tremor[0].value(at: seconds), tremor[1].value(at: seconds), tremor[2].value(at: seconds))
    let angles = angles(at: seconds, forward: forward, gait: gait)
    let attitude =
      Rotation(angleRadians: angles.yaw, about: Self.up)
      * Rotation(angleRadians: angles.pitch, about: Vector3(1, 0, 0))
      * Rotation(angleRadians: angles.roll, about: Vector3(0, 0, 1))
    return RigidTransform(
      rotation: worldFromPath * attitude, translation: worldFromPath.act(position))
  }

  /// The derivatives of ``pose(at:)``, exact.
  ///
  /// - Parameter seconds: The time since the motion began.
  /// - Returns: The device's velocity in the world, m/s, and its angular velocity in the world, rad/s:
  ///   `Ṙ = [ω]× R` for the rotation `R` from the device to the world.
  public func velocities(
    at seconds: Double
  ) -> (velocity: Vector3, angularVelocity: Vector3) {
    let walked = walkingTime(at: seconds)
    let walkingRate = walkingRate(at: seconds)
    let (gait, gaitRate) = (gait(at: seconds), gaitRate(at: seconds))
    var forward = Vector3(0, 0, -1)
    var velocity = Vector3.zero
    var turning = 0.0
    if isStraight {
      velocity = (speed * walkingRate) * forward
    } else {
      forward = path.point(at: walked).direction
      let derivative = path.derivative(at: walked)
      velocity = walkingRate * derivative.velocity
      velocity.y +=
        ground.rate(at: path.point(at: walked).position, velocity) + climbRate * walkingRate
      turning = walkingRate * derivative.turnRate
    }
    func swing(_ waves: [Sinusoid]) -> Double {
      gait * waves.derivative(at: seconds) + gaitRate * waves.value(at: seconds)
    }
    let right = Vector3(-forward.z, 0, forward.x)
    let sweeping = sweep.derivatives(at: seconds)
    let stretched = gait * stretch.value(at: seconds)
    // Turning carries `right` towards `forward`, and `forward` away from `right`.
    velocity += (sweeping.side - turning * stretched) * right
    velocity += (swing(stretch) + turning * sweep.side(at: seconds)) * forward
    velocity.y += swing(height) + sweeping.height + climb.derivative(at: seconds)
    velocity += Vector3(
      tremor[0].derivative(at: seconds), tremor[1].derivative(at: seconds),
      tremor[2].derivative(at: seconds))
    let angles = angles(at: seconds, forward: forward, gait: gait)
    let yawed = Rotation(angleRadians: angles.yaw, about: Self.up)
    let pitched = yawed * Rotation(angleRadians: angles.pitch, about: Vector3(1, 0, 0))
    let angular =
      (turning + turnRate + swing(yaw) + sweeping.yaw) * Self.up
      + swing(pitch) * yawed.xAxis + swing(roll) * pitched.zAxis
    return (worldFromPath.act(velocity), worldFromPath.act(angular))
  }

  private func angles(
    at seconds: Double, forward: Vector3, gait: Double
  ) -> (yaw: Double, pitch: Double, roll: Double) {
    let heading = atan2(-forward.x, -forward.z) + turnRate * seconds
    return (
      heading + gait * yaw.value(at: seconds) + sweep.yaw(at: seconds),
      gait * pitch.value(at: seconds), gait * roll.value(at: seconds)
    )
  }

  /// The time walked: zero while standing, then starting within 1.5 s, and stopping in the same
  /// way.
  private func walkingTime(at seconds: Double) -> Double {
    ramp(seconds - standing) - ramp(seconds - stop)
  }

  private func walkingRate(at seconds: Double) -> Double {
    func slope(_ t: Double) -> Double {
      let u = min(max(t / Self.stopping, 0), 1)
      return u * u * (3 - 2 * u)
    }
    return slope(seconds - standing) - slope(seconds - stop)
  }

  /// The integral of the smooth step 3u² - 2u³.
  private func ramp(_ t: Double) -> Double {
    let ramp = Self.stopping
    let u = t / ramp
    if u <= 0 { return 0 }
    return u < 1 ? ramp * (u * u * u - u * u * u * u / 2) : ramp * (u - 0.5)
  }

  /// The amplitude of a walking person's swings, which is zero after the walk.
  private func gait(at seconds: Double) -> Double {
    1 - SmoothStep.value((seconds - stop) / Self.stopping)
  }

  private func gaitRate(at seconds: Double) -> Double {
    -SmoothStep.derivative((seconds - stop) / Self.stopping) / Self.stopping
  }
}

extension ScenarioMotion.Kind {
  /// How long a run of this kind lasts by default, seconds.
  public var duration: Double {
    switch self {
    case .sweepThenWalk, .rotationInPlace: 20
    case .wanderingWalk: 50
    case .straightLine: 12
    case .constantHeightWalk: 40
    case .standingStill: 30
    case .sweepThenClimb: 35
    case .sweepThenStand, .swingingWalk, .levelWalk: 60
    }
  }
}
