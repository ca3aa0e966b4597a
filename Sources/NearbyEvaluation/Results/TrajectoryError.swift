// SPDX-License-Identifier: Apache-2.0
internal import CLAPACKE
internal import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// The error of a recording's odometry against the true trajectory, after alignment.
///
/// The rotation and translation of the odometry's world are those that make the sum of squared
/// distances smallest (Horn: Closed-form solution of absolute orientation using unit quaternions,
/// 1987); there is no scale. This is the absolute pose error of `evo_ape --align`, except that the
/// truth is interpolated at each odometry pose where evo takes the nearest stamp.
///
/// It measures the odometry. The errors of peers need no alignment, and contain only the drift
/// between measuring a peer and estimating it.
public struct TrajectoryError: Sendable, Hashable, Codable {
  /// How many odometry poses have a true one.
  public var poses: Int
  /// The root of the mean squared distance, metres.
  public var rmse: Double
  /// The mean distance, metres.
  public var mean: Double
  /// The largest distance, metres.
  public var max: Double
  /// The root of the mean squared angle between the attitudes, degrees.
  public var rotationRMSEDegrees: Double

  /// The same as `summary.json` has it.
  package var figures: TrajectorySummary.Figures {
    TrajectorySummary.Figures(
      poses: poses, rmse: rmse, max: max, rotationRMSEDegrees: rotationRMSEDegrees)
  }

  /// Reads both trajectories of a recording, twice.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - path: A trajectory in the recording's frames that takes the place of its odometry.
  ///   - longestPoseGap: True poses further apart than this, seconds, are not interpolated.
  /// - Returns: The error; `nil` when there is no truth, or fewer than three poses have one.
  /// - Throws: The first fault of a trajectory.
  public static func evaluate(
    _ recording: RecordingReader, trajectory path: String? = nil, longestPoseGap: Double
  ) throws(RecordingError) -> TrajectoryError? {
    var sums = AlignmentSums()
    try forEachPair(of: recording, path, longestPoseGap: longestPoseGap) { estimate, truth in
      sums.add(estimate.translation, truth.translation)
    }
    guard sums.count >= 3, let truthFromOdometry = sums.alignment() else { return nil }
    var error = TrajectoryError(
      poses: sums.count, rmse: 0, mean: 0, max: 0, rotationRMSEDegrees: 0)
    try forEachPair(of: recording, path, longestPoseGap: longestPoseGap) { estimate, truth in
      let aligned = truthFromOdometry * estimate
      let distance = (aligned.translation - truth.translation).length
      let angle = aligned.rotation.angle(to: truth.rotation).radiansAsDegrees
      error.rmse += distance * distance
      error.mean += distance
      error.max = Swift.max(error.max, distance)
      error.rotationRMSEDegrees += angle * angle
    }
    let count = Double(sums.count)
    error.rmse = (error.rmse / count).squareRoot()
    error.mean /= count
    error.rotationRMSEDegrees = (error.rotationRMSEDegrees / count).squareRoot()
    return error
  }

  /// Calls a function with each odometry pose for which there is a true one.
  private static func forEachPair(
    of recording: RecordingReader, _ path: String?, longestPoseGap: Double,
    _ body: (_ estimate: RigidTransform, _ truth: RigidTransform) -> Void
  ) throws(RecordingError) {
    guard var truth = try recording.truthTrajectory() else { return }
    var odometry =
      if let path { try TrajectoryReader(path: path, file: path) } else {
        try recording.trajectory()
      }
    var before = try truth.next()
    var after = before
    while let pose = try odometry.next() {
      while let next = after, next.timestamp < pose.timestamp {
        before = next
        after = try truth.next()
      }
      guard let first = before, let second = after, first.timestamp <= pose.timestamp
      else { continue }
      let gap = second.timestamp.seconds(since: first.timestamp)
      guard gap <= longestPoseGap || second.timestamp == pose.timestamp else { continue }
      let share = gap > 0 ? pose.timestamp.seconds(since: first.timestamp) / gap : 0
      body(
        pose.worldFromDevice,
        first.worldFromDevice.interpolated(to: second.worldFromDevice, fraction: share))
    }
  }
}

/// The sums from which the best alignment of two sets of points is computed.
private struct AlignmentSums {
  private(set) var count = 0
  /// The first points.
  ///
  /// Sums are relative to them, so that large coordinates do not lose digits.
  private var origins: (estimate: Vector3, truth: Vector3)?
  private var estimates = Vector3.zero
  private var truths = Vector3.zero
  /// Sums of products, rows by the estimate's coordinates, columns by the truth's.
  private var products = InlineArray<9, Double>(repeating: 0)

  mutating func add(_ estimate: Vector3, _ truth: Vector3) {
    let origins = self.origins ?? (estimate, truth)
    self.origins = origins
    let (e, t) = (estimate - origins.estimate, truth - origins.truth)
    count += 1
    estimates = estimates + e
    truths = truths + t
    let (rows, columns) = ([e.x, e.y, e.z], [t.x, t.y, t.z])
    for row in 0..<3 {
      for column in 0..<3 { products[3 * row + column] += rows[row] * columns[column] }
    }
  }

  /// The transform from the estimate's world to the truth's; `nil` when the eigenvalue problem has
  /// no solution.
  func alignment() -> RigidTransform? {
    guard let origins, count > 0 else { return nil }
    let (e, t) = (estimates / Double(count), truths / Double(count))
    let (means, others) = ([e.x, e.y, e.z], [t.x, t.y, t.z])
    func s(_ row: Int, _ column: Int) -> Double {
      products[3 * row + column] - Double(count) * means[row] * others[column]
    }
    // Horn's matrix: its eigenvector of the largest eigenvalue is the quaternion, scalar first.
    var matrix = [
      s(0, 0) + s(1, 1) + s(2, 2), s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0),
      0, s(0, 0) - s(1, 1) - s(2, 2), s(0, 1) + s(1, 0), s(2, 0) + s(0, 2),
      0, 0, -s(0, 0) + s(1, 1) - s(2, 2), s(1, 2) + s(2, 1),
      0, 0, 0, -s(0, 0) - s(1, 1) + s(2, 2),
    ]
    var eigenvalues = [0.0, 0, 0, 0]
    let upper = CChar(bitPattern: UInt8(ascii: "U"))
    let vectors = CChar(bitPattern: UInt8(ascii: "V"))
    let status = unsafe LAPACKE_dsyev(
      LAPACK_ROW_MAJOR, vectors, upper, 4, &matrix, 4, &eigenvalues)
    // Eigenvectors are columns, eigenvalues ascend.
    guard status == 0,
      let rotation = Rotation(normalizing: matrix[7], matrix[11], matrix[15], matrix[3])
    else { return nil }
    return RigidTransform(
      rotation: rotation,
      translation: origins.truth + t - rotation.act(origins.estimate + e))
  }
}
