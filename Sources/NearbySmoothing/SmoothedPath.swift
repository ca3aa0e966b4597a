// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
public import NearbyGeometry

/// The device's path in a map that does not drift, given everything before and after.
///
/// The map is the odometry's world as it was at the first sample. At a knot with the device at d in the
/// odometry's world and at c, turned by ψ, in the map, points are taken to it by `p ↦ c + R(ψ) (p - d)`;
/// between two knots by the mean of theirs, weighted by time.
public struct SmoothedPath: Hashable, Sendable {
  private var knots: [Knot]

  private struct Knot: Hashable {
    var timestamp: Timestamp
    var world: Int
    var mapFromWorld: RigidTransform
  }

  init(_ knots: [DriftKnot], _ corrections: [KnotCorrection]) {
    let fixedFromWorld = zip(knots, corrections).map { knot, correction in
      let turn = Rotation(angleRadians: correction.yawRadians, about: Vector3(0, 1, 0))
      return RigidTransform(
        rotation: turn, translation: correction.place - turn.act(knot.place))
    }
    let mapFromFixed = fixedFromWorld.first?.inverse ?? .identity
    self.knots = zip(knots, fixedFromWorld).map { knot, transform in
      Knot(
        timestamp: knot.device.timestamp, world: knot.device.world,
        mapFromWorld: mapFromFixed * transform)
    }
  }

  /// Where the odometry's world, as it was at a moment, lies in the map.
  ///
  /// O(log n) in the knots.
  ///
  /// - Parameter time: The moment.
  /// - Returns: The transform; that of the first or last knot before or after all of them.
  public func mapFromWorld(at time: Timestamp) -> RigidTransform {
    var (low, high) = (0, knots.count)
    while low < high {
      let middle = (low + high) / 2
      if knots[middle].timestamp <= time { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return knots.first?.mapFromWorld ?? .identity }
    let before = knots[low - 1]
    // Across a jump there is nothing between the worlds.
    guard low < knots.count, knots[low].world == before.world else { return before.mapFromWorld }
    let after = knots[low]
    let share =
      time.seconds(since: before.timestamp) / after.timestamp.seconds(since: before.timestamp)
    return before.mapFromWorld.interpolated(to: after.mapFromWorld, fraction: share)
  }
}
