// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// A description of a table or a log whose lines hold several samples, or are of several kinds.
///
/// Written as JSON:
///
/// ```json
/// { "delimiter": "comma", "header": false,
///   "lines": [ {
///     "where": { "2": "DIST" },
///     "groups": { "start": 4, "size": 6, "count": 3 },
///     "samples": [ { "timestamp": 1, "peer": "+2", "distance": "+6" } ] } ] }
/// ```
///
/// Columns are named by the header or by their number from 1; `+1` is the first column of a group. A
/// value is a column, or an object with a `column` or a constant `text`, a `unit` and numbers that stand
/// for no measurement (`missing`). `where` names the texts that columns must hold for a line to be of
/// that kind; lines of no kind are left out. `groups` repeats the samples for columns that repeat: from
/// `start` on, `size` columns each, as often as the column `count` says, or to the end of the line.
public struct TableLayout: Hashable, Sendable {
  /// Where a value stands.
  enum Place: Hashable, Sendable {
    case column(String)
    /// The column of a group, from 1.
    case ofGroup(Int)
    case text(String)
  }

  /// A value of a sample.
  struct Value: Hashable, Sendable {
    var place: Place
    var unit: String?
    var missing: [Double] = []
  }

  /// Columns that repeat.
  struct Groups: Hashable, Sendable {
    var start: Int
    var size: Int
    /// The column that says how many groups there are.
    var count: String?
  }

  /// A kind of line.
  struct Line: Hashable, Sendable {
    var filters: [String: Set<String>] = [:]
    var groups: Groups?
    /// The values of each sample, by our names.
    var samples: [[String: Value]] = []
  }

  var delimiter = MappedTable.Delimiter.comma
  var hasHeader = true
  var lines: [Line] = []
}

extension TableLayout {
  /// Makes the layout of a table with a column of distances for each peer.
  ///
  /// - Parameters:
  ///   - table: The table, whose map names the column of the time, and the unit of distances.
  ///   - peers: The peers, and the columns of their distances.
  public init(table: MappedTable, peerColumns peers: [(peer: String, column: String)]) {
    delimiter = table.delimiter
    hasHeader = table.hasHeader
    let map = table.map
    let time = Value(
      place: .column(map.name(of: "timestamp")),
      unit: map.statesTimeUnit ? map.timeUnit.rawValue : nil)
    let samples = peers.map { peer, column in
      [
        "timestamp": time, "peer": Value(place: .text(peer)),
        "distance": Value(
          place: .column(column), unit: map.unit(of: "distance"),
          missing: map.missingValues(of: "distance")),
      ]
    }
    lines = [Line(filters: table.filters, groups: nil, samples: samples)]
  }

  /// Reads a layout from a file.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: The first fault, with its place.
  public init(path: String) throws(RecordingError) {
    try self.init(json: FileBytes.read(path: path), file: path)
  }

  /// Reads a layout from its JSON text.
  init(json: [UInt8], file: String) throws(RecordingError) {
    let root = try LayoutObject(
      LocatedJSON.parse(json, file: file), file: file,
      keys: ["delimiter", "header", "lines"])
    if let text = try root.text("delimiter") {
      guard let known = MappedTable.Delimiter(rawValue: text) else {
        let names = MappedTable.Delimiter.allCases.map(\.rawValue).joined(separator: ", ")
        throw root.fault("delimiter", "is unknown", remedy: "write one of \(names)")
      }
      delimiter = known
    }
    hasHeader = try root.flag("header") ?? true
    for line in try root.objects("lines", keys: ["where", "groups", "samples"]) {
      lines.append(try Self.line(line))
    }
    guard !lines.isEmpty else {
      throw root.fault("lines", "is empty", remedy: "describe at least one kind of line")
    }
  }

  private static func line(_ object: LayoutObject) throws(RecordingError) -> Line {
    var line = Line()
    line.filters = try object.filters("where")
    if let groups = try object.object("groups", keys: ["start", "size", "count"]) {
      let (start, size) = (try groups.whole("start"), try groups.whole("size"))
      guard let start, let size, (1...10_000).contains(start), (1...10_000).contains(size) else {
        throw object.fault(
          "groups", "lacks a start or a size from 1 to 10000", remedy: "write both")
      }
      line.groups = Groups(start: start, size: size, count: try groups.column("count"))
    }
    let keys = FieldMap.rangingKeys
    for sample in try object.objects("samples", keys: keys) {
      var values: [String: Value] = [:]
      for key in keys {
        if let value = try sample.value(key) { values[key] = value }
      }
      let isMeasured = RangingColumn.all.contains { values[$0.name] != nil }
      guard values["timestamp"] != nil, values["peer"] != nil, isMeasured else {
        throw object.fault(
          "samples", "has one without timestamp, peer or a measurement",
          remedy: "write all three, as in { \"timestamp\": 1, \"peer\": 2, \"distance\": 3 }")
      }
      line.samples.append(values)
    }
    guard !line.samples.isEmpty else {
      throw object.fault("samples", "is missing", remedy: "say what a line of that kind holds")
    }
    return line
  }
}
