// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Reads `tdoa.csv` row by row, in time order: range differences between anchors.
///
/// Rows may be out of order in the file by up to a second, as those of `ranging.csv`; rows with the same
/// timestamp keep the order of the file, and a row that is there twice comes twice. The reader cannot be
/// copied, since two readers of one file would take each other's lines.
public struct DifferenceReader: ~Copyable, Sendable {
  private var csv: CSVReader
  private let known: Set<String>?
  private var unknown: Set<String> = []
  private var newest: Timestamp?
  /// Rows in time order that may still be preceded.
  private var held: [DifferenceRow] = []
  private var isAtEnd = false
  private var isEmpty = true

  /// Opens a file of range differences and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  ///   - anchors: The names of the anchors whose places are known; any other is a warning. `nil` for any.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(
    path: String, file: String = "tdoa.csv", anchors: [String]? = nil
  ) throws(RecordingError) {
    try self.init(TextFile(path: path, name: file), anchors: anchors)
  }

  init(_ file: TextFile, anchors: [String]?) throws(RecordingError) {
    csv = try CSVReader.open(file, columns: Column.all)
    known = anchors.map(Set.init)
  }

  /// The oddities met so far.
  public var warnings: RecordingWarnings { csv.warnings }
  /// The bytes read so far.
  public var bytesRead: Int { csv.lines.bytesRead }
  /// The file's size, bytes.
  public var totalBytes: Int { csv.lines.totalBytes }

  /// The next row in time order.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault: a difference or a sigma that is no finite number, a row without an anchor or
  ///   with the same one twice, one with a wrong number of fields or earlier than the newest by more than a
  ///   second, a file without rows.
  public mutating func next() throws(RecordingError) -> DifferenceRow? {
    while !isAtEnd, !isFirstDue {
      guard try csv.nextRow() else {
        isAtEnd = true
        break
      }
      try hold(try row())
    }
    if held.isEmpty {
      if isEmpty {
        throw csv.noRows("range differences", remedy: "write a row for each, or remove the file")
      }
      return nil
    }
    return held.removeFirst()
  }

  /// Whether no later row of the file can precede the first that is held.
  private var isFirstDue: Bool {
    guard let first = held.first, let newest else { return false }
    return newest.seconds(since: first.timestamp) >= RangingReader.reorderingWindow
      || held.count >= RangingReader.reorderingCapacity
  }

  private mutating func hold(_ row: DifferenceRow) throws(RecordingError) {
    isEmpty = false
    let newest = max(self.newest ?? row.timestamp, row.timestamp)
    let late = newest.seconds(since: row.timestamp)
    guard late <= RangingReader.reorderingWindow else {
      throw csv.timeWentBack(
        late, Column.timestamp,
        remedy: "rows may be out of order by up to a second; sort the rows by time")
    }
    self.newest = newest
    var place = held.count
    while place > 0, held[place - 1].timestamp > row.timestamp { place -= 1 }
    held.insert(row, at: place)
  }

  private mutating func row() throws(RecordingError) -> DifferenceRow {
    let row = DifferenceRow(
      timestamp: try csv.timestamp(Column.timestamp), from: try anchor(Column.from),
      to: try anchor(Column.to), metres: try metres(Column.difference), sigma: try sigma(),
      line: csv.lines.line)
    if row.from == row.to {
      throw csv.error(
        .malformedField, Column.to, "is also anchor_a",
        remedy: "a difference is between two anchors; remove the row")
    }
    return row
  }

  private mutating func anchor(_ column: Int) throws(RecordingError) -> String {
    guard !csv.isEmpty(column) else {
      throw csv.error(.emptyPeer, column, "is empty", remedy: "name both anchors of each row")
    }
    let name = csv.text(column)
    if let known, !known.contains(name), unknown.insert(name).inserted {
      csv.warnings.add(
        RecordingWarning(
          .undeclaredPeer, "anchor \"\(name)\" is not in the map; it is located, too",
          file: csv.lines.file, line: csv.lines.line))
    }
    return name
  }

  private mutating func metres(_ column: Int) throws(RecordingError) -> Double {
    guard let value = try csv.number(column) else {
      throw csv.error(
        .missingValue, column, "is empty", remedy: "write metres, or leave out the row")
    }
    guard value.isFinite else {
      throw csv.error(.notFinite, column, "is not finite", remedy: "leave out the row")
    }
    return value
  }

  private mutating func sigma() throws(RecordingError) -> Double? {
    guard let sigma = try csv.number(Column.sigma) else { return nil }
    guard sigma > 0, sigma < Self.largestSigma else {
      throw csv.error(
        sigma.isFinite ? .valueOutOfRange : .notFinite, Column.sigma, "is no standard deviation",
        remedy: "write metres above zero, or leave the field empty")
    }
    return sigma
  }

  private static let largestSigma = 1e6

  private enum Column {
    static let timestamp = 0
    static let from = 1
    static let to = 2
    static let difference = 3
    static let sigma = 4

    static let all: [CSVColumn] = [
      .required("timestamp"), .required("anchor_a"), .required("anchor_b"),
      .required("difference"), .optional("sigma"),
    ]
  }
}
