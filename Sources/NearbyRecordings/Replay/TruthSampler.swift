// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry

/// Where device and peer were at each sample, by odometry and in truth; asked for in time order.
package struct TruthPlaces: ~Copyable {
  /// What is known of one sample, in the engine's frames.
  package struct Place {
    /// The device's pose in the odometry's world.
    package var odometryPose: RigidTransform
    /// The peer's position in the true world, metres.
    package var truePosition: Vector3
    /// The device's pose in the true world.
    package var truePose: RigidTransform
  }

  private let longestPoseGap: Double
  private var odometry = PoseWindow()
  private var truth: TruthTrack?

  /// Opens the truth of a recording, if it holds one.
  package init(_ recording: RecordingReader, longestPoseGap: Double) throws(RecordingError) {
    self.longestPoseGap = longestPoseGap
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

  /// Takes note of the odometry's next pose.
  package mutating func note(_ pose: DevicePose) {
    if hasTruth { odometry.add(pose) }
  }

  /// The places at a sample; `nil` where odometry or truth do not reach.
  package mutating func place(at row: RangingRow) throws(RecordingError) -> Place? {
    guard hasTruth else { return nil }
    return try place(
      of: row.peer, at: row.timestamp,
      odometryPose: odometry.pose(at: row.timestamp, longestGap: longestPoseGap))
  }

  /// The places of a peer at a moment at which the odometry's pose is known, if it is.
  mutating func place(
    of peer: String, at time: Timestamp, odometryPose: RigidTransform?
  ) throws(RecordingError) -> Place? {
    guard let truePosition = truth?.position(of: peer, at: time),
      let truePose = try truth?.pose(at: time), let odometryPose
    else { return nil }
    return Place(odometryPose: odometryPose, truePosition: truePosition, truePose: truePose)
  }
}
