// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Writes the device's path in a map that does not drift: for each of the odometry's poses the device's
/// pose there.
///
/// The format is that of `trajectory.txt` (TUM), in the recording's own frames. Before peers have told of
/// the drift a pose is the odometry's; of a map from before it is left out until the device has been found
/// in it. When they never tell, there is no file.
public struct MapTrajectoryWriter: ~Copyable {
  /// The name of the file with each pose as it was known then.
  public static let correctedFileName = "trajectory-corrected.txt"
  /// The name of the file with each pose as the whole recording has it.
  public static let smoothedFileName = "trajectory-smoothed.txt"

  private let frames: FrameConvention
  private var file: ExportFile
  private let isOfKnownMap: Bool
  private var isCorrected = false

  /// Starts a file; its folder must exist.
  ///
  /// - Parameters:
  ///   - path: The path at which ``commit()`` makes the file appear.
  ///   - frames: The recording's frames, ``RecordingManifest/frames``.
  ///   - isOfKnownMap: Whether the map is one from before.
  /// - Throws: When the file cannot be written.
  public init(
    path: String, frames: FrameConvention, isOfKnownMap: Bool = false
  ) throws(RecordingError) {
    self.frames = frames
    self.isOfKnownMap = isOfKnownMap
    file = try ExportFile(path: path)
  }

  /// Writes a pose.
  ///
  /// - Parameters:
  ///   - pose: The odometry's pose, in the engine's frames.
  ///   - mapFromWorld: Where its world lies in the map; `nil` before peers have told.
  /// - Throws: When the file cannot be written.
  public mutating func write(
    _ pose: DevicePose, mapFromWorld: RigidTransform?
  ) throws(RecordingError) {
    var corrected = pose.worldFromDevice
    if let mapFromWorld {
      isCorrected = true
      corrected = mapFromWorld * corrected
    } else if isOfKnownMap {
      return
    }
    file.text.appendTum(pose.timestamp, frames.worldFromDevice(fromEngine: corrected))
    try file.endRow()
  }

  /// Writes the collected poses to the file.
  ///
  /// - Returns: The path under which it can be read back before ``commit()``; `nil` when no pose is
  ///   corrected, so that there will be no file.
  /// - Throws: When the file cannot be written.
  package mutating func flush() throws(RecordingError) -> String? {
    try file.flush()
    return isCorrected ? file.temporaryPath : nil
  }

  /// Makes the file appear, if any pose is corrected.
  ///
  /// - Throws: When it cannot be written.
  public consuming func commit() throws(RecordingError) {
    if isCorrected { try file.commit() }
  }
}
