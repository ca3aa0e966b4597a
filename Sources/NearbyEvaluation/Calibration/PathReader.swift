// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// The device's motion along a path, at rising times.
struct PathReader {
  private let poses: [DevicePose]
  private let start: Timestamp
  private var next = 1

  /// Half of the time over which velocity and turn rate are measured, seconds.
  private static let half = 0.2
  /// Poses that are farther apart say nothing of what is between them, seconds.
  static let longestGap = 2.0

  init(_ poses: [DevicePose], from start: Timestamp) { (self.poses, self.start) = (poses, start) }

  /// Pose, velocity and turn rate; `nil` in a gap of the poses.
  mutating func motion(
    at seconds: Double
  ) -> (pose: RigidTransform, velocity: Vector3, turnRate: Vector3)? {
    while next + 1 < poses.count, time(next) < seconds { next += 1 }
    guard time(next) - time(next - 1) <= Self.longestGap else { return nil }
    let pose = pose(at: seconds, from: next)
    let (before, after) = (
      self.pose(at: seconds - Self.half, from: next), self.pose(at: seconds + Self.half, from: next)
    )
    let turn = after.rotation * before.rotation.inverse
    // Twice the quaternion's vector part is the angle, for so small a turn.
    let scale = (turn.w < 0 ? -2 : 2) / (2 * Self.half)
    return (
      pose, (1 / (2 * Self.half)) * (after.translation - before.translation),
      Vector3(scale * turn.x, scale * turn.y, scale * turn.z)
    )
  }

  private func time(_ index: Int) -> Double { poses[index].timestamp.seconds(since: start) }

  private func pose(at seconds: Double, from near: Int) -> RigidTransform {
    var index = near
    while index > 1, time(index - 1) >= seconds { index -= 1 }
    while index + 1 < poses.count, time(index) < seconds { index += 1 }
    let (a, b) = (time(index - 1), time(index))
    let fraction = b > a ? min(max((seconds - a) / (b - a), 0), 1) : 0
    return poses[index - 1].worldFromDevice.interpolated(
      to: poses[index].worldFromDevice, fraction: fraction)
  }
}
