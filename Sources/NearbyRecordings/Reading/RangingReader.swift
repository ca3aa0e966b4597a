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
  private var turns = PeerTurns()
  private var newest: Timestamp?
  private var lastGiven: Timestamp?
  /// Rows in time order, from ``head`` on.
  private var held: [RangingRow] = []
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
    return held[head - 1]
  }

  /// Whether no row that is still to come can be before the first one held.
  private var isHeadDue: Bool {
    guard head < held.count, let newest else { return false }
    return newest.seconds(since: held[head].timestamp) >= Self.reorderingWindow
      || held.count - head >= Self.reorderingCapacity
  }

  @inline(__always)
  private mutating func hold(_ row: consuming RangingRow) throws(RecordingError) {
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
  private mutating func parseRow() throws(RecordingError) -> RangingRow {
    let (peer, peerIndex) = try peer()
    return RangingRow(
      timestamp: try csv.timestamp(Column.timestamp), peer: peer, peerIndex: peerIndex,
      distance: try csv.number(Column.distance), azimuthRadians: try csv.number(Column.azimuth),
      elevationRadians: try csv.number(Column.elevation),
      distanceSigma: try csv.number(Column.distanceSigma),
      azimuthSigmaRadians: try csv.number(Column.azimuthSigma),
      elevationSigmaRadians: try csv.number(Column.elevationSigma),
      azimuthFigureOfMerit: try csv.number(Column.azimuthFigureOfMerit),
      elevationFigureOfMerit: try csv.number(Column.elevationFigureOfMerit),
      rssi: try csv.number(Column.rssi),
      isNonLineOfSight: csv.isEmpty(Column.nonLineOfSight) ? nil : try nonLineOfSight(),
      line: csv.lines.line)
  }

  private mutating func peer() throws(RecordingError) -> (name: String, index: Int) {
    let field = csv.field(Column.peer)
    if let known = turns.next(if: csv.lines.buffer.span, field) {
      turns.last = known.index
      return known
    }
    let name = try csv.peer(Column.peer)
    let index = index(of: name)
    turns.learn(field.map { csv.lines.buffer[$0] }, name: name, index: index)
    return (name, index)
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

    static let all: [CSVColumn] = [
      .required("timestamp"), .required("peer"), .required("distance"), .required("azimuth"),
      .required("elevation"), .optional("distance_sigma"), .optional("azimuth_sigma"),
      .optional("elevation_sigma"), .optional("azimuth_fom"), .optional("elevation_fom"),
      .optional("rssi"), .optional("nlos"),
    ]
  }
}

/// Who comes after whom: a peer that comes when it did before is known without its name's string.
private struct PeerTurns {
  fileprivate struct Turn {
    /// The name as it was written last, in the file and read.
    var bytes: [UInt8] = []
    var name = ""
    /// Who came next, by index.
    var next = 0
  }

  private var turns: [Turn] = []
  /// Whose turn it was last, by index.
  var last = 0

  /// The peer whose turn it is, if a field holds its name.
  func next(if text: Span<UInt8>, _ field: Range<Int>) -> (name: String, index: Int)? {
    guard last < turns.count else { return nil }
    let next = turns[last].next
    guard next < turns.count, turns[next].isWritten(text, field) else { return nil }
    return (turns[next].name, next)
  }

  /// Takes note of a peer and of how its name was written.
  mutating func learn(_ bytes: [UInt8], name: String, index: Int) {
    while turns.count <= max(index, last) { turns.append(Turn()) }
    turns[last].next = index
    turns[index].name = name
    turns[index].bytes = bytes
    last = index
  }
}

extension PeerTurns.Turn {
  /// Whether a field is the name as it was written last.
  fileprivate func isWritten(_ text: Span<UInt8>, _ field: Range<Int>) -> Bool {
    guard bytes.count == field.count else { return false }
    for (place, byte) in zip(field, bytes) where text[place] != byte { return false }
    return true
  }
}
