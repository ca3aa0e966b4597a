// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Writes `estimates.csv`: a row for each sample, with the state after it.
///
/// World quantities are converted to the recording's world, the direction to the recording's device
/// axes; angles are the same in every frame. A value that is not available is an empty field.
/// Numbers have ten significant digits.
public struct EstimateWriter: ~Copyable {
  /// The file's name in its folder.
  public static let fileName = "estimates.csv"

  /// The columns, in their order.
  public static let columns = [
    "timestamp", "peer", "status", "reasons", "distance", "direction_x", "direction_y",
    "direction_z", "horizontal_angle", "vertical", "world_x", "world_y", "world_z", "mean_x",
    "mean_y", "mean_z", "cov_xx", "cov_xy", "cov_xz", "cov_yy", "cov_yz", "cov_zz",
    "distance_sigma", "horizontal_angle_sigma", "hypotheses", "nis", "used",
  ]

  private let frames: FrameConvention
  private var table: TableFile
  /// Performance: the texts of the sets of reasons.
  ///
  /// There are few, and each is repeated often.
  private var reasonTexts: [ConvergenceReasons: String] = [:]

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
  /// - Parameters:
  ///   - row: The row of `ranging.csv`.
  ///   - report: How the engine treated the row.
  ///   - estimate: The state after it, in the engine's frames.
  /// - Throws: When the file cannot be written.
  public mutating func write(
    _ row: RangingRow, report: SampleReport, estimate: PeerEstimate
  ) throws(RecordingError) {
    table.text.append(row.timestamp)
    table.text.append(byte: .comma)
    table.text.append(name: row.peer)
    switch estimate.convergence {
    case .unknown: table.text.append(",unknown,")
    case .converged: table.text.append(",converged,")
    case .notConverged(let reasons):
      table.text.append(",notConverged,")
      table.text.append(description(of: reasons))
    }
    table.text.appendField(estimate.distance.value)
    table.text.appendField(estimate.direction.value.map(frames.deviceVector(fromEngine:)))
    table.text.appendField(estimate.horizontalAngleRadians.value)
    table.text.append(byte: .comma)
    table.text.append(estimate.verticalDirection.rawValue)
    table.text.appendField(
      estimate.worldTransform.value.map { frames.worldVector(fromEngine: $0.translation) })
    table.text.appendField(estimate.positionInWorld.map(frames.worldVector(fromEngine:)))
    table.text.appendField(
      estimate.positionInWorld.map { _ in
        frames.worldCovariance(fromEngine: estimate.covarianceInWorld)
      })
    table.text.appendField(estimate.distance.sigma)
    table.text.appendField(estimate.horizontalAngleRadians.sigma)
    table.text.append(byte: .comma)
    table.text.append(estimate.hypothesisCount)
    table.text.appendField(report.normalizedInnovationSquared)
    table.text.append(byte: .comma)
    table.text.append(report.use.rawValue)
    try table.endRow()
  }

  /// Writes the collected rows to the file.
  ///
  /// - Throws: When the file cannot be written.
  package mutating func flush() throws(RecordingError) { try table.flush() }

  /// Closes the file and renames it to its path.
  public consuming func commit() throws(RecordingError) {
    try table.commit()
  }

  private mutating func description(of reasons: ConvergenceReasons) -> String {
    if let text = reasonTexts[reasons] { return text }
    let text = reasons.description
    reasonTexts[reasons] = text
    return text
  }
}
