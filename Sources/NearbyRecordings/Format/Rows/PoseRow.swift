// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// One line of `trajectory.txt` or `truth/trajectory.txt`, in the recording's own frames.
public struct PoseRow: Hashable, Sendable {
  /// The time of the pose.
  public var timestamp: Timestamp
  /// The recording's device axes to the recording's world, metres.
  public var worldFromDevice: RigidTransform
  /// The line in its file, from 1; 0 when it comes from no file.
  public var line: Int

  /// Makes a row.
  public init(timestamp: Timestamp, worldFromDevice: RigidTransform, line: Int = 0) {
    self.timestamp = timestamp
    self.worldFromDevice = worldFromDevice
    self.line = line
  }

  /// The pose in the engine's frames.
  ///
  /// - Parameter frames: The recording's frames, ``RecordingManifest/frames``.
  /// - Returns: The pose as the engine takes it.
  public func devicePose(from frames: FrameConvention) -> DevicePose {
    DevicePose(
      timestamp: timestamp, worldFromDevice: frames.engineWorldFromEngineDevice(worldFromDevice))
  }
}
