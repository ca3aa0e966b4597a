// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// A full bank of hypotheses: what an update of all of them costs, without any search.
enum BankBenchmark {
  private static let updates = 20
  private static let repetitions = 200

  /// Times `add(sample)` while the bank is large.
  ///
  /// A device at rest gets ranges of 8 m with a stated sigma of 2 cm. The first one gives birth to as
  /// many hypotheses as there may be. The following ones agree with it and come from the same place,
  /// so they make no new keyframe, and nothing is searched: each only predicts, updates, reduces and
  /// assesses the bank.
  ///
  /// Each repetition copies the engine as it is right after the birth and adds one sample that is not
  /// timed, which makes the copy's storage its own. Timed are the 20 calls that follow, in one go: no
  /// copy, no pose, no estimate is within. The note says how many hypotheses there were before the
  /// first and after the last of them, since `reduce` may prune and merge some on the way.
  static func run() throws -> [TableRow] {
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = 0.02
    var walk = Walk(path: .rest, peer: Vector3(0, 0, -8))
    walk.rangeNoise = 0.002
    var noise = Noise(seed: 2)
    var born = try FusionEngine(configuration)
    let peer = born.addPeer()
    var samples: [RangingSample] = []
    for second in 0..<3 {
      for pose in walk.poses(ofSecond: second) { born.add(pose) }
      samples += walk.samples(ofSecond: second, peer: peer, withAngles: false, &noise)
    }
    born.add(samples[0])
    let count = born.estimate(of: peer).hypothesisCount
    guard count == configuration.hypotheses.maximumCount else {
      throw WrongState(description: "\(count) hypotheses at birth")
    }

    var timings = Timings()
    var before = 0
    var after = 0
    for _ in 0..<repetitions {
      var engine = born
      engine.add(samples[1])
      before = engine.estimate(of: peer).hypothesisCount
      let spent = ContinuousClock().measure {
        for index in 2..<(2 + updates) { engine.add(samples[index]) }
      }
      after = engine.estimate(of: peer).hypothesisCount
      timings.add(spent, in: .microseconds(1), operations: updates)
    }
    return [
      TableRow(
        name: "sample, full bank, range only, no search", unit: "µs", timings: timings,
        note: "\(count) hypotheses at birth, \(before) before, \(after) after")
    ]
  }
}
