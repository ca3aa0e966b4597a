// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Writes `located.csv`: where the device is by range differences, twice a second.
///
/// Places and covariances are in the map's frame along the recording's world axes, metres and m²; `yaw` is the
/// turn about gravity from the odometry's world to the map, radians, counterclockwise as seen from above.
/// Without a place alone its fields are empty. A recording without range differences has no such file.
public struct LocatedWriter: ~Copyable {
  /// The file's name in its folder.
  public static let fileName = "located.csv"

  /// The columns, in their order.
  public static let columns = [
    "timestamp", "x", "y", "z", "position_sigma", "cov_xx", "cov_xy", "cov_xz", "cov_yy",
    "cov_yz", "cov_zz", "yaw", "yaw_sigma",
  ]

  private let frames: FrameConvention
  private var table: TableFile
  private var isEmpty = true

  /// Starts a file; its folder must exist.
  ///
  /// - Parameters:
  ///   - path: The path at which ``commit()`` makes the file appear.
  ///   - frames: The recording's frames, ``RecordingManifest/frames``.
  /// - Throws: When the file cannot be written.
  public init(path: String, frames: FrameConvention) throws(RecordingError) {
    self.frames = frames
    table = try TableFile(path: path, columns: Self.columns)
  }

  /// Writes a fix.
  ///
  /// - Parameter fix: The fix, in the engine's frames.
  /// - Throws: When the file cannot be written.
  public mutating func write(_ fix: AnchorFix) throws(RecordingError) {
    isEmpty = false
    table.text.append(fix.timestamp)
    table.text.appendField(fix.position.value.map { frames.worldVector(fromEngine: $0) })
    table.text.appendField(fix.position.sigma)
    table.text.appendField(frames.worldCovariance(fromEngine: fix.covariance))
    table.text.appendField(fix.turnRadians)
    table.text.appendField(fix.siteFromWorld.sigma)
    try table.endRow()
  }

  /// Writes the collected rows to the file.
  ///
  /// - Throws: When the file cannot be written.
  package mutating func flush() throws(RecordingError) { try table.flush() }

  /// Makes the file appear, if it has a row.
  ///
  /// - Throws: When it cannot be written.
  public consuming func commit() throws(RecordingError) {
    if !isEmpty { try table.commit() }
  }
}
