// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// Writes `smoothed.csv`: a row for each sample, with the smoother's estimate.
///
/// Frames, units and digits are those of ``EstimateWriter``.
public struct SmoothedWriter: ~Copyable {
  /// The file's name in its folder.
  public static let fileName = "smoothed.csv"

  /// The columns, in their order.
  public static let columns = [
    "timestamp", "peer", "mean_x", "mean_y", "mean_z", "cov_xx", "cov_xy", "cov_xz", "cov_yy",
    "cov_yz", "cov_zz", "distance", "direction_x", "direction_y", "direction_z",
    "horizontal_angle", "mode_probability",
  ]

  private let frames: FrameConvention
  private var table: TableFile

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

  /// Writes a row.
  ///
  /// - Parameter row: The row, in the engine's frames.
  /// - Throws: When the file cannot be written.
  public mutating func write(_ row: SmoothedRow) throws(RecordingError) {
    table.text.append(row.timestamp)
    table.text.append(byte: .comma)
    table.text.append(name: row.peer)
    table.text.appendField(row.positionInWorld.map(frames.worldVector(fromEngine:)))
    table.text.appendField(
      row.positionInWorld.map { _ in frames.worldCovariance(fromEngine: row.covariance) })
    table.text.appendField(row.fromDevice?.length)
    table.text.appendField(row.directionFromDevice.map(frames.deviceVector(fromEngine:)))
    table.text.appendField(row.directionFromDevice == nil ? nil : row.horizontalAngleRadians)
    table.text.appendField(row.positionInWorld == nil ? nil : row.modeProbability)
    try table.endRow()
  }

  /// Writes the collected rows to the file.
  ///
  /// - Returns: The path under which it can be read back before ``commit()``.
  /// - Throws: When the file cannot be written.
  package mutating func flush() throws(RecordingError) -> String {
    try table.flush()
    return table.temporaryPath
  }

  /// Closes the file and renames it to its path.
  public consuming func commit() throws(RecordingError) {
    try table.commit()
  }
}
