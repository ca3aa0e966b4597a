// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// `tracking.csv`, row by row: the odometry's quality and the light.
///
/// Memory does not depend on the file's size. The reader cannot be copied, since two readers of one
/// file would take each other's lines.
public struct TrackingReader: ~Copyable, Sendable {
  private var csv: CSVReader
  private var last: Timestamp?

  /// Opens a tracking file and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(path: String, file: String = "tracking.csv") throws(RecordingError) {
    csv = try CSVReader.open(
      path: path, file: file,
      columns: [
        .required("timestamp"), .required("state"), .optional("reason"),
        .optional("ambient_intensity"),
      ])
  }

  /// The oddities met so far.
  public var warnings: RecordingWarnings { csv.warnings }
  /// The bytes read so far.
  public var bytesRead: Int { csv.lines.bytesRead }
  /// The file's size, bytes.
  public var totalBytes: Int { csv.lines.totalBytes }

  /// The next row.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault: an unknown state or reason, an intensity that is no light, time that
  ///   goes back, a wrong number of fields.
  public mutating func next() throws(RecordingError) -> TrackingRow? {
    guard try csv.nextRow() else { return nil }
    let timestamp = try csv.timestamp(0)
    if let last, timestamp < last {
      throw csv.timeWentBack(last.seconds(since: timestamp), 0, remedy: "sort the rows by time")
    }
    last = timestamp
    let intensity = try csv.number(3)
    if let intensity, !(0...1e9).contains(intensity) {
      throw csv.error(
        .valueOutOfRange, 3, "is no amount of light",
        remedy: "write lumens or leave the field empty")
    }
    return TrackingRow(
      sample: TrackingSample(
        timestamp: timestamp, quality: try quality(), ambientIntensityLumens: intensity),
      line: csv.lines.line)
  }

  private func quality() throws(RecordingError) -> TrackingSample.Quality {
    switch csv.text(1) {
    case "normal": return .normal
    case "notAvailable": return .notAvailable
    case "limited":
      if csv.isEmpty(2) { return .limited(.unspecified) }
      guard let reason = TrackingSample.LimitationReason(rawValue: csv.text(2)) else {
        let known = TrackingSample.LimitationReason.allCases.dropFirst().map(\.rawValue)
        throw csv.error(
          .malformedField, 2, "is unknown",
          remedy: "must be empty, \(known.joined(separator: ", "))")
      }
      return .limited(reason)
    default:
      throw csv.error(
        .malformedField, 1, "is unknown", remedy: "must be normal, limited or notAvailable")
    }
  }
}
