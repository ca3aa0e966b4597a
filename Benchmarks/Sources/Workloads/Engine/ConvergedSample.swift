// SPDX-License-Identifier: Apache-2.0
import NearbyFusion

/// One sample with range, azimuth and elevation, through the public interface, one hypothesis left.
///
/// A batch is the ten samples of a second, each between two poses; the poses were added before. The
/// floor is that of the bare update.
struct ConvergedSample: Workload {
  let operations = Walk.samplesPerSecond

  private var walk: ConvergedWalk
  private var samples: [RangingSample] = []
  private var floor: UpdateFloor

  init() throws {
    walk = try ConvergedWalk()
    floor = UpdateFloor()
  }

  mutating func prepare() {
    let (poses, samples) = walk.next()
    for pose in poses { walk.engine.add(pose) }
    self.samples = samples
  }

  mutating func run() { for sample in samples { walk.engine.add(sample) } }

  mutating func runFloor() { floor.run(operations) }

  func check() throws { try walk.check() }
}
