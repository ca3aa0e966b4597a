// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// One sample of a bank that is full: predict, update, reduce and assess all, and search nothing.
///
/// A device at rest gets ranges of 8 m with a stated sigma of 2 cm. The first one creates at least
/// as many hypotheses as the bank may hold. The following ones agree with it and come from the same
/// position, so they make no new keyframe, and no search runs.
///
/// Each batch uses a copy of the engine from right after the first sample, which got one more
/// sample, so that its storage is unique. The floor does as many updates as there are hypotheses,
/// with all three components.
struct FullBank: Workload {
  let operations = 20

  private let born: FusionEngine
  private let peer: PeerID
  private let samples: [RangingSample]
  private let hypotheses: Int
  private var engine: FusionEngine
  private var floor = UpdateFloor()

  init(hypotheses: Int) throws {
    self.hypotheses = hypotheses
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = 0.02
    configuration.hypotheses.maximumCount = hypotheses
    var walk = Walk(path: .rest, peer: Vector3(0, 0, -8))
    walk.rangeNoise = 0.002
    var noise = Noise(seed: 2)
    var born = try FusionEngine(configuration)
    peer = born.addPeer()
    var samples: [RangingSample] = []
    for second in 0..<3 {
      for pose in walk.poses(ofSecond: second) { born.add(pose) }
      samples += walk.samples(ofSecond: second, peer: peer, withAngles: false, &noise)
    }
    born.add(samples[0])
    self.born = born
    self.samples = samples
    engine = born
    let count = born.estimate(of: peer).hypothesisCount
    guard count >= hypotheses else { throw WrongState("\(count) hypotheses at birth") }
  }

  mutating func prepare() {
    engine = born
    engine.add(samples[1])
  }

  mutating func run() { for index in 2..<(2 + operations) { engine.add(samples[index]) } }

  mutating func runFloor() { floor.run(operations * hypotheses) }

  func check() throws {
    let count = engine.estimate(of: peer).hypothesisCount
    guard count * 10 > hypotheses * 9 else {
      throw WrongState("\(count) of \(hypotheses) are left")
    }
  }
}
