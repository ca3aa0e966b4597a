// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// Where the device's odometry says that the device is.
public struct DevicePose: Hashable, Sendable, Codable {
  // The transform first, so that the numbers that are copied in pairs are read in the same pairs.
  /// Device coordinates (ARKit axes) to the odometry's gravity-aligned world (y up), metres.
  public var worldFromDevice: RigidTransform
  /// When the pose held.
  public var timestamp: Timestamp

  /// Makes a pose.
  public init(timestamp: Timestamp, worldFromDevice: RigidTransform) {
    self.timestamp = timestamp
    self.worldFromDevice = worldFromDevice
  }
}

/// What became of a pose.
public enum PoseOutcome: Hashable, Sendable {
  /// It extends the trajectory.
  case accepted
  /// It extends the trajectory, by a step that no device makes: the odometry's world has jumped by
  /// about so many metres, and every peer's position has become that much less certain.
  case acceptedAfterJump(metres: Double)
  /// It extends the trajectory, from which the pose before it is taken back: that was stamped so many seconds ahead of
  /// this one, and of some more that agree with each other.
  case acceptedInstead(ofPoseAheadBySeconds: Double)
  /// It was left out: a number in it is not finite, or too large to be a place (1e7 m).
  case rejectedNotFinite
  /// It was left out: it is not after the pose before it.
  case rejectedNotLater
}
