// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Reads `truth/peers.csv` row by row: the peers' true positions.
///
/// Memory depends on the number of peers, not on the file's size. The reader cannot be copied, since
/// two readers of one file would take each other's lines.
public struct TruthPeersReader: ~Copyable, Sendable {
  private var csv: CSVReader
  private var names = KnownNames()
  private var indexOfPeer: [String: Int] = [:]
  /// The time of the newest row of each peer.
  private var last: [Timestamp] = []

  /// Opens a file of true positions and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(path: String, file: String = "truth/peers.csv") throws(RecordingError) {
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
  /// - Throws: The first fault: a position that is not finite or beyond 1e7 m, a row without a peer,
  ///   time that goes back for a peer, a wrong number of fields, a file without rows.
  public mutating func next() throws(RecordingError) -> TruthPeerRow? {
    while let line = try csv.nextLine() {
      var row = Row()
      if !Self.parseOrdinary(line, of: csv.lines, csv.columnOfField, &names, into: &row) {
        guard try csv.findFields() else { continue }
        try parseFields(into: &row)
      }
      try takeTime(of: row)
      return TruthPeerRow(
        timestamp: row.timestamp, peer: names[row.name].text,
        positionInWorld: Vector3(row.position[0], row.position[1], row.position[2]),
        line: csv.lines.line)
    }
    if last.isEmpty {
      throw csv.noRows("positions", remedy: "write one row for each peer, or remove the file")
    }
    return nil
  }

  /// Checks that time does not go back for a peer.
  @inline(__always)
  private mutating func takeTime(of row: Row) throws(RecordingError) {
    let peer = names[row.name].meaning
    guard row.timestamp >= last[peer] else {
      // The fast path does not split the row into fields.
      _ = try csv.findFields()
      throw csv.timeWentBack(
        last[peer].seconds(since: row.timestamp), Column.timestamp,
        remedy: "sort the rows of each peer by time")
    }
    last[peer] = row.timestamp
  }

  /// Fast path for common rows.
  ///
  /// - Returns: Whether it is one; if not, ``parseFields(into:)`` has to say what the line is.
  @inline(__always)
  private static func parseOrdinary(
    _ line: Range<Int>, of lines: borrowing LineReader, _ columns: [Int],
    _ names: inout KnownNames, into row: inout Row
  ) -> Bool {
    let isOrdinary = OrdinaryRow.parse(line, of: lines, columns, emptyFrom: Column.all.count) {
      column, text, position, end in
      if column == Column.peer { return names.goTo(text, &position, upTo: end) }
      guard let number = DecimalText.plainScan(text, &position, upTo: end) else { return false }
      return row.take(number, column)
    }
    row.name = names.last
    return isOrdinary
  }

  /// Reads any valid row field by field.
  @inline(never)
  private mutating func parseFields(into row: inout Row) throws(RecordingError) {
    row.timestamp = try csv.timestamp(Column.timestamp)
    let peer = try csv.peer(Column.peer)
    for axis in 0..<3 { row.position[axis] = try csv.coordinate(Column.first + axis) }
    let index = indexOfPeer[peer] ?? last.count
    if index == last.count {
      indexOfPeer[peer] = index
      last.append(row.timestamp)
    }
    names.learn(csv.lines.bytes(csv.field(Column.peer)), peer, meaning: index)
    row.name = names.last
  }

  fileprivate enum Column {
    static let timestamp = 0
    static let peer = 1
    /// The column of x; y and z follow.
    static let first = 2

    static let all: [CSVColumn] = [
      .required("timestamp"), .required("peer"), .required("x"), .required("y"), .required("z"),
    ]
  }

  /// The values of a row.
  private struct Row {
    var timestamp = Timestamp(nanoseconds: 0)
    /// The index of the name in the reader's list.
    var name = 0
    var position: InlineArray<3, Double> = [0, 0, 0]

    /// Takes the number of a column.
    ///
    /// - Returns: Whether it may stand there.
    @inline(__always)
    mutating func take(_ number: DecimalText.Scan, _ column: Int) -> Bool {
      if column == Column.timestamp {
        guard let moment = number.timestamp else { return false }
        timestamp = moment
        return true
      }
      let axis = column &- Column.first
      guard 0 <= axis, axis < 3, let value = number.ordinaryDouble,
        abs(value) <= TrajectoryReader.farthest
      else { return false }
      position[axis] = value
      return true
    }
  }
}
