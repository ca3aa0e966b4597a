// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// An engine that has converged during a minute of a walk.
struct ConvergedWalk {
  private static let warmUpSeconds = 60

  private(set) var peer: PeerID
  private(set) var second = 0
  var engine: FusionEngine

  private let walk: Walk
  private var noise: Noise

  /// Walks for a minute.
  ///
  /// - Throws: When the engine has not converged by then.
  init(path: Walk.Path = .curve) throws {
    walk = Walk(path: path, peer: Vector3(5.5, 0.8, -3))
    noise = Noise(seed: 1)
    engine = try FusionEngine()
    peer = engine.addPeer()
    for _ in 0..<Self.warmUpSeconds { step() }
    try check()
  }

  /// Poses and samples of the next second, which are not added to the engine.
  mutating func next() -> (poses: [DevicePose], samples: [RangingSample]) {
    defer { second += 1 }
    return (
      walk.poses(ofSecond: second),
      walk.samples(ofSecond: second, peer: peer, withAngles: true, &noise)
    )
  }

  /// Continues the walk for a second.
  mutating func step() {
    let (poses, samples) = next()
    for pose in poses { engine.add(pose) }
    for sample in samples { engine.add(sample) }
  }

  /// Checks that one hypothesis is left and has converged.
  func check() throws {
    let estimate = engine.estimate(of: peer)
    guard estimate.hypothesisCount == 1, estimate.convergence == .converged else {
      throw WrongState(
        "second \(second): \(estimate.hypothesisCount) hypotheses, \(estimate.convergence)")
    }
  }
}
