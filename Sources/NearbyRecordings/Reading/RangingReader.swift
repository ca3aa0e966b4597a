// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// `ranging.csv`, row by row in time order.
///
/// Rows may be out of order in the file by up to a second: the reader holds back one second's worth
/// and gives them in order, rows of the same stamp in the order of the file. Memory depends on the
/// rows in a second and on the number of peers, not on the file's size. The reader cannot be copied,
/// since two readers of one file would take each other's lines.
public struct RangingReader: ~Copyable, Sendable {
  /// How far out of order a row may be, seconds.
  public static let reorderingWindow = 1.0
  /// At most so many rows are held back; in a denser file rows may be less out of order.
  public static let reorderingCapacity = 16_384

  /// The peers: those declared, then the others in the order in which the file first names them.
  public private(set) var peers: [String]

  private var csv: CSVReader
  private let declaredCount: Int
  private var indexOfPeer: [String: Int] = [:]
  private var names = PeerNames()
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
    csv = try CSVReader.open(path: path, file: file, columns: Column.all)
    self.peers = peers
    declaredCount = peers.count
    for (index, peer) in peers.enumerated() { indexOfPeer[peer] = index }
  }

  /// The oddities met so far.
  public var warnings: RecordingWarnings { csv.warnings }
  /// The bytes read so far.
  public var bytesRead: Int { csv.lines.bytesRead }
  /// The file's size, bytes.
  public var totalBytes: Int { csv.lines.totalBytes }

  /// The optional columns that the file has.
  var columns: Set<RecordingWriter.OptionalColumn> {
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
      guard try csv.nextRow() else {
        isAtEnd = true
        break
      }
      try hold(try parseRow())
    }
    guard head < held.count else {
      if newest == nil {
        throw csv.noRows("samples", remedy: "a recording needs at least one row of ranging")
      }
      return nil
    }
    // Moving the rest down only once it is the smaller half makes the cost of a row constant.
    if head >= 64, head * 2 >= held.count {
      held.removeFirst(head)
      head = 0
    }
    head += 1
    lastGiven = held[head - 1].timestamp
    let name = names[held[head - 1].name]
    return held[head - 1].row(peer: name.text, index: name.peer)
  }

  /// Whether no row that is still to come can be before the first one held.
  private var isHeadDue: Bool {
    guard head < held.count, let newest else { return false }
    return newest.seconds(since: held[head].timestamp) >= Self.reorderingWindow
      || held.count - head >= Self.reorderingCapacity
  }

  @inline(__always)
  private mutating func hold(_ row: HeldRow) throws(RecordingError) {
    let newest = max(self.newest ?? row.timestamp, row.timestamp)
    let lateness = newest.seconds(since: row.timestamp)
    guard lateness <= Self.reorderingWindow else {
      throw csv.timeWentBack(
        lateness, Column.timestamp,
        remedy: "rows may be out of order by up to a second; sort the rows by time")
    }
    if let lastGiven, row.timestamp < lastGiven {
      throw csv.timeWentBack(
        lateness, Column.timestamp,
        remedy: "there are over \(Self.reorderingCapacity) rows in a second; sort the rows by time")
    }
    self.newest = newest
    var place = held.count
    while place > head, held[place - 1].timestamp > row.timestamp { place -= 1 }
    if place == held.count { held.append(row) } else { held.insert(row, at: place) }
  }

  @inline(__always)
  private mutating func parseRow() throws(RecordingError) -> HeldRow {
    let name = try name()
    var row = HeldRow(
      timestamp: try csv.timestamp(Column.timestamp), name: name, line: csv.lines.line)
    for column in Column.numbers {
      if let value = try csv.number(column) { row.set(column - Column.distance, value) }
    }
    if !csv.isEmpty(Column.nonLineOfSight) {
      row.set(HeldRow.nonLineOfSight, try nonLineOfSight() ? 1 : 0)
    }
    return row
  }

  /// The name in the row, by its place in ``names``.
  private mutating func name() throws(RecordingError) -> Int {
    let field = csv.field(Column.peer)
    if let known = names.next(if: csv.lines.buffer.span, field) {
      names.last = known
      return known
    }
    let text = try csv.peer(Column.peer)
    return names.learn(csv.lines.bytes(field), text, peer: index(of: text))
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

  private func nonLineOfSight() throws(RecordingError) -> Bool {
    switch csv.text(Column.nonLineOfSight).lowercased() {
    case "0", "false": return false
    case "1", "true": return true
    default:
      throw csv.error(
        .malformedField, Column.nonLineOfSight, "is neither true nor false",
        remedy: "write 0, 1, true or false, or leave the field empty")
    }
  }

  private enum Column {
    static let timestamp = 0
    static let peer = 1
    static let distance = 2
    static let azimuth = 3
    static let elevation = 4
    static let distanceSigma = 5
    static let azimuthSigma = 6
    static let elevationSigma = 7
    static let azimuthFigureOfMerit = 8
    static let elevationFigureOfMerit = 9
    static let rssi = 10
    static let nonLineOfSight = 11

    /// The columns of numbers, in the order of a held row's values.
    static let numbers = distance...rssi

    static let all: [CSVColumn] = [
      .required("timestamp"), .required("peer"), .required("distance"), .required("azimuth"),
      .required("elevation"), .optional("distance_sigma"), .optional("azimuth_sigma"),
      .optional("elevation_sigma"), .optional("azimuth_fom"), .optional("elevation_fom"),
      .optional("rssi"), .optional("nlos"),
    ]
  }
}

/// A row as it is held back: a third of a ``RangingRow``, and nothing in it is counted.
private struct HeldRow {
  /// The place of the last value, the only one that is true or false.
  static let nonLineOfSight = 9

  let timestamp: Timestamp
  /// By its place in the reader's names.
  let name: Int
  let line: Int
  private var values = InlineArray<10, Double>(repeating: 0)
  /// A bit for each value that there is.
  private var present: UInt16 = 0

  init(timestamp: Timestamp, name: Int, line: Int) {
    (self.timestamp, self.name, self.line) = (timestamp, name, line)
  }

  @inline(__always)
  mutating func set(_ place: Int, _ value: Double) {
    values[place] = value
    present |= 1 << UInt16(place)
  }

  @inline(__always)
  private func value(_ place: Int) -> Double? {
    present & 1 << UInt16(place) == 0 ? nil : values[place]
  }

  @inline(__always)
  func row(peer: String, index: Int) -> RangingRow {
    RangingRow(
      timestamp: timestamp, peer: peer, peerIndex: index, distance: value(0),
      azimuthRadians: value(1), elevationRadians: value(2), distanceSigma: value(3),
      azimuthSigmaRadians: value(4), elevationSigmaRadians: value(5),
      azimuthFigureOfMerit: value(6), elevationFigureOfMerit: value(7), rssi: value(8),
      isNonLineOfSight: value(Self.nonLineOfSight).map { $0 != 0 }, line: line)
  }
}

/// Peers' names as the file writes them, and who comes after whom: a name that comes when it did
/// before is known without its string.
private struct PeerNames {
  struct Name {
    /// As the file writes it.
    let bytes: [UInt8]
    let text: String
    /// The peer's place in the reader's list.
    let peer: Int
    /// Which name came next, by its place.
    var next = 0
  }

  private var names: [Name] = []
  private var placeOfBytes: [[UInt8]: Int] = [:]
  /// Which name came last, by its place.
  var last = 0

  subscript(place: Int) -> Name { names[place] }

  /// The name whose turn it is, if it is what a field holds.
  @inline(__always)
  func next(if text: Span<UInt8>, _ field: Range<Int>) -> Int? {
    guard last < names.count else { return nil }
    let next = names[last].next
    return names[next].isWritten(text, field) ? next : nil
  }

  /// Takes note of a name that came out of turn.
  mutating func learn(_ bytes: [UInt8], _ text: String, peer: Int) -> Int {
    let place = placeOfBytes[bytes] ?? names.count
    if place == names.count {
      placeOfBytes[bytes] = place
      names.append(Name(bytes: bytes, text: text, peer: peer))
    }
    names[last].next = place
    last = place
    return place
  }
}

extension PeerNames.Name {
  /// Whether a field is this name.
  @inline(__always)
  fileprivate func isWritten(_ text: Span<UInt8>, _ field: Range<Int>) -> Bool {
    guard bytes.count == field.count else { return false }
    for (place, byte) in zip(field, bytes) where text[place] != byte { return false }
    return true
  }
}
