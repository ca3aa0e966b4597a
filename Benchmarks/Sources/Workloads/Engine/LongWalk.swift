// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Into the tenth hour with one peer: half an hour walking, half an hour at rest, and so on.
///
/// The cost of a sample is measured in windows of one walk, which differ only in time: the last ten
/// minutes before the rest of the first, the third and the tenth hour, and the second half of the
/// first minute, whose first half searches for the peer.
public struct LongWalk {
  /// A part of the walk.
  public struct Window: Sendable {
    /// Its name.
    public let name: String
    /// The seconds in it.
    public let seconds: Range<Int>
  }

  /// The windows in time order.
  public static let windows = [
    Window(name: "minute1", seconds: 30..<60), Window(name: "hour1", seconds: 1200..<1800),
    Window(name: "hour3", seconds: 8400..<9000),
    Window(name: "hour10", seconds: 33_600..<34_200),
  ]

  private let walk = Walk(path: .breaks, peer: Vector3(5.5, 0.8, -3))

  /// Makes the walk.
  public init() {}

  /// Walks until the last window is over.
  ///
  /// - Returns: The cost of a sample in each window, nanoseconds.
  /// - Throws: When the engine has not converged at the end of a window.
  public func nanosecondsPerSample() throws -> [Double] {
    let clock = ContinuousClock()
    var noise = Noise(seed: 7)
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    return try Self.windows.indices.map { index in
      let begin = index == 0 ? 0 : Self.windows[index - 1].seconds.upperBound
      let window = Self.windows[index].seconds
      var spent = Duration.zero
      for second in begin..<window.upperBound {
        for pose in walk.poses(ofSecond: second) { engine.add(pose) }
        let samples = walk.samples(ofSecond: second, peer: peer, withAngles: true, &noise)
        let taken = clock.measure { for sample in samples { engine.add(sample) } }
        if window.contains(second) { spent += taken }
      }
      let estimate = engine.estimate(of: peer)
      guard estimate.convergence == .converged else {
        throw WrongState("\(Self.windows[index].name): \(estimate.convergence)")
      }
      return spent / .nanoseconds(window.count * Walk.samplesPerSecond)
    }
  }
}
