// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

/// A walk through a room, by its horizontal components.
///
/// A circle, a counter-rotating harmonic that bends it into turns, and a slow wander of its centre. The
/// whole is stretched along one axis for a room that is longer than it is wide.
/// The speed never vanishes, so that the direction of walking is smooth.
struct RoomPath: Sendable {
  private var radius = 0.0
  private var rate = 0.0
  private var harmonic = 0.0
  private var harmonicRate = 0.0
  private var stretch = 1.0
  private var phase = 0.0
  private var wanderX = Sinusoid()
  private var wanderZ = Sinusoid()
  /// For how long it is straight before, seconds.
  private var straight = 0.0

  init() {}

  init(radius interval: ClosedRange<Double>, _ generator: inout SeededGenerator) {
    radius = generator.uniform(in: interval)
    let speed = generator.uniform(in: 0.8...1.2)
    rate = (generator.uniform() < 0.5 ? -1 : 1) * speed / radius
    harmonic = radius * generator.uniform(in: 0.1...0.25)
    harmonicRate = 2 * rate
    phase = generator.uniform(in: -.pi...Double.pi)
    wanderX = Sinusoid(0.4...0.8, period: 25...40, &generator)
    wanderZ = Sinusoid(0.4...0.8, period: 25...40, &generator)
  }

  /// A rosette that fills a room, keeping about a metre from its walls, at 0.4 to 1.6 times a speed
  /// of about 1 m/s.
  ///
  /// It does not close, so that the device comes by most places more than once, but not on the same
  /// path.
  init(
    roomLength: Double, roomWidth: Double, straightSeconds: Double,
    _ generator: inout SeededGenerator
  ) {
    straight = straightSeconds
    let half = max(roomWidth / 2 - 1, 0.2)
    stretch = max(roomLength / 2 - 1, 0.2) / half
    radius = 0.65 * half
    harmonic = 0.35 * half
    let speed = generator.uniform(in: 0.8...1.2)
    // The mean radius of an ellipse makes the speed that of the whole path, not of one axis.
    let meanRadius = radius * ((1 + stretch * stretch) / 2).squareRoot()
    rate = (generator.uniform() < 0.5 ? -1 : 1) * speed / meanRadius
    harmonicRate = rate * generator.uniform(in: 0.55...0.8)
    phase = generator.uniform(in: -.pi...Double.pi)
  }

  /// The position and the direction of walking after `t` seconds of walking.
  func point(at time: Double) -> (position: Vector3, direction: Vector3) {
    guard radius > 0 else { return (.zero, Vector3(0, 0, -1)) }
    guard time >= straight else {
      let (entry, velocity) = (point(at: straight), derivative(at: straight).velocity)
      return (entry.position - (straight - time) * velocity, entry.direction)
    }
    let t = time - straight
    let (a, b) = (rate * t, phase - harmonicRate * t)
    let (cosA, sinA, cosB, sinB) = (cos(a), sin(a), cos(b), sin(b))
    return (
      Vector3(
        stretch * (radius * cosA + harmonic * cosB) + wanderX.value(at: t), 0,
        radius * sinA + harmonic * sinB + wanderZ.value(at: t)),
      Vector3(
        stretch * (-radius * rate * sinA + harmonicRate * harmonic * sinB)
          + wanderX.derivative(at: t), 0,
        radius * rate * cosA - harmonicRate * harmonic * cosB + wanderZ.derivative(at: t)
      ).normalized
    )
  }

  /// The derivative of the position by the time walked, and the rate at which its direction turns
  /// about gravity, radians per second, positive to the left.
  func derivative(at time: Double) -> (velocity: Vector3, turnRate: Double) {
    guard radius > 0 else { return (.zero, 0) }
    guard time >= straight else { return (derivative(at: straight).velocity, 0) }
    let t = time - straight
    let (a, b) = (rate * t, phase - harmonicRate * t)
    let velocity = Vector3(
      stretch * (-radius * rate * sin(a) + harmonicRate * harmonic * sin(b))
        + wanderX.derivative(at: t), 0,
      radius * rate * cos(a) - harmonicRate * harmonic * cos(b) + wanderZ.derivative(at: t))
    let (square, harmonicSquare) = (rate * rate, harmonicRate * harmonicRate)
    let acceleration = Vector3(
      stretch * (-radius * square * cos(a) - harmonicSquare * harmonic * cos(b))
        + wanderX.secondDerivative(at: t), 0,
      -radius * square * sin(a) - harmonicSquare * harmonic * sin(b)
        + wanderZ.secondDerivative(at: t))
    let turn = velocity.z * acceleration.x - velocity.x * acceleration.z
    return (velocity, turn / velocity.dot(velocity))
  }
}

/// The floor of a room: its height over the middle of the room, by the place.
struct Ground: Sendable {
  /// The gradient of a plane.
  private var slopeX = 0.0
  private var slopeZ = 0.0
  /// How steep the planes are that meet in a ridge.
  private var ridge = 0.0
  private var hills: [(amplitude: Double, x: Double, z: Double, phase: Double)] = []

  /// Within this of a ridge, metres, it is rounded.
  private static let rounding = 0.5

  init() {}

  init(_ walk: ScenarioWalk, _ generator: inout SeededGenerator) {
    if walk.slopePercent > 0 {
      let direction = generator.uniform(in: -.pi...Double.pi)
      slopeX = 0.01 * walk.slopePercent * cos(direction)
      slopeZ = 0.01 * walk.slopePercent * sin(direction)
    }
    ridge = 0.01 * walk.ridgePercent
    guard walk.undulation > 0 else { return }
    for _ in 0..<2 {
      let direction = generator.uniform(in: -.pi...Double.pi)
      let number = 2 * .pi / generator.uniform(in: 8...15)
      hills.append(
        (
          0.5 * walk.undulation, number * cos(direction), number * sin(direction),
          generator.uniform(in: -.pi...Double.pi)
        ))
    }
  }

  func height(at place: Vector3) -> Double {
    slopeX * place.x + slopeZ * place.z
      - ridge * (place.x * place.x + Self.rounding * Self.rounding).squareRoot()
      + hills.reduce(0) { $0 + $1.amplitude * sin($1.x * place.x + $1.z * place.z + $1.phase) }
  }

  /// The derivative of the height by time, for a velocity at a place.
  func rate(at place: Vector3, _ velocity: Vector3) -> Double {
    let root = (place.x * place.x + Self.rounding * Self.rounding).squareRoot()
    let sloping = slopeX * velocity.x + slopeZ * velocity.z - ridge * place.x / root * velocity.x
    return hills.reduce(sloping) { sum, hill in
      sum + hill.amplitude * cos(hill.x * place.x + hill.z * place.z + hill.phase)
        * (hill.x * velocity.x + hill.z * velocity.z)
    }
  }
}

/// The sweep of a standing person: from side to side and up and down by 0.3 to 0.6 m, with yaw.
struct ArmSweep: Sendable {
  private var sideways = Sinusoid()
  private var upwards = Sinusoid()
  private var turning = Sinusoid()

  init() {}

  init(_ generator: inout SeededGenerator) {
    sideways = Sinusoid(0.15...0.3, period: 2...3, &generator)
    upwards = Sinusoid(0.15...0.3, period: 2.5...3.5, &generator)
    turning = Sinusoid(0.2...0.5, period: 3...4, &generator)
  }

  func side(at t: Double) -> Double { envelope(at: t) * sideways.value(at: t) }
  func height(at t: Double) -> Double { envelope(at: t) * upwards.value(at: t) }
  func yaw(at t: Double) -> Double { envelope(at: t) * turning.value(at: t) }

  /// The derivatives of the three.
  func derivatives(at t: Double) -> (side: Double, height: Double, yaw: Double) {
    let (envelope, slope) = (envelope(at: t), -SmoothStep.derivative(t - 5))
    func product(_ wave: Sinusoid) -> Double {
      envelope * wave.derivative(at: t) + slope * wave.value(at: t)
    }
    return (product(sideways), product(upwards), product(turning))
  }

  /// The amplitude: one while standing, zero from 6 s on, with two smooth derivatives.
  private func envelope(at t: Double) -> Double { 1 - SmoothStep.value(t - 5) }
}

/// Stairs: a rise with two smooth derivatives, and a bounce with every step.
struct StairClimb: Sendable {
  /// How long it takes, seconds.
  private static let duration = 12.0
  /// How much every step bounces, metres.
  private static let bounce = 0.02

  /// When the climb begins, seconds.
  private var start = 0.0
  private var rise = 0.0
  private var stepRate = 0.0

  init() {}

  init(start: Double, _ generator: inout SeededGenerator) {
    self.start = start
    rise = generator.uniform(in: 2.6...3.2)
    stepRate = 2 * .pi * generator.uniform(in: 1.2...1.6)
  }

  func height(at t: Double) -> Double {
    guard rise > 0 else { return 0 }
    let u = (t - start) / Self.duration
    return rise * SmoothStep.value(u) + Self.bounce * bump(u) * sin(stepRate * t)
  }

  func derivative(at t: Double) -> Double {
    guard rise > 0 else { return 0 }
    let u = (t - start) / Self.duration
    let v = u > 0 && u < 1 ? u * (1 - u) : 0
    let slope = 192 * v * v * (1 - 2 * u) / Self.duration
    return rise * SmoothStep.derivative(u) / Self.duration
      + Self.bounce * (slope * sin(stepRate * t) + bump(u) * stepRate * cos(stepRate * t))
  }

  /// Zero outside the climb, one in its middle.
  private func bump(_ u: Double) -> Double {
    let v = u > 0 && u < 1 ? u * (1 - u) : 0
    return 64 * v * v * v
  }
}

/// The step from 0 at 0 to 1 at 1 with two vanishing derivatives at either end: u³ (10 - 15 u + 6 u²).
enum SmoothStep {
  static func value(_ x: Double) -> Double {
    let u = min(max(x, 0), 1)
    return u * u * u * (10 - 15 * u + 6 * u * u)
  }

  static func derivative(_ x: Double) -> Double {
    guard x > 0, x < 1 else { return 0 }
    return 30 * x * x * (1 - x) * (1 - x)
  }
}

/// One oscillation.
struct Sinusoid: Sendable {
  private var amplitude = 0.0
  private var rate = 1.0
  private var phase = 0.0

  init() {}

  init(
    _ amplitude: ClosedRange<Double>, period: ClosedRange<Double>,
    _ generator: inout SeededGenerator
  ) {
    self.amplitude = generator.uniform(in: amplitude)
    rate = 2 * .pi / generator.uniform(in: period)
    phase = generator.uniform(in: -.pi...Double.pi)
  }

  func value(at t: Double) -> Double { amplitude * sin(rate * t + phase) }
  func derivative(at t: Double) -> Double { amplitude * rate * cos(rate * t + phase) }
  func secondDerivative(at t: Double) -> Double { -rate * rate * value(at: t) }
}

extension [Sinusoid] {
  func value(at t: Double) -> Double { reduce(0) { $0 + $1.value(at: t) } }
  func derivative(at t: Double) -> Double { reduce(0) { $0 + $1.derivative(at: t) } }
}
