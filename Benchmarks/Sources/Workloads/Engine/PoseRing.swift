// SPDX-License-Identifier: Apache-2.0
import CFloors

/// The floors of operations on poses.
struct PoseRing {
  private var ring = floor_ring()
  private var pose = floor_pose()
  private var sink = 0.0

  init() { pose.attitude = (0, 0, 0, 1) }

  /// Copies a number of poses into the ring.
  mutating func add(_ count: Int) {
    for _ in 0..<count {
      pose.seconds += 1 / 60
      pose.position.0 += 0.01
      unsafe floor_add_pose(&ring, &pose)
    }
  }

  /// Interpolates a number of times between the newest two.
  mutating func interpolate(_ count: Int) {
    for step in 0..<count {
      let share = (Double(step) + 0.5) / Double(count)
      sink += unsafe floor_interpolate(&ring, pose.seconds - share / 60).position.0
    }
  }
}
