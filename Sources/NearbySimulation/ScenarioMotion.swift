// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyGeometry

/// How a simulated person moves the device: a smooth, analytic motion, drawn from a seed.
///
/// World: y up, metres. The device starts 1.4 m above the floor; its back camera looks along the walk.
public struct ScenarioMotion: Sendable {
  /// The kinds of motion.
  public enum Kind: String, CaseIterable, Sendable {
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
  }

  /// Which kind of motion it is.
  public let kind: Kind

  private var standing = 0.0
  private var path = Path()
  private var pathDirection = 0.0
  private var isStraight = false
  private var speed = 0.0
  private var turnRate = 0.0
  private var sweep = Sweep()
  private var height: [Sinusoid] = []
  private var stretch: [Sinusoid] = []
  private var tremor: [[Sinusoid]] = [[], [], []]
  private var yaw: [Sinusoid] = []
  private var pitch: [Sinusoid] = []
  private var roll: [Sinusoid] = []

  /// Draws a motion of a kind from a seed.
  public init(_ kind: Kind, seed: UInt64) {
    self.kind = kind
    var generator = SeededGenerator(seed: seed, stream: 1)
    pathDirection = generator.uniform(in: -.pi...Double.pi)
    switch kind {
    case .sweepThenWalk:
      standing = 5
      path = Path(radius: 1.5...3, &generator)
      sweep = Sweep(&generator)
      stretch = [Sinusoid(0.1...0.25, period: 3...5, &generator)]
      height = [Sinusoid(0.03...0.06, period: 2...4, &generator)]
      yaw = [Sinusoid(0.1...0.3, period: 3...5, &generator)]
      pitch = [Sinusoid(0.1...0.25, period: 3...5, &generator)]
      roll = [Sinusoid(0.03...0.1, period: 3...5, &generator)]
    case .wanderingWalk:
      path = Path(radius: 2...3.5, &generator)
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
      path = Path(radius: 2...3.5, &generator)
      yaw = [Sinusoid(0.1...0.4, period: 3...6, &generator)]
    case .standingStill:
      for axis in tremor.indices {
        tremor[axis] = [Sinusoid(0.003...0.005, period: 1...3, &generator)]
      }
      yaw = [Sinusoid(0.01...0.03, period: 2...5, &generator)]
      pitch = [Sinusoid(0.01...0.03, period: 2...5, &generator)]
    }
  }

  /// How long the motion lasts, seconds.
  public var duration: Double {
    switch kind {
    case .sweepThenWalk, .rotationInPlace: 20
    case .wanderingWalk: 50
    case .straightLine: 12
    case .constantHeightWalk: 40
    case .standingStill: 30
    }
  }

  /// The true pose of the device, device coordinates to the world.
  ///
  /// - Parameter seconds: The time since the motion began; it has derivatives of second order
  ///   everywhere.
  /// - Returns: The pose.
  public func pose(at seconds: Double) -> RigidTransform {
    let walked = walkingTime(at: seconds)
    var forward = Vector3(0, 0, -1)
    var place = Vector3(0, 1.4, 0)
    if isStraight {
      place += (speed * walked) * forward
    } else {
      place += path.place(at: walked) - path.place(at: 0)
      forward = path.direction(at: walked)
    }
    let heading = atan2(-forward.x, -forward.z) + turnRate * seconds
    let turned = heading + yaw.value(at: seconds) + sweep.yaw(at: seconds)
    let right = Vector3(-forward.z, 0, forward.x)
    place += sweep.side(at: seconds) * right + stretch.value(at: seconds) * forward
    place.y += height.value(at: seconds) + sweep.height(at: seconds)
    place += Vector3(
      tremor[0].value(at: seconds), tremor[1].value(at: seconds), tremor[2].value(at: seconds))
    let attitude =
      Rotation(angleRadians: turned, about: Vector3(0, 1, 0))
      * Rotation(angleRadians: pitch.value(at: seconds), about: Vector3(1, 0, 0))
      * Rotation(angleRadians: roll.value(at: seconds), about: Vector3(0, 0, 1))
    let turn = Rotation(angleRadians: pathDirection, about: Vector3(0, 1, 0))
    return RigidTransform(rotation: turn * attitude, translation: turn.act(place))
  }

  /// The time walked: stays at zero while standing, then starts within 1.5 s.
  private func walkingTime(at seconds: Double) -> Double {
    let ramp = 1.5
    let u = (seconds - standing) / ramp
    if u <= 0 { return 0 }
    // The integral of the smooth step 3u² - 2u³.
    return u < 1 ? ramp * (u * u * u - u * u * u * u / 2) : ramp * (u - 0.5)
  }
}

/// A walk through a room, by its horizontal components.
///
/// A circle, a counter-rotating harmonic that bends it into turns, and a slow wander of its centre.
/// The speed never vanishes, so that the direction of walking is smooth.
private struct Path: Sendable {
  var radius = 0.0
  var rate = 0.0
  var harmonic = 0.0
  var phase = 0.0
  var wanderX = Sinusoid()
  var wanderZ = Sinusoid()

  init() {}

  init(radius interval: ClosedRange<Double>, _ generator: inout SeededGenerator) {
    radius = generator.uniform(in: interval)
    let speed = generator.uniform(in: 0.8...1.2)
    rate = (generator.uniform() < 0.5 ? -1 : 1) * speed / radius
    harmonic = radius * generator.uniform(in: 0.1...0.25)
    phase = generator.uniform(in: -.pi...Double.pi)
    wanderX = Sinusoid(0.4...0.8, period: 25...40, &generator)
    wanderZ = Sinusoid(0.4...0.8, period: 25...40, &generator)
  }

  func place(at t: Double) -> Vector3 {
    let (a, b) = (rate * t, phase - 2 * rate * t)
    return Vector3(
      radius * cos(a) + harmonic * cos(b) + wanderX.value(at: t), 0,
      radius * sin(a) + harmonic * sin(b) + wanderZ.value(at: t))
  }

  func direction(at t: Double) -> Vector3 {
    guard radius > 0 else { return Vector3(0, 0, -1) }
    let (a, b) = (rate * t, phase - 2 * rate * t)
    return Vector3(
      -radius * rate * sin(a) + 2 * rate * harmonic * sin(b) + wanderX.derivative(at: t), 0,
      radius * rate * cos(a) - 2 * rate * harmonic * cos(b) + wanderZ.derivative(at: t)
    ).normalized
  }
}

/// The sweep of a person who stands: from side to side and up and down by 0.3 to 0.6 m, with yaw.
private struct Sweep: Sendable {
  var sideways = Sinusoid()
  var upwards = Sinusoid()
  var turning = Sinusoid()

  init() {}

  init(_ generator: inout SeededGenerator) {
    sideways = Sinusoid(0.15...0.3, period: 2...3, &generator)
    upwards = Sinusoid(0.15...0.3, period: 2.5...3.5, &generator)
    turning = Sinusoid(0.2...0.5, period: 3...4, &generator)
  }

  func side(at t: Double) -> Double { envelope(at: t) * sideways.value(at: t) }
  func height(at t: Double) -> Double { envelope(at: t) * upwards.value(at: t) }
  func yaw(at t: Double) -> Double { envelope(at: t) * turning.value(at: t) }

  /// One while standing, zero from 6 s on, with two smooth derivatives.
  private func envelope(at t: Double) -> Double {
    let u = min(max(t - 5, 0), 1)
    return 1 - u * u * u * (10 - 15 * u + 6 * u * u)
  }
}

private struct Sinusoid: Sendable {
  var amplitude = 0.0
  var rate = 1.0
  var phase = 0.0

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
}

extension [Sinusoid] {
  fileprivate func value(at t: Double) -> Double { reduce(0) { $0 + $1.value(at: t) } }
}
