// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

/// The slip of the odometry in one run.
struct SlipDraw {
  /// By how much the world turns about the vertical, radians, positive to the left.
  let turn: Double
  /// How far it moves, metres.
  let shift: Vector3

  private let slip: ScenarioOdometry.Slip

  init(_ slip: ScenarioOdometry.Slip, seed: UInt64) {
    self.slip = slip
    var generator = SeededGenerator(seed: seed, stream: 6)
    let sign = generator.uniform() < 0.5 ? -1.0 : 1
    turn = sign * generator.uniform(in: slip.turnDegrees).degreesAsRadians
    let direction = generator.uniform(in: -.pi...Double.pi)
    let across = generator.uniform(in: slip.shift) * Vector3(cos(direction), 0, sin(direction))
    let rise = generator.uniform(in: slip.rise)
    shift = across + Vector3(0, generator.uniform() < 0.5 ? -rise : rise, 0)
  }

  /// Whether turn and shift are a step.
  var isStep: Bool { slip.isPresent && slip.duration == 0 }

  /// The share of turn and shift that has happened by a time, from zero to one.
  func share(at seconds: Double) -> Double {
    guard seconds >= slip.seconds, slip.isPresent else { return 0 }
    return slip.duration > 0 ? SmoothStep.value((seconds - slip.seconds) / slip.duration) : 1
  }

  /// The factor of an increment that ends at a time.
  func scale(at seconds: Double) -> Double {
    seconds > slip.seconds && seconds <= slip.end ? slip.scale : 1
  }
}
