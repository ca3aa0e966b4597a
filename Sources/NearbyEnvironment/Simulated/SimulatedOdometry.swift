// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry
package import NearbySimulation

/// Drifting odometry: true increments, rotated by the yaw error so far, plus a random walk of
/// position and yaw over the path length.
///
/// Its world has its origin at the device's first position and is rotated so that the device looks
/// along -z.
package struct SimulatedOdometry {
  private let settings: ScenarioOdometry
  private var generator: SeededGenerator
  private var previous: Vector3?
  private var startFromWorld = Rotation.identity
  private var yaw = 0.0
  private var place = Vector3.zero

  /// Makes the odometry of a device.
  package init(_ settings: ScenarioOdometry, seed: UInt64, device: UInt64) {
    self.settings = settings
    generator = SeededGenerator(seed: seed, stream: 0x6F64_6F00 &+ device)
  }

  /// The pose that the odometry reports for a true pose.
  package mutating func report(_ worldFromDevice: RigidTransform) -> RigidTransform {
    let up = Vector3(0, 1, 0)
    guard let previous else {
      let back = worldFromDevice.rotation.zAxis
      let level = Vector3(back.x, 0, back.z).normalized
      if level != .zero {
        startFromWorld = Rotation(xAxis: up.cross(level), yAxis: up, zAxis: level).inverse
      }
      self.previous = worldFromDevice.translation
      return RigidTransform(
        rotation: startFromWorld * worldFromDevice.rotation, translation: .zero)
    }
    let increment = worldFromDevice.translation - previous
    let walk = increment.length.squareRoot()
    yaw += generator.normal(sigma: settings.yawDriftRadians * walk)
    let turn = Rotation(angleRadians: yaw, about: up) * startFromWorld
    place += turn.act(increment)
    place += generator.normalVector(sigma: settings.positionDrift * walk)
    self.previous = worldFromDevice.translation
    return RigidTransform(rotation: turn * worldFromDevice.rotation, translation: place)
  }
}
