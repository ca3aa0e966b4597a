// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// One second with many peers: 60 poses, 10 samples of each peer, and an estimate of each for each.
///
/// The cost of an operation, in seconds, is the fraction of a core that is used. Peers stand within
/// some metres of each other, and all were measured for half a minute before, or for longer. Several are
/// fitted together.
struct ManyPeers: Workload {
  let operations = 1

  private let walk = Walk(path: .curve, peer: Vector3(5.5, 0.8, -3))
  private let places: [Vector3]
  private var engine: FusionEngine
  private var noise = Noise(seed: 6)
  private var second = 0
  private var poses: [DevicePose] = []
  private var samples: [RangingSample] = []
  private var sink = 0.0

  init(peers: Int, warmUpSeconds: Int = 30) throws {
    engine = try FusionEngine()
    let center = walk.peer
    // Around the position that the device faces, so that angles are measured.
    places = (0..<peers).map { index in
      let angle = 2.4 * Double(index)
      let distance = 2.5 * Double(index % 7) / 7
      return center
        + Vector3(distance * cos(angle), 0.2 * Double(index % 5), distance * sin(angle))
    }
    for _ in places { _ = engine.addPeer() }
    for _ in 0..<warmUpSeconds {
      prepare()
      run()
    }
    try check()
  }

  mutating func prepare() {
    poses = walk.poses(ofSecond: second)
    let perPeer = zip(engine.peerIDs, places).map { peer, place in
      walk.samples(ofSecond: second, peer: peer, at: place, withAngles: true, &noise)
    }
    samples = (0..<Walk.samplesPerSecond).flatMap { step in perPeer.map { $0[step] } }
    second += 1
  }

  mutating func run() {
    for pose in poses { engine.add(pose) }
    for sample in samples {
      engine.add(sample)
      sink += engine.estimate(of: sample.peer, at: sample.timestamp).distance.sigma
    }
  }

  func check() throws {
    let converged = engine.peerIDs.filter { engine.estimate(of: $0).convergence == .converged }
    guard converged.count * 10 >= places.count * 9 else {
      throw WrongState("\(converged.count) of \(places.count) peers have converged")
    }
  }
}
