// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The outputs at a pose after the last sample, as for a display.
struct LaterEstimate: Workload {
  let operations = 100

  private var walk: ConvergedWalk
  private var later: [Timestamp] = []
  private var sink = 0.0

  init() throws { walk = try ConvergedWalk() }

  mutating func prepare() {
    let (poses, samples) = walk.next()
    for pose in poses { walk.engine.add(pose) }
    for sample in samples { walk.engine.add(sample) }
    later = [poses[poses.count - 2].timestamp, poses[poses.count - 1].timestamp]
  }

  mutating func run() {
    for index in 0..<operations {
      sink += walk.engine.estimate(of: walk.peer, at: later[index & 1]).distance.sigma
    }
  }

  func check() throws {
    try walk.check()
    guard sink.isFinite else { throw WrongState("an estimate is not finite") }
  }
}
