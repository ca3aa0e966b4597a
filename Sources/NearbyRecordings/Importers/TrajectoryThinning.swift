// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry

/// Leaves out the poses that interpolation between the others restores.
///
/// Each pose left out is restored, by a straight line in position and the shorter arc in attitude,
/// within the two tolerances. Greedy: from each pose that is kept it reaches as far as it can.
public struct TrajectoryThinning: Hashable, Sendable {
  /// The largest error of a position restored, metres.
  public var maximumPositionError = 0.01
  /// The largest error of an attitude restored, radians.
  public var maximumAngleErrorRadians = 0.1.degreesAsRadians
  /// The longest time between two poses kept, seconds: readers may refuse to interpolate further.
  public var maximumGapSeconds = 1.0

  /// Makes a thinning of 1 cm, 0.1 degrees and 1 s.
  public init() {}

  /// The poses to keep.
  ///
  /// Linear in the number of poses, and quadratic in how many lie between two that are kept.
  ///
  /// - Parameter rows: Poses in the order of time.
  /// - Returns: The first, the last, and those between that the others do not restore.
  public func thinned(_ rows: [PoseRow]) -> [PoseRow] {
    guard var from = rows.indices.first else { return [] }
    var kept = [rows[from]]
    while from + 1 < rows.count {
      var to = from + 1
      while to + 1 < rows.count, restoresAll(between: from, and: to + 1, of: rows) { to += 1 }
      kept.append(rows[to])
      from = to
    }
    return kept
  }

  private func restoresAll(between from: Int, and to: Int, of rows: [PoseRow]) -> Bool {
    let (first, last) = (rows[from], rows[to])
    let gap = last.timestamp.seconds(since: first.timestamp)
    guard gap > 0, gap <= maximumGapSeconds else { return false }
    return rows[(from + 1)..<to].allSatisfy { row in
      let pose = row.worldFromDevice
      let restored = first.worldFromDevice.interpolated(
        to: last.worldFromDevice, fraction: row.timestamp.seconds(since: first.timestamp) / gap)
      return (restored.translation - pose.translation).length <= maximumPositionError
        && restored.rotation.angle(to: pose.rotation) <= maximumAngleErrorRadians
    }
  }
}
