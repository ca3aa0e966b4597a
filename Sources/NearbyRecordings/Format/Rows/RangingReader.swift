// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Reads `ranging.csv` row by row, in time order.
///
/// Rows may be out of order in the file by up to a second. The reader buffers one second of rows
/// and returns them in order; rows with the same timestamp keep the order of the file. Memory
/// depends on the rows in a second and on the number of peers, not on the file's size. The reader
/// cannot be copied, since two readers of one file would take each other's lines.
public struct RangingReader: ~Copyable, Sendable {
  /// How far out of order a row may be, seconds.
  public static let reorderingWindow = 1.0
  /// The largest number of buffered rows.
  ///
  /// In a denser file rows must be closer to time order.
  public static let reorderingCapacity = 16_384

  private static let windowNanoseconds = Int64(reorderingWindow * 1e9)

  /// The peers: the declared ones, then the others in the order in which the file first names them.
  public private(set) var peers: [String]

  private var csv: CSVReader
  private let declaredCount: Int
  private var indexOfPeer: [String: Int] = [:]
  private var names = KnownNames()
  private var newest: Timestamp?
  private var lastGiven: Timestamp?
  /// Rows in time order, from ``head`` on.
  private var held: [HeldRow] = []
  private var head = 0
  private var isAtEnd = false

  /// Opens a ranging file and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  ///   - peers: The names of the peers that the manifest declares.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(
    path: String, file: String = "ranging.csv", peers: [String] = []
  ) throws(RecordingError) {
    try self.init(TextFile(path: path, name: file), peers: peers)
  }

  init(_ file: TextFile, peers: [String]) throws(RecordingError) {
    csv = try CSVReader.open(file, columns: Column.all)
    self.peers = peers
    declaredCount = peers.count
    for (index, peer) in peers.enumerated() { indexOfPeer[peer] = index }
  }

  /// Whether a file with only a header is read as one without samples, and is no fault.
  var allowsNoRows = false

  /// The oddities met so far.
  public var warnings: RecordingWarnings { csv.warnings }
  /// The bytes read so far.
  public var bytesRead: Int { csv.lines.bytesRead }
  /// The file's size, bytes.
  public var totalBytes: Int { csv.lines.totalBytes }

  /// The optional columns that the file has.
  package var columns: Set<RecordingWriter.OptionalColumn> {
    var columns: Set<RecordingWriter.OptionalColumn> = []
    for (place, column) in Column.all.enumerated() where csv.has(place) {
      if let optional = RecordingWriter.OptionalColumn(rawValue: column.name) {
        columns.insert(optional)
      }
    }
    return columns
  }

  /// The next row in time order.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault: text where a number belongs, a row without a peer, with a wrong number
  ///   of fields or earlier than the newest by more than a second, a file without rows.
  public mutating func next() throws(RecordingError) -> RangingRow? {
    while !isAtEnd, !isHeadDue {
      guard let line = try csv.nextLine() else {
        isAtEnd = true
        break
      }
      var row = HeldRow(line: csv.lines.line)
      if !Self.parseOrdinary(line, of: csv.lines, csv.columnOfField, &names, into: &row) {
        guard try csv.findFields() else { continue }
        try parseFields(into: &row)
      }
      try hold(row)
    }
    guard head < held.count else {
      if newest == nil, !allowsNoRows {
        throw csv.noRows("samples", remedy: "a recording needs at least one row of ranging")
      }
      return nil
    }
    // Performance: moving the rest only once it is the smaller half makes the cost per row
    // constant.
    if head >= 64, head * 2 >= held.count {
      held.removeFirst(head)
      head = 0
    }
    head += 1
    lastGiven = held[head - 1].timestamp
    let row = held[head - 1]
    return RangingRow(
      timestamp: row.timestamp, peer: names[row.name].text, peerIndex: names[row.name].meaning,
      row.values, line: row.line)
  }

  /// Whether no later row of the file can precede the first buffered one.
  @inline(__always)
  private var isHeadDue: Bool {
    guard head < held.count, let newest else { return false }
    return newest.nanoseconds - held[head].timestamp.nanoseconds >= Self.windowNanoseconds
      || held.count - head >= Self.reorderingCapacity
  }

  @inline(__always)
  private mutating func hold(_ row: HeldRow) throws(RecordingError) {
    let newest = max(self.newest ?? row.timestamp, row.timestamp)
    // No timestamp is beyond 4.6e9 s, so the difference does not overflow.
    guard newest.nanoseconds - row.timestamp.nanoseconds <= Self.windowNanoseconds else {
      throw try timeWentBack(
        newest.seconds(since: row.timestamp),
        remedy: "rows may be out of order by up to a second; sort the rows by time")
    }
    if let lastGiven, row.timestamp < lastGiven {
      throw try timeWentBack(
        newest.seconds(since: row.timestamp),
        remedy: "there are over \(Self.reorderingCapacity) rows in a second; sort the rows by time")
    }
    self.newest = newest
    var place = held.count
    while place > head, held[place - 1].timestamp > row.timestamp { place -= 1 }
    if place == held.count { held.append(row) } else { held.insert(row, at: place) }
  }

  @inline(never)
  private mutating func timeWentBack(
    _ seconds: Double, remedy: String
  ) throws(RecordingError) -> RecordingError {
    // The fast path does not split the row into fields.
    _ = try csv.findFields()
    return csv.timeWentBack(seconds, Column.timestamp, remedy: remedy)
  }

  /// Fast path for common rows: plain numbers, a known peer, no quotes.
  ///
  /// - Returns: Whether it is one; if not, ``parseFields(into:)`` has to say what the line is.
  @inline(__always)
  private static func parseOrdinary(
    _ line: Range<Int>, of lines: borrowing LineReader, _ columns: [Int],
    _ names: inout KnownNames, into row: inout HeldRow
  ) -> Bool {
    let isOrdinary = OrdinaryRow.parse(line, of: lines, columns, emptyFrom: Column.first) {
      column, text, position, end in
      if column == Column.peer { return names.goTo(text, &position, upTo: end) }
      let start = position
      guard let number = DecimalText.plainScan(text, &position, upTo: end) else { return false }
      return row.take(number, column, length: position &- start)
    }
    row.name = names.last
    return isOrdinary
  }

  /// Reads any valid row field by field.
  @inline(never)
  private mutating func parseFields(into row: inout HeldRow) throws(RecordingError) {
    let peer = try csv.peer(Column.peer)
    let index = index(of: peer)
    names.learn(csv.lines.bytes(csv.field(Column.peer)), peer, meaning: index)
    row.name = names.last
    row.timestamp = try csv.timestamp(Column.timestamp)
    for value in RangingColumn.all {
      let column = Column.first + value.index
      row.values[value] =
        value.unit == .flag ? try flag(column) : try csv.number(column)
    }
  }

  private mutating func index(of peer: String) -> Int {
    if let index = indexOfPeer[peer] { return index }
    let index = peers.count
    peers.append(peer)
    indexOfPeer[peer] = index
    if declaredCount > 0 {
      csv.warnings.add(
        RecordingWarning(
          .undeclaredPeer, "peer \"\(peer)\" is not in recording.json; taken as stationary",
          file: csv.lines.file, line: csv.lines.line))
    }
    return index
  }

  private func flag(_ column: Int) throws(RecordingError) -> Double? {
    if csv.isEmpty(column) { return nil }
    switch csv.text(column).lowercased() {
    case "0", "false": return 0
    case "1", "true": return 1
    default:
      throw csv.error(
        .malformedField, column, "is neither true nor false",
        remedy: "write 0, 1, true or false, or leave the field empty")
    }
  }

  fileprivate enum Column {
    static let timestamp = 0
    static let peer = 1
    /// The first of the columns of ``RangingColumn``; the others follow in the same order.
    static let first = 2

    static let all: [CSVColumn] =
      [.required("timestamp"), .required("peer")]
      + RangingColumn.all.map { $0.optional == nil ? .required($0.name) : .optional($0.name) }
  }
}

/// A buffered row.
///
/// Performance: it has no reference-counted members, so that moving it copies bytes.
private struct HeldRow {
  let line: Int
  var timestamp = Timestamp(nanoseconds: 0)
  /// The index of the name in the reader's list.
  var name = 0
  var values = RangingValues()

  @inline(__always)
  init(line: Int) { self.line = line }

  /// Takes the number in one of the columns of a common row.
  ///
  /// - Returns: Whether it may stand there.
  @inline(__always)
  mutating func take(_ number: DecimalText.Scan, _ column: Int, length: Int) -> Bool {
    if column == RangingReader.Column.timestamp {
      guard let moment = number.timestamp else { return false }
      timestamp = moment
      return true
    }
    let place = RangingColumn(index: column &- RangingReader.Column.first)
    guard place.index >= 0, let value = number.ordinaryDouble else { return false }
    guard place == .nonLineOfSight else {
      values.setNumber(value, in: place)
      return true
    }
    values[.nonLineOfSight] = value
    return length == 1 && value <= 1
  }
}
