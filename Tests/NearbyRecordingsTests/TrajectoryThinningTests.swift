// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyRecordings
import Testing

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
}
