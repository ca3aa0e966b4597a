// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The search: thirty seconds of a walk that leaves the peer anywhere on a circle.
///
/// Ranges from a straight line allow a circle about it, so the bank stays large and the window is
/// searched again and again. An operation is one second: 60 poses and 10 samples, from the first
/// sample on.
public struct AmbiguousWalk: Workload {
  /// The number of seconds.
  public let operations = 30

  private let poses: [[DevicePose]]
  private let samples: [[RangingSample]]
  private let unborn: FusionEngine
  private let peer: PeerID
  private var engine: FusionEngine

  /// Makes the walk.
  public init() throws {
    let walk = Walk(path: .line, peer: Vector3(1, 1.5, -4))
    var noise = Noise(seed: 3)
    engine = try FusionEngine()
    let peer = engine.addPeer()
    self.peer = peer
    unborn = engine
    poses = (0..<operations).map(walk.poses(ofSecond:))
    samples = (0..<operations).map {
      walk.samples(ofSecond: $0, peer: peer, withAngles: false, &noise)
    }
  }

  /// Resets the engine.
  public mutating func prepare() { engine = unborn }

  /// Walks.
  public mutating func run() {
    for second in 0..<operations {
      for pose in poses[second] { engine.add(pose) }
      for sample in samples[second] { engine.add(sample) }
    }
  }

  /// Checks that the walk has stayed ambiguous.
  public func check() throws {
    guard engine.estimate(of: peer).hypothesisCount > 1 else {
      throw WrongState("the walk is not ambiguous: one hypothesis is left")
    }
  }

  /// Walks once.
  ///
  /// - Returns: The time of the most expensive sample, nanoseconds.
  public mutating func costliestSample() -> Double {
    let clock = ContinuousClock()
    var longest = Duration.zero
    prepare()
    for second in 0..<operations {
      for pose in poses[second] { engine.add(pose) }
      for sample in samples[second] {
        let spent = clock.measure { _ = engine.add(sample) }
        longest = max(longest, spent)
      }
    }
    return longest / .nanoseconds(1)
  }
}
