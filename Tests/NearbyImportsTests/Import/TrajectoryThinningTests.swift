// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Thinning a trajectory")
struct TrajectoryThinningTests {
  /// A straight walk at 1 m/s, ten poses a second.
  static func walk(poses: Int) -> [PoseRow] {
    (0..<poses).map { index in
      PoseRow(
        timestamp: Timestamp(nanoseconds: Int64(index) * 100_000_000),
        worldFromDevice: RigidTransform(
          rotation: .identity, translation: Vector3(0.1 * Double(index), 0, 0)))
    }
  }

  @Test("Of a straight walk one pose a second is kept, and the last", arguments: [0, 1, 2, 26])
  func straight(poses: Int) {
    let kept = TrajectoryThinning().thinned(Self.walk(poses: poses))
    let expected = [0: [], 1: [0], 2: [0, 1], 26: [0, 10, 20, 25]][poses]
    #expect(kept.map { Int($0.timestamp.nanoseconds / 100_000_000) } == expected)
  }

  @Test("A step to the side and a turn of the head are kept")
  func events() {
    var rows = Self.walk(poses: 10)
    rows[4].worldFromDevice.translation.y = 0.011
    rows[7].worldFromDevice.rotation = Rotation(angleRadians: 0.002, about: Vector3(0, 1, 0))
    let kept = TrajectoryThinning().thinned(rows)
    #expect(kept.contains(rows[4]))
    #expect(kept.contains(rows[7]))
    rows[4].worldFromDevice.translation.y = 0.009
    rows[7].worldFromDevice.rotation = Rotation(angleRadians: 0.0017, about: Vector3(0, 1, 0))
    #expect(TrajectoryThinning().thinned(rows) == [rows[0], rows[9]])
  }

  @Test("Whatever is left out is restored", arguments: 1...8 as ClosedRange<UInt64>)
  func restores(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var rows = Self.walk(poses: 400)
    var (side, angle) = (0.0, 0.0)
    for index in rows.indices {
      side += Double.random(in: -0.01...0.01, using: &generator)
      angle += Double.random(in: -0.002...0.002, using: &generator)
      rows[index].worldFromDevice.translation.y = side
      rows[index].worldFromDevice.rotation = Rotation(
        angleRadians: angle, about: Vector3(0.2, 1, 0.1))
    }
    let thinning = TrajectoryThinning()
    let kept = thinning.thinned(rows)
    #expect(kept.count < rows.count)
    var next = 1
    for row in rows {
      while kept[next].timestamp < row.timestamp { next += 1 }
      let (before, after) = (kept[next - 1], kept[next])
      let gap = after.timestamp.seconds(since: before.timestamp)
      #expect(gap <= thinning.maximumGapSeconds)
      let restored = before.worldFromDevice.interpolated(
        to: after.worldFromDevice,
        fraction: row.timestamp.seconds(since: before.timestamp) / gap)
      let error = restored.translation - row.worldFromDevice.translation
      #expect(error.length <= thinning.maximumPositionError + 1e-12)
      #expect(
        restored.rotation.angle(to: row.worldFromDevice.rotation)
          <= thinning.maximumAngleErrorRadians + 1e-12)
    }
  }

  /// Poses of a winding walk, with noise.
  static func wandering(
    poses: Int, perSecond: Double, step: Double, noise: Double, seed: UInt64
  ) -> [PoseRow] {
    var generator = SeededGenerator(seed: seed)
    func draw() -> Vector3 {
      Vector3(
        .random(in: -1...1, using: &generator), .random(in: -1...1, using: &generator),
        .random(in: -1...1, using: &generator))
    }
    var (place, velocity, turn) = (Vector3(3, -2, 1), Vector3(1, 0, 0.2), Rotation.identity)
    return (0..<poses).map { index in
      velocity += step / perSecond.squareRoot() * draw()
      place += velocity / perSecond
      let turned = 0.1 * step / perSecond.squareRoot() * draw()
      turn = turn * Rotation(angleRadians: turned.length, about: turned)
      let shaken = 0.1 * noise * draw()
      return PoseRow(
        timestamp: Timestamp(nanoseconds: Int64(Double(index) / perSecond * 1e9)),
        worldFromDevice: RigidTransform(
          rotation: turn * Rotation(angleRadians: shaken.length, about: shaken),
          translation: place + noise * draw()))
    }
  }

  /// The reference: for every new pose, all poses since the last kept one are checked.
  static func thinnedOneByOne(_ rows: [PoseRow]) -> [PoseRow] {
    let thinning = TrajectoryThinning()
    var kept: [PoseRow] = []
    var held: [PoseRow] = []
    for row in rows {
      guard let first = kept.last else {
        kept.append(row)
        continue
      }
      let gap = row.timestamp.seconds(since: first.timestamp)
      let isRestored =
        gap > 0 && gap <= thinning.maximumGapSeconds
        && held.allSatisfy {
          let restored = first.worldFromDevice.interpolated(
            to: row.worldFromDevice, fraction: $0.timestamp.seconds(since: first.timestamp) / gap)
          let pose = $0.worldFromDevice
          return (restored.translation - pose.translation).length <= thinning.maximumPositionError
            && restored.rotation.angle(to: pose.rotation) <= thinning.maximumAngleErrorRadians
        }
      if let last = held.last, !isRestored {
        kept.append(last)
        held = []
      }
      held.append(row)
    }
    return kept + held.suffix(1)
  }

  @Test(
    "Bounds keep what looking at every pose keeps",
    arguments: [10.0, 200, 1000],
    [(1.0, 0.0), (0.1, 0.0), (0.0, 0.004), (0.05, 0.002)])
  func sameAsOneByOne(perSecond: Double, motion: (step: Double, noise: Double)) {
    for seed in 1...3 as ClosedRange<UInt64> {
      let rows = Self.wandering(
        poses: 800, perSecond: perSecond, step: motion.step, noise: motion.noise, seed: seed)
      #expect(TrajectoryThinning().thinned(rows) == Self.thinnedOneByOne(rows))
    }
  }

  @Test(
    "Poses of one moment, out of order or half a turn apart are kept as when looked at one by one",
    arguments: 1...4 as ClosedRange<UInt64>)
  func oddities(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var rows = Self.wandering(poses: 400, perSecond: 500, step: 0.05, noise: 0, seed: seed)
    for index in stride(from: 30, to: 400, by: 61) {
      rows[index].timestamp = rows[index - Int.random(in: 1...20, using: &generator)].timestamp
    }
    rows[200].worldFromDevice.rotation =
      rows[200].worldFromDevice.rotation * Rotation(angleRadians: .pi, about: Vector3(0, 1, 0))
    rows[333].worldFromDevice.translation.x = .nan
    let kept = TrajectoryThinning().thinned(rows)
    let expected = Self.thinnedOneByOne(rows)
    // Compared as text, since NaN equals nothing.
    #expect("\(kept)" == "\(expected)")
  }

  @Test(
    "A crowd of poses within a second takes a bounded number of checks each",
    arguments: [(0.0, 0.0), (0.01, 0.0), (0.0, 0.001), (0.0, 0.0025), (0.001, 0.0024), (1, 0.01)])
  func checks(step: Double, noise: Double) {
    let rows = Self.wandering(poses: 8000, perSecond: 9000, step: step, noise: noise, seed: 7)
    var stream = ThinningStream(TrajectoryThinning())
    for row in rows { _ = stream.add(row) }
    #expect(stream.checks <= 70 * rows.count)
  }

  @Test("A crowd of poses that are well within the limits is as good as none")
  func crowd() {
    let rows = Self.wandering(poses: 8000, perSecond: 9000, step: 0, noise: 0.001, seed: 7)
    var stream = ThinningStream(TrajectoryThinning())
    let kept = rows.compactMap { stream.add($0) }
    #expect(kept == [rows[0]] && stream.finish() == rows.last)
    #expect(stream.checks <= 30 * rows.count)
  }
}
