// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Interpolates the poses of a trajectory at times that never go back.
///
/// Holds two poses.
struct PoseInterpolator: ~Copyable {
  /// When the trajectory begins.
  let start: Timestamp
  private var reader: TrajectoryReader
  private var before: PoseRow
  private var after: PoseRow?

  init(_ reader: consuming TrajectoryReader) throws(RecordingError) {
    var reader = reader
    guard let first = try reader.next() else {
      preconditionFailure("a reader gives a pose or throws")
    }
    let second = try reader.next()
    start = first.timestamp
    before = first
    after = second
    self.reader = reader
  }

  /// The pose at a time that is not before the previous one; `nil` before the first pose and after
  /// the last.
  mutating func pose(at time: Timestamp) throws(RecordingError) -> RigidTransform? {
    while let next = after, next.timestamp <= time {
      before = next
      after = try reader.next()
    }
    guard time >= before.timestamp else { return nil }
    guard time > before.timestamp else { return before.worldFromDevice }
    guard let after else { return nil }
    return before.worldFromDevice.interpolated(
      to: after.worldFromDevice,
      fraction: time.seconds(since: before.timestamp)
        / after.timestamp.seconds(since: before.timestamp))
  }
}
