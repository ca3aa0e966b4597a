// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry

/// Interpolates odometry and truth at the time of each sample, in time order.
package struct TruthSampler: ~Copyable {
  /// Device and peer at the time of one sample, in the engine's frames.
  package struct Sample {
    /// The device's pose in the odometry's world.
    package var odometryPose: RigidTransform
    /// The peer's position in the true world, metres.
    package var truePosition: Vector3
    /// The device's pose in the true world.
    package var truePose: RigidTransform
  }

  private let longestPoseGap: Double
  private let clockOffset: Double
  private var odometry = PoseWindow()
  private var truth: TruthTrack?

  /// Opens the truth of a recording, if it holds one.
  package init(_ recording: RecordingReader, longestPoseGap: Double) throws(RecordingError) {
    self.longestPoseGap = longestPoseGap
    clockOffset = recording.clockOffset
    truth = try TruthTrack.open(recording)
  }

  /// Whether the recording holds the truth.
  package var hasTruth: Bool {
    switch truth {
    case .some: true
    case nil: false
    }
  }

  /// Whether the peer's true position is known at any time.
  package func knows(_ peer: String) -> Bool { truth?.knows(peer) == true }

  /// Adds the odometry's next pose.
  package mutating func note(_ pose: DevicePose) {
    if hasTruth { odometry.add(pose) }
  }

  /// Odometry and truth at a row, by the poses' clock; `nil` where one of them has no data.
  package mutating func sample(at row: RangingRow) throws(RecordingError) -> Sample? {
    guard hasTruth else { return nil }
    let time = row.timestamp.advanced(bySeconds: -clockOffset)
    return try sample(
      of: row.peer, at: time, odometryPose: odometry.pose(at: time, longestGap: longestPoseGap))
  }

  /// Odometry and truth for a peer at a time, if both are known.
  mutating func sample(
    of peer: String, at time: Timestamp, odometryPose: RigidTransform?
  ) throws(RecordingError) -> Sample? {
    guard let truePosition = truth?.position(of: peer, at: time),
      let truePose = try truth?.pose(at: time), let odometryPose
    else { return nil }
    return Sample(odometryPose: odometryPose, truePosition: truePosition, truePose: truePose)
  }
}
