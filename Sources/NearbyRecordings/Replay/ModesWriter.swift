// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Writes `modes.csv`: the places where a peer may be, for each sample after which there are several.
///
/// Positions and covariances are in the recording's world, metres and m². A result whose peers never have more
/// than one mode has no such file.
public struct ModesWriter: ~Copyable {
  /// The file's name in its folder.
  public static let fileName = "modes.csv"

  /// The columns, in their order; `mode` counts from zero, the most probable first.
  public static let columns = [
    "timestamp", "peer", "mode", "weight", "mean_x", "mean_y", "mean_z", "cov_xx", "cov_xy",
    "cov_xz", "cov_yy", "cov_yz", "cov_zz",
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

  /// Writes the modes after a sample: a row for each.
  ///
  /// - Parameters:
  ///   - row: The row of `ranging.csv`.
  ///   - modes: The modes of its peer, in the engine's frames.
  /// - Throws: When the file cannot be written.
  public mutating func write(
    _ row: RangingRow, _ modes: [PositionMode]
  ) throws(RecordingError) {
    for (index, mode) in modes.enumerated() {
      isEmpty = false
      table.text.append(row.timestamp)
      table.text.append(byte: .comma)
      table.text.append(name: row.peer)
      table.text.append(byte: .comma)
      table.text.append(index)
      table.text.appendField(mode.probability)
      table.text.appendField(frames.worldVector(fromEngine: mode.positionInWorld))
      table.text.appendField(frames.worldCovariance(fromEngine: mode.covarianceInWorld))
      try table.endRow()
    }
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
