// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// Peers at rest above a level floor, measured by range alone: what costs the joint fit most.
///
/// Of a level walk the heights are not told, so that each peer's place is examined again and again at its
/// mirror image, while the odometry drifts. An operation is one sample; the poses between samples, 60 a
/// second, belong to it. A walk begins with nothing known.
public struct LevelWalk: Workload {
  /// The number of samples.
  public let operations: Int

  private static let seconds = 100

  private let poses: [[DevicePose]]
  private let samples: [[RangingSample]]
  private let unborn: FusionEngine
  /// How far away the peers are in the end, metres.
  private let distances: [Double]
  private var engine: FusionEngine

  /// Makes a walk with a number of peers around it.
  public init(peers: Int) throws {
    var noise = Noise(seed: 8)
    var engine = try FusionEngine()
    let places = (0..<peers).map { index in
      let angle = 2.4 * Double(index)
      let distance = 5 + 1.5 * Double(index % 9)
      let height = 0.6 + 0.2 * Double(index % 7)
      return Vector3(distance * cos(angle), height, distance * sin(angle))
    }
    let handles = places.map { _ in engine.addPeer() }
    self.engine = engine
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
    let end = walk.worldFromDevice(at: Double(Self.seconds)).translation
    distances = places.map { ($0 - end).length }
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

  /// Checks that the peers have been fitted together, and are about as far away as they should be.
  public func check() throws {
    guard engine.mapAlignment != nil else { throw WrongState("the peers are not fitted together") }
    for (peer, distance) in zip(engine.peerIDs, distances) {
      let estimated = engine.estimate(of: peer).distance
      guard let value = estimated.value, abs(value - distance) < 4 * estimated.sigma else {
        throw WrongState("a peer \(distance) m away is at \(estimated)")
      }
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
