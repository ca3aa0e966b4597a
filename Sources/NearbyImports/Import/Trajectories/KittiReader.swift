// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Reads poses of the KITTI odometry benchmark and the file of their times, pose by pose.
///
/// A line of poses is `[R | t]` row by row, twelve numbers; a line of times is seconds. A matrix
/// that is orthonormal to 1 % is replaced by the nearest rotation.
struct KittiReader: ~Copyable, PoseSource {
  private var poses: DelimitedReader
  private var times: DelimitedReader

  init(poses: String, times: String) throws(RecordingError) {
    // Opens both files before storing either: a noncopyable value cannot be initialised partially.
    let poseLines = try DelimitedReader(path: poses, delimiter: nil)
    let timeLines = try DelimitedReader(path: times, delimiter: nil)
    self.poses = poseLines
    self.times = timeLines
  }

  mutating func next() throws(RecordingError) -> PoseRow? {
    let hasTime = try times.next()
    guard try poses.next() else {
      guard !hasTime else {
        throw times.lineError(
          .wrongFieldCount, "there are more times than poses (\(poses.lines.file))",
          remedy: "give the two files of one sequence")
      }
      return nil
    }
    guard hasTime else {
      throw poses.lineError(
        .wrongFieldCount, "there are more poses than times (\(times.lines.file))",
        remedy: "give the two files of one sequence")
    }
    guard poses.count == 12 else {
      throw poses.lineError(
        .wrongFieldCount, "the line has \(poses.count) field\(poses.count == 1 ? "" : "s"), not 12",
        remedy: "write the three rows of [R | t]")
    }
    guard times.count == 1 else {
      throw times.lineError(
        .wrongFieldCount, "the line has \(times.count) fields, not 1", remedy: "write seconds")
    }
    return PoseRow(
      timestamp: try times.timestamp(0, .seconds),
      worldFromDevice: RigidTransform(rotation: try rotation(), translation: try translation()),
      line: poses.lines.line)
  }

  private func translation() throws(RecordingError) -> Vector3 {
    let place = Vector3(
      try poses.finite(3, "tx"), try poses.finite(7, "ty"), try poses.finite(11, "tz"))
    guard max(abs(place.x), abs(place.y), abs(place.z)) <= TrajectoryReader.farthest else {
      throw poses.lineError(
        .valueOutOfRange, "the position is too far away",
        remedy: "positions are metres, at most 1e7")
    }
    return place
  }

  private func rotation() throws(RecordingError) -> Rotation {
    func column(_ index: Int) throws(RecordingError) -> Vector3 {
      Vector3(
        try poses.finite(index, "r1\(index + 1)"), try poses.finite(index + 4, "r2\(index + 1)"),
        try poses.finite(index + 8, "r3\(index + 1)"))
    }
    let (x, y, z) = (try column(0), try column(1), try column(2))
    let error = [
      x.dot(x) - 1, y.dot(y) - 1, z.dot(z) - 1, x.dot(y), y.dot(z), z.dot(x),
      x.cross(y).dot(z) - 1,
    ]
    // The comparison is also false for NaN, which an overflow may give.
    guard error.allSatisfy({ abs($0) < 0.02 }) else {
      throw poses.lineError(
        .invalidRotation, "the left three columns are no rotation",
        remedy: "write the three rows of [R | t], R orthonormal with determinant 1")
    }
    return Rotation(xAxis: x, yAxis: y, zAxis: z)
  }
}
