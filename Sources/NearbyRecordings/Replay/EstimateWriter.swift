// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Writes `estimates.csv`: a row for each sample, with the state after it.
///
/// World quantities are turned back to the recording's world, the direction to the recording's device
/// axes; angles are what they are in every frame. What is not available is an empty field. Numbers
/// have ten significant digits.
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

  /// Text is handed to the system in pieces of this size.
  private static let pieceSize = 1 << 16

  private let frames: FrameConvention
  private var file: AtomicFile
  private var text = OutputText()
  /// The texts of sets of reasons met so far: there are few, and they last.
  private var reasonTexts: [ConvergenceReasons: String] = [:]

  /// Starts a file; its folder must exist.
  ///
  /// - Parameters:
  ///   - path: Where the file is to appear, by ``commit()`` and not before.
  ///   - frames: The recording's frames, ``RecordingManifest/frames``.
  /// - Throws: When the file cannot be written.
  public init(path: String, frames: FrameConvention) throws(RecordingError) {
    self.frames = frames
    file = try AtomicFile(path: path)
    text.append(Self.columns.joined(separator: ",") + "\n")
  }

  /// Writes a row.
  ///
  /// - Parameters:
  ///   - row: The row of `ranging.csv`.
  ///   - report: What became of it.
  ///   - estimate: The state after it, in the engine's frames.
  /// - Throws: When the file cannot be written.
  public mutating func write(
    _ row: RangingRow, report: SampleReport, estimate: PeerEstimate
  ) throws(RecordingError) {
    text.append(row.timestamp)
    text.append(byte: .comma)
    text.append(peer: row.peer)
    switch estimate.convergence {
    case .unknown: text.append(",unknown,")
    case .converged: text.append(",converged,")
    case .notConverged(let reasons):
      text.append(",notConverged,")
      text.append(description(of: reasons))
    }
    text.appendField(estimate.distance.value)
    text.appendField(estimate.direction.value.map(frames.deviceVector(fromEngine:)))
    text.appendField(estimate.horizontalAngleRadians.value)
    text.append(byte: .comma)
    text.append(estimate.verticalDirection.rawValue)
    text.appendField(
      estimate.worldTransform.value.map { frames.worldVector(fromEngine: $0.translation) })
    text.appendField(estimate.meanInWorld.map(frames.worldVector(fromEngine:)))
    text.appendField(
      estimate.meanInWorld.map { _ in
        frames.worldCovariance(fromEngine: estimate.covarianceInWorld)
      })
    text.appendField(estimate.distance.sigma)
    text.appendField(estimate.horizontalAngleRadians.sigma)
    text.append(byte: .comma)
    text.append(estimate.hypothesisCount)
    text.appendField(report.normalizedInnovationSquared)
    text.append(byte: .comma)
    text.append(report.use.rawValue)
    text.append(byte: .lf)
    if text.bytes.count >= Self.pieceSize { try flush() }
  }

  /// Ends the file and puts it in its place.
  public consuming func commit() throws(RecordingError) {
    try flush()
    try file.commit()
  }

  private mutating func flush() throws(RecordingError) {
    try file.write(text)
    text.removeAll()
  }

  private mutating func description(of reasons: ConvergenceReasons) -> String {
    if let text = reasonTexts[reasons] { return text }
    let text = reasons.description
    reasonTexts[reasons] = text
    return text
  }
}
