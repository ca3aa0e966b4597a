// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The converged engine: what a pose, a sample and an estimate cost with one hypothesis left.
struct ConvergedBenchmark {
  private static let warmUpSeconds = 60
  private static let secondsPerRepetition = 100
  private static let repetitions = 25
  private static let estimatesPerSecond = 20

  private var poseTimings = Timings()
  private var sampleTimings = Timings()
  private var estimateTimings = Timings()
  private var sink = 0.0

  /// Walks on and on with one engine, and times three things of each second.
  ///
  /// Each is timed in one go:
  ///
  /// 1. all 60 calls of `add(DevicePose)`;
  /// 2. all 10 calls of `add(RangingSample)` with range, azimuth and elevation, each of which lies
  ///    between two poses;
  /// 3. 20 calls of `estimate(of:at:)` at the two poses after the last sample.
  ///
  /// Poses and samples are made beforehand. Reading the clock, some 50 ns, is part of each of the
  /// three; it is spread over the calls.
  mutating func run() throws -> [TableRow] {
    let walk = Walk(path: .curve, peer: Vector3(5.5, 0.8, -3))
    var noise = Noise(seed: 1)
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    var second = 0
    for repetition in 0...Self.repetitions {
      var spent = Spent()
      let seconds = repetition == 0 ? Self.warmUpSeconds : Self.secondsPerRepetition
      for _ in 0..<seconds {
        let poses = walk.poses(ofSecond: second)
        let samples = walk.samples(ofSecond: second, peer: peer, withAngles: true, &noise)
        step(&engine, poses, samples, &spent)
        second += 1
        if repetition > 0 { try check(engine.estimate(of: peer), second: second) }
      }
      guard repetition > 0 else { continue }
      let nanosecond = Duration.nanoseconds(1)
      poseTimings.add(spent.poses, in: nanosecond, operations: seconds * Walk.posesPerSecond)
      sampleTimings.add(spent.samples, in: nanosecond, operations: seconds * Walk.samplesPerSecond)
      estimateTimings.add(
        spent.estimates, in: nanosecond, operations: seconds * Self.estimatesPerSecond)
    }
    guard sink.isFinite else { throw WrongState(description: "an estimate is not finite") }
    return [
      TableRow(
        name: "sample, converged, range and angles", unit: "ns", timings: sampleTimings,
        note: "1 hypothesis"),
      TableRow(name: "pose", unit: "ns", timings: poseTimings),
      TableRow(name: "estimate at a later pose", unit: "ns", timings: estimateTimings),
    ]
  }

  private struct Spent {
    var poses = Duration.zero
    var samples = Duration.zero
    var estimates = Duration.zero
  }

  private mutating func step(
    _ engine: inout FusionEngine, _ poses: [DevicePose], _ samples: [RangingSample],
    _ spent: inout Spent
  ) {
    let clock = ContinuousClock()
    spent.poses += clock.measure { for pose in poses { engine.add(pose) } }
    spent.samples += clock.measure { for sample in samples { engine.add(sample) } }
    let peer = samples[0].peer
    let later = [poses[poses.count - 2].timestamp, poses[poses.count - 1].timestamp]
    spent.estimates += clock.measure {
      for index in 0..<Self.estimatesPerSecond {
        sink += engine.estimate(of: peer, at: later[index & 1]).distance.sigma
      }
    }
  }

  private func check(_ estimate: PeerEstimate, second: Int) throws {
    guard estimate.hypothesisCount == 1, estimate.convergence == .converged else {
      throw WrongState(
        description:
          "second \(second): \(estimate.hypothesisCount) hypotheses, \(estimate.convergence)")
    }
  }
}
