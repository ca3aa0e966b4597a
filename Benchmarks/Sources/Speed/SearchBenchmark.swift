// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The search: what a walk costs that never tells where on a circle the peer is.
enum SearchBenchmark {
  private static let seconds = 30
  private static let repetitions = 7

  /// Times the `add(sample)` of a range-only walk on a straight line, at 10 Hz, from birth on.
  ///
  /// Ranges from a line allow a circle about it, so that the bank stays large and the window is
  /// searched again and again. Poses are added outside the timed part. Besides the mean over the walk
  /// there is its costliest single call, which a user would feel.
  static func run() throws -> [TableRow] {
    let walk = Walk(path: .line, peer: Vector3(1, 1.5, -4))
    var perSecond = Timings()
    var costliest = Timings()
    var fewest = Int.max
    var most = 0
    for _ in 0..<repetitions {
      var noise = Noise(seed: 3)
      var engine = try FusionEngine()
      let peer = engine.addPeer()
      var total = Duration.zero
      var longest = Duration.zero
      for second in 0..<seconds {
        for pose in walk.poses(ofSecond: second) { engine.add(pose) }
        for sample in walk.samples(ofSecond: second, peer: peer, withAngles: false, &noise) {
          let spent = ContinuousClock().measure { _ = engine.add(sample) }
          total += spent
          longest = max(longest, spent)
        }
        let count = engine.estimate(of: peer).hypothesisCount
        fewest = min(fewest, count)
        most = max(most, count)
      }
      perSecond.add(total, in: .milliseconds(1), operations: seconds)
      costliest.add(longest, in: .milliseconds(1))
    }
    guard fewest > 1 else {
      throw WrongState(description: "the walk is not ambiguous: one hypothesis is left")
    }
    return [
      TableRow(
        name: "second of an ambiguous walk, 10 samples", unit: "ms", timings: perSecond,
        note: "\(seconds) s, \(fewest) to \(most) hypotheses"),
      TableRow(name: "costliest sample of that walk", unit: "ms", timings: costliest),
    ]
  }
}
