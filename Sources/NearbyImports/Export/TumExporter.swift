// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
public import NearbyRecordings

/// Writes a trajectory in the TUM format, as `evo` reads it: eight columns separated by single
/// blanks, nine decimals of time.
public struct TumExporter: Sendable {
  /// Makes an exporter.
  public init() {}

  /// Writes a trajectory of a recording; the file appears whole or not at all.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - isTruth: Whether to write the true poses.
  ///   - path: Where.
  /// - Returns: How many poses were written.
  /// - Throws: The first fault of the recording; also when it has no truth, or the file cannot be
  ///   written.
  public func export(
    _ recording: RecordingReader, truth isTruth: Bool, to path: String
  ) throws(RecordingError) -> ExportReport {
    if isTruth {
      guard let reader = try recording.truthTrajectory() else {
        throw RecordingError(
          .missingFile, "the recording has no true poses", file: recording.folder,
          remedy: "leave out --truth for its odometry")
      }
      return try export(reader, to: path)
    }
    return try export(try recording.trajectory(), to: path)
  }

  /// Writes a peer's positions as estimated by a run; the file appears whole or not at all.
  ///
  /// - Parameters:
  ///   - peer: The peer's name.
  ///   - estimates: The path of `estimates.csv` or `smoothed.csv`.
  ///   - kind: Which of the two.
  ///   - path: Where.
  /// - Returns: How many positions were written, and how many samples have none.
  /// - Throws: The first fault of the file; also when it has no such peer, or the output cannot be
  ///   written.
  public func export(
    peer: String, estimates: String, kind: EstimateReader.Kind, to path: String
  ) throws(RecordingError) -> ExportReport {
    var reader = try EstimateReader(path: estimates, kind: kind)
    var output = try ExportFile(path: path)
    var report = ExportReport()
    var latest: Timestamp?
    var others: Set<String> = []
    while let row = try reader.next() {
      guard row.peer == peer else {
        others.insert(row.peer)
        continue
      }
      guard let place = row.positionInWorld, latest.map({ $0 < row.timestamp }) ?? true else {
        report.leftOut["samples without a place, or of one stamp", default: 0] += 1
        continue
      }
      latest = row.timestamp
      output.text.appendTum(
        row.timestamp, RigidTransform(rotation: .identity, translation: place))
      report.lines += 1
      try output.endRow()
    }
    guard report.lines > 0 else {
      throw RecordingError(
        .noSamples, "holds no position of a peer \"\(peer)\"", file: estimates,
        remedy: "name one of \(others.sorted().joined(separator: ", "))")
    }
    try output.commit()
    return report
  }

  private func export(
    _ reader: consuming TrajectoryReader, to path: String
  ) throws(RecordingError) -> ExportReport {
    var reader = reader
    var output = try ExportFile(path: path)
    var report = ExportReport()
    while let row = try reader.next() {
      output.text.appendTum(row.timestamp, row.worldFromDevice)
      report.lines += 1
      try output.endRow()
    }
    try output.commit()
    return report
  }
}
