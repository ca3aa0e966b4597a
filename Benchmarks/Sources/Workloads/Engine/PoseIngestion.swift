// SPDX-License-Identifier: Apache-2.0
import CFloors
import NearbyFusion

/// The addition of one pose.
///
/// Its floor copies a pose into a ring.
struct PoseIngestion: Workload {
  let operations = Walk.posesPerSecond

  private var walk: ConvergedWalk
  private var poses: [DevicePose] = []
  private var ring = PoseRing()

  init() throws { walk = try ConvergedWalk() }

  mutating func prepare() { poses = walk.next().poses }

  mutating func run() { for pose in poses { walk.engine.add(pose) } }

  mutating func runFloor() { ring.add(operations) }
}
