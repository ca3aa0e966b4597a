// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry
public import NearbySimulation

/// The true motion of a simulated device: its pose at any time.
///
/// The world has y up, is in metres, and is the same for all devices. Times are seconds since the
/// device was made.
public struct SimulatedMotion: Sendable {
  private let pose: @Sendable (Double) -> RigidTransform

  /// Makes a motion from its poses.
  ///
  /// - Parameter pose: The pose at a time in seconds, device coordinates to the world.
  public init(_ pose: @escaping @Sendable (Double) -> RigidTransform) { self.pose = pose }

  /// The device's pose, device coordinates to the world.
  ///
  /// - Parameter seconds: The time since the device was made.
  /// - Returns: The pose.
  public func pose(at seconds: Double) -> RigidTransform { pose(seconds) }

  /// A device at rest.
  ///
  /// - Parameter pose: Its pose.
  /// - Returns: The motion.
  public static func resting(at pose: RigidTransform) -> SimulatedMotion {
    SimulatedMotion { _ in pose }
  }

  /// A device that a standing person sweeps from side to side and up and down.
  ///
  /// - Parameters:
  ///   - pose: The central pose.
  ///   - reach: The amplitude to either side, metres; three quarters of that up and down.
  ///   - seed: The seed of the periods (2 to 4 s) and phases.
  /// - Returns: The motion.
  public static func sweeping(
    about pose: RigidTransform, reach: Double = 0.3, seed: UInt64 = 0
  ) -> SimulatedMotion {
    var generator = SeededGenerator(seed: seed, stream: 11)
    func wave(_ amplitude: Double) -> @Sendable (Double) -> Double {
      let rate = 2 * .pi / generator.uniform(in: 2.2...3.6)
      let phase = generator.uniform(in: -.pi...Double.pi)
      return { amplitude * (sin(rate * $0 + phase) - sin(phase)) / 2 }
    }
    // The sum of two periods does not repeat itself, unlike a circle.
    let (side, slowSide) = (wave(1.4 * reach), wave(0.6 * reach))
    let (height, ahead) = (wave(1.5 * reach), wave(0.4 * reach))
    let (yaw, pitch) = (wave(0.6 * reach), wave(0.5 * reach))
    return SimulatedMotion { seconds in
      let sway = Vector3(side(seconds) + slowSide(seconds), height(seconds), ahead(seconds))
      let turn =
        Rotation(angleRadians: yaw(seconds), about: Vector3(0, 1, 0))
        * Rotation(angleRadians: pitch(seconds), about: Vector3(1, 0, 0))
      return RigidTransform(
        rotation: pose.rotation * turn, translation: pose.act(sway))
    }
  }

  /// A device whose person walks and stands still in turn.
  ///
  /// - Parameters:
  ///   - walk: The person's motion while walking.
  ///   - worldFromStart: The transform from the motion's world to this one.
  ///   - turnSeconds: How long each turn of walking, and of standing, lasts.
  ///   - phaseSeconds: When the motion begins, in a period of two turns of which the first is the walk.
  /// - Returns: The motion.
  static func inTurns(
    _ walk: ScenarioMotion, from worldFromStart: RigidTransform, turnSeconds: Double,
    phaseSeconds: Double
  ) -> SimulatedMotion {
    /// How long was walked until a time.
    @Sendable func walked(_ seconds: Double) -> Double {
      let periods = (seconds / (2 * turnSeconds)).rounded(.down)
      return periods * turnSeconds + min(seconds - 2 * turnSeconds * periods, turnSeconds)
    }
    let before = walked(phaseSeconds)
    return SimulatedMotion {
      worldFromStart * walk.pose(at: walked($0 + phaseSeconds) - before)
    }
  }

  /// A device that is carried by a simulated person.
  ///
  /// - Parameters:
  ///   - motion: The person's motion.
  ///   - worldFromStart: The transform from the motion's world to this one.
  /// - Returns: The motion.
  public static func carried(
    _ motion: ScenarioMotion, from worldFromStart: RigidTransform = .identity
  ) -> SimulatedMotion {
    SimulatedMotion { worldFromStart * motion.pose(at: $0) }
  }
}

extension RigidTransform {
  /// The pose of a device that is held upright and faces a position.
  ///
  /// - Parameters:
  ///   - place: The device's position, metres.
  ///   - target: The position that its back camera faces; only its bearing counts.
  public init(standingAt place: Vector3, facing target: Vector3) {
    let toTarget = target - place
    let back = -Vector3(toTarget.x, 0, toTarget.z).normalized
    let up = Vector3(0, 1, 0)
    self.init(
      rotation: back == .zero
        ? .identity : Rotation(xAxis: up.cross(back), yAxis: up, zAxis: back),
      translation: place)
  }
}
