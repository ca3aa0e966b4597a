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
    var stream = ThinningStream(self)
    var kept = rows.compactMap { stream.add($0) }
    if let last = stream.finish() { kept.append(last) }
    return kept
  }

  /// Whether interpolation between two poses restores all that lie between them.
  fileprivate func restores(
    _ rows: some Sequence<PoseRow>, between first: PoseRow, and last: PoseRow
  ) -> Bool {
    let gap = last.timestamp.seconds(since: first.timestamp)
    guard gap > 0, gap <= maximumGapSeconds else { return false }
    return rows.allSatisfy { row in
      let pose = row.worldFromDevice
      let restored = first.worldFromDevice.interpolated(
        to: last.worldFromDevice, fraction: row.timestamp.seconds(since: first.timestamp) / gap)
      return (restored.translation - pose.translation).length <= maximumPositionError
        && restored.rotation.angle(to: pose.rotation) <= maximumAngleErrorRadians
    }
  }
}

/// A trajectory as it is thinned, pose by pose; holds what lies within the longest gap.
struct ThinningStream: Sendable {
  private let thinning: TrajectoryThinning
  private var kept: PoseRow?
  /// The poses since the one kept last.
  private var held: [PoseRow] = []

  init(_ thinning: TrajectoryThinning) { self.thinning = thinning }

  /// Takes the next pose.
  ///
  /// - Returns: A pose to be kept, not later than the one taken.
  mutating func add(_ row: PoseRow) -> PoseRow? {
    guard let from = kept else {
      kept = row
      return row
    }
    defer { held.append(row) }
    guard let last = held.last, !thinning.restores(held, between: from, and: row) else {
      return nil
    }
    kept = last
    held.removeAll(keepingCapacity: true)
    return last
  }

  /// The last pose of all, if it is still to be kept.
  mutating func finish() -> PoseRow? { held.popLast() }
}
