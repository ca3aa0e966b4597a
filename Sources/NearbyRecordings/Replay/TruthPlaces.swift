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
  package mutating func note(_ pose: DevicePose) { odometry.add(pose) }

  /// The places at a sample; `nil` where odometry or truth do not reach.
  package mutating func place(at row: RangingRow) throws(RecordingError) -> Place? {
    guard let truePosition = truth?.position(of: row.peer, at: row.timestamp),
      let truePose = try truth?.pose(at: row.timestamp),
      let odometryPose = odometry.pose(at: row.timestamp, longestGap: longestPoseGap)
    else { return nil }
    return Place(odometryPose: odometryPose, truePosition: truePosition, truePose: truePose)
  }
}
