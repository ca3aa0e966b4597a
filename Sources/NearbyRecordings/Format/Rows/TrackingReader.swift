// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Reads `tracking.csv` row by row: the odometry's quality and the light.
///
/// Memory does not depend on the file's size. The reader cannot be copied, since two readers of one
/// file would take each other's lines.
public struct TrackingReader: ~Copyable, Sendable {
  private var csv: CSVReader
  private var states = KnownNames()
  private var reasons = KnownNames()
  private var last: Timestamp?

  /// Opens a tracking file and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(path: String, file: String = "tracking.csv") throws(RecordingError) {
    try self.init(TextFile(path: path, name: file))
  }

  init(_ file: TextFile) throws(RecordingError) {
    csv = try CSVReader.open(file, columns: Column.all)
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
  /// - Throws: The first fault: an unknown state or reason, an invalid intensity, time that goes
  ///   back, a wrong number of fields.
  public mutating func next() throws(RecordingError) -> TrackingRow? {
    while let line = try csv.nextLine() {
      var row = Row()
      if !Self.parseOrdinary(
        line, of: csv.lines, csv.columnOfField, &states, &reasons, into: &row)
      {
        guard try csv.findFields() else { continue }
        try parseFields(into: &row)
      }
      if let last, row.timestamp < last {
        // The fast path does not split the row into fields.
        _ = try csv.findFields()
        throw csv.timeWentBack(
          last.seconds(since: row.timestamp), Column.timestamp, remedy: "sort the rows by time")
      }
      last = row.timestamp
      return TrackingRow(
        sample: TrackingSample(
          timestamp: row.timestamp, quality: row.quality, ambientIntensityLumens: row.intensity),
        line: csv.lines.line)
    }
    return nil
  }

  /// Fast path for common rows.
  ///
  /// - Returns: Whether it is one; if not, ``parseFields(into:)`` has to say what the line is.
  @inline(__always)
  private static func parseOrdinary(
    _ line: Range<Int>, of lines: borrowing LineReader, _ columns: [Int],
    _ states: inout KnownNames, _ reasons: inout KnownNames, into row: inout Row
  ) -> Bool {
    OrdinaryRow.parse(line, of: lines, columns, emptyFrom: Column.reason) {
      column, text, position, end in
      switch column {
      case Column.state:
        guard states.goTo(text, &position, upTo: end) else { return false }
        row.state = State(rawValue: states[states.last].meaning) ?? .normal
        return true
      case Column.reason:
        guard reasons.goTo(text, &position, upTo: end) else { return false }
        row.reason = Reason.allCases[reasons[reasons.last].meaning]
        return true
      default:
        guard let number = DecimalText.plainScan(text, &position, upTo: end) else { return false }
        return row.take(number, column)
      }
    }
  }

  /// Reads any valid row field by field.
  @inline(never)
  private mutating func parseFields(into row: inout Row) throws(RecordingError) {
    row = Row()
    row.timestamp = try csv.timestamp(Column.timestamp)
    row.intensity = try csv.number(Column.intensity)
    if let intensity = row.intensity, !Self.light.contains(intensity) {
      throw csv.error(
        .valueOutOfRange, Column.intensity, "is no amount of light",
        remedy: "write lumens or leave the field empty")
    }
    let state = csv.text(Column.state)
    guard let known = State(state) else {
      throw csv.error(
        .malformedField, Column.state, "is unknown",
        remedy: "must be normal, limited or notAvailable")
    }
    states.learn(
      csv.lines.bytes(csv.field(Column.state)), state, meaning: known.rawValue)
    row.state = known
    guard known == .limited, !csv.isEmpty(Column.reason) else { return }
    let reason = csv.text(Column.reason)
    guard let place = Reason.allCases.firstIndex(where: { $0.rawValue == reason }) else {
      let known = Reason.allCases.dropFirst().map(\.rawValue)
      throw csv.error(
        .malformedField, Column.reason, "is unknown",
        remedy: "must be empty, \(known.joined(separator: ", "))")
    }
    reasons.learn(csv.lines.bytes(csv.field(Column.reason)), reason, meaning: place)
    row.reason = Reason.allCases[place]
  }

  private typealias Reason = TrackingSample.LimitationReason

  private static let light = 0...1e9

  fileprivate enum Column {
    static let timestamp = 0
    static let state = 1
    static let reason = 2
    static let intensity = 3

    static let all: [CSVColumn] = [
      .required("timestamp"), .required("state"), .optional("reason"),
      .optional("ambient_intensity"),
    ]
  }

  private enum State: Int {
    case normal, limited, notAvailable

    init?(_ text: String) {
      switch text {
      case "normal": self = .normal
      case "limited": self = .limited
      case "notAvailable": self = .notAvailable
      default: return nil
      }
    }
  }

  /// The values of a row.
  private struct Row {
    var timestamp = Timestamp(nanoseconds: 0)
    var state = State.normal
    var reason = Reason.unspecified
    var intensity: Double?

    var quality: TrackingSample.Quality {
      switch state {
      case .normal: .normal
      case .limited: .limited(reason)
      case .notAvailable: .notAvailable
      }
    }

    /// Takes the number of a column.
    ///
    /// - Returns: Whether it may stand there.
    @inline(__always)
    mutating func take(_ number: DecimalText.Scan, _ column: Int) -> Bool {
      switch column {
      case Column.timestamp:
        guard let moment = number.timestamp else { return false }
        timestamp = moment
        return true
      case Column.intensity:
        guard let value = number.ordinaryDouble, TrackingReader.light.contains(value) else {
          return false
        }
        intensity = value
        return true
      default: return false
      }
    }
  }
}
