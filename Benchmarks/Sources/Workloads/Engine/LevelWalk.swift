// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry

/// Peers at rest above a level floor, measured by range alone: what costs the joint fit most.
///
/// Of a level walk the heights are not told, so that each peer's place is examined again and again at its
/// mirror image, while the odometry drifts. An operation is one sample; the poses between samples, 60 a
/// second, belong to it. A walk begins with nothing known.
public struct LevelWalk: Workload {
  public let operations: Int

  private static let seconds = 100

  private let poses: [[DevicePose]]
  private let samples: [[RangingSample]]
  private let unborn: FusionEngine
  private let peers: Int
  private var engine: FusionEngine

  /// Makes a walk among so many peers.
  public init(peers: Int) throws {
    self.peers = peers
    var noise = Noise(seed: 8)
    engine = try FusionEngine()
    let places = (0..<peers).map { index in
      let angle = 2.4 * Double(index)
      let distance = 5 + 1.5 * Double(index % 9)
      let height = 0.6 + 0.2 * Double(index % 7)
      return Vector3(distance * cos(angle), height, distance * sin(angle))
    }
    let handles = places.map { _ in engine.addPeer() }
    unborn = engine
    let walk = Walk(path: .level, peer: .zero)
    poses = (0..<Self.seconds).map { second in
      walk.poses(ofSecond: second).map { pose in
        var drifted = pose
        let turn = 0.03 * sin(0.05 * pose.timestamp.seconds(since: Timestamp(nanoseconds: 0)))
        drifted.worldFromDevice =
          RigidTransform(
            rotation: Rotation(angleRadians: turn, about: Vector3(0, 1, 0)), translation: .zero)
          * pose.worldFromDevice
        return drifted
      }
    }
    samples = (0..<Self.seconds).map { second in
      let perPeer = zip(handles, places).map { peer, place in
        walk.samples(ofSecond: second, peer: peer, at: place, withAngles: false, &noise)
      }
      return (0..<Walk.samplesPerSecond).flatMap { step in perPeer.map { $0[step] } }
    }
    operations = samples.reduce(0) { $0 + $1.count }
  }

  /// Resets the engine.
  public mutating func prepare() { engine = unborn }

  /// Walks.
  public mutating func run() {
    for (poses, samples) in zip(poses, samples) {
      for pose in poses { engine.add(pose) }
      for sample in samples { engine.add(sample) }
    }
  }

  /// Checks that half of the peers have been found.
  public func check() throws {
    let converged = engine.peerIDs.filter { engine.estimate(of: $0).convergence == .converged }
    guard converged.count * 2 >= peers else {
      throw WrongState("\(converged.count) of \(peers) peers have converged")
    }
  }

  /// Walks once.
  ///
  /// - Returns: The time of the most expensive sample, nanoseconds.
  public mutating func costliestSample() -> Double {
    let clock = ContinuousClock()
    var longest = Duration.zero
    prepare()
    for (poses, samples) in zip(poses, samples) {
      for pose in poses { engine.add(pose) }
      for sample in samples {
        let spent = clock.measure { _ = engine.add(sample) }
        longest = max(longest, spent)
      }
    }
    return longest / .nanoseconds(1)
  }
}
