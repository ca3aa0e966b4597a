// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

// Motions of a script, each from the pose in which the one before has left the device.
extension SimulatedMotion {
  /// How fast a device is turned, radians a second.
  private static let turnRate = 60.0.degreesAsRadians
  /// The amplitude of a sweep, metres, and its period, seconds.
  private static let reach = 0.25
  private static let period = 2.5

  /// The motion of a script's action; `nil` if the action is no motion.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - pose: Where the device is.
  ///   - first: The device's first pose, which places are relative to.
  ///   - start: The time at which the motion begins, seconds since the device was made.
  /// - Returns: The motion, which ends by standing still.
  static func scripted(
    _ action: WorldScript.Action, from pose: RigidTransform, first: RigidTransform, at start: Double
  ) -> SimulatedMotion? {
    switch action {
    case .hold: .resting(at: pose)
    case .walk(let right, let ahead, let speed, let turns):
      walking(
        from: pose, to: place(right: right, ahead: ahead, of: first, height: pose.translation.y),
        speed: speed, turns: turns, at: start)
    case .turn(let radians): turning(pose, by: radians, at: start)
    case .sweep(let isUp, let seconds):
      swept(pose, isUp: isUp, for: seconds, at: start)
    case .lifecycle, .permission, .light, .tracking, .wall, .reach, .end, .connection: nil
    }
  }

  /// A place beside and ahead of a pose, in its horizontal plane.
  private static func place(
    right: Double, ahead: Double, of first: RigidTransform, height: Double
  ) -> Vector3 {
    let back = first.rotation.zAxis
    let level = Vector3(back.x, 0, back.z).normalized
    let axis = Vector3(0, 1, 0).cross(level)
    let place = first.translation + right * axis - ahead * level
    return Vector3(place.x, height, place.z)
  }

  /// Steps bob the device a little, as those of a person do.
  private static func walking(
    from pose: RigidTransform, to place: Vector3, speed: Double, turns: Bool, at start: Double
  ) -> SimulatedMotion {
    let way = place - pose.translation
    let length = way.length
    guard length > 1e-9 else { return .resting(at: pose) }
    let facing = turns ? RigidTransform(standingAt: .zero, facing: way).rotation : pose.rotation
    return SimulatedMotion { seconds in
      let gone = min(max(0, speed * (seconds - start)), length)
      let steps = 2 * Double.pi * gone / 0.7
      let bob = 0.02 * (1 - cos(steps)) * (gone < length ? 1 : 0)
      return RigidTransform(
        rotation: gone > 0 ? facing : pose.rotation,
        translation: pose.translation + (gone / length) * way + Vector3(0, bob, 0))
    }
  }

  private static func turning(
    _ pose: RigidTransform, by radians: Double, at start: Double
  ) -> SimulatedMotion {
    SimulatedMotion { seconds in
      let turned = min(max(0, turnRate * (seconds - start)), abs(radians))
      // To the right is clockwise as seen from above.
      let angle = radians < 0 ? turned : -turned
      return RigidTransform(
        rotation: Rotation(angleRadians: angle, about: Vector3(0, 1, 0)) * pose.rotation,
        translation: pose.translation)
    }
  }

  private static func swept(
    _ pose: RigidTransform, isUp: Bool, for duration: Double, at start: Double
  ) -> SimulatedMotion {
    SimulatedMotion { seconds in
      let time = min(max(0, seconds - start), duration)
      // It begins and ends gently, in the middle.
      let ramp = min(1, time, duration - time)
      let way = ramp * reach * sin(2 * .pi * time / period)
      let offset = isUp ? Vector3(0, way, 0) : pose.rotation.act(Vector3(way, 0, 0))
      return RigidTransform(rotation: pose.rotation, translation: pose.translation + offset)
    }
  }
}
