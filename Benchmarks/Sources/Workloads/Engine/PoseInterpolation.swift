// SPDX-License-Identifier: Apache-2.0
import CFloors
import NearbyFusion
import NearbyGeometry

/// The device's pose at a time between the newest two, as needed by an estimate.
///
/// The public interface does not return poses, so this requests an estimate of a peer without
/// samples: the pose is looked up and interpolated, and the estimate is empty. The floor
/// interpolates between two known poses.
struct PoseInterpolation: Workload {
  let operations = 100

  private var walk: ConvergedWalk
  private let unheard: PeerID
  private var times: [Timestamp] = []
  private var ring = PoseRing()
  private var sink = 0

  init() throws {
    walk = try ConvergedWalk()
    unheard = walk.engine.addPeer()
    walk.step()
    ring.add(Walk.posesPerSecond)
  }

  mutating func prepare() {
    let (poses, _) = walk.next()
    for pose in poses { walk.engine.add(pose) }
    let (before, after) = (poses[poses.count - 2].timestamp, poses[poses.count - 1].timestamp)
    let gap = after.seconds(since: before)
    times = (0..<operations).map {
      before.advanced(bySeconds: gap * (Double($0) + 0.5) / Double(operations))
    }
  }

  mutating func run() {
    for time in times { sink &+= walk.engine.estimate(of: unheard, at: time).hypothesisCount }
  }

  mutating func runFloor() { ring.interpolate(operations) }
}
