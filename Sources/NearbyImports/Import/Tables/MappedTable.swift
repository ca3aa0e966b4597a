// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry
internal import NearbyRecordings

/// The format of a foreign table and the meaning of its columns.
public struct MappedTable: Hashable, Sendable {
  /// The delimiter of fields.
  public enum Delimiter: String, Hashable, Sendable, CaseIterable {
    /// A comma.
    case comma
    /// A semicolon.
    case semicolon
    /// A tabulator.
    case tab
    /// Blanks or tabulators, any number.
    case blanks

    var byte: UInt8? {
      switch self {
      case .comma: .comma
      case .semicolon: UInt8(ascii: ";")
      case .tab: .tab
      case .blanks: nil
      }
    }
  }

  /// The meaning of the columns; a number refers to a column by its index, from 1.
  public var map: FieldMap
  /// The delimiter of fields.
  public var delimiter: Delimiter
  /// Whether the first line names the columns.
  public var hasHeader: Bool
  /// Which rows are read: those whose column holds one of some texts, for each column that is named.
  ///
  /// Columns are named as in the map, by their name or their number from 1.
  public var filters: [String: Set<String>] = [:]

  /// Makes a description of a table.
  public init(map: FieldMap = FieldMap(), delimiter: Delimiter = .comma, hasHeader: Bool = true) {
    self.map = map
    self.delimiter = delimiter
    self.hasHeader = hasHeader
  }
}

/// Reads a foreign table row by row, with values found through a map.
struct MappedTableReader: ~Copyable, Sendable {
  private(set) var rows: DelimitedReader
  let map: FieldMap
  /// The number of fields that each row must have, from the header.
  private let fieldCount: Int?
  private let fieldOfKey: [String: Int]
  private let filters: [(place: Int, texts: Set<String>)]
  /// How many rows the filters left out.
  private(set) var filteredRows = 0
  private var clock: TableClock
  /// Units that were taken from the names of columns, as sentences.
  private let chosen: [String]
  /// Whether the line that is read first is the first row, too, as its keys name the columns.
  private var isHeld: Bool
  /// The names of the columns, for messages; empty without a header.
  private let names: [String]

  init(path: String, _ table: MappedTable, keys: [String]) throws(RecordingError) {
    var rows = try DelimitedReader(path: path, delimiter: table.delimiter.byte)
    var map = table.map
    var fieldCount: Int?
    var fieldOfKey: [String: Int] = [:]
    var names: [String] = []
    var isHeld = false
    if table.hasHeader {
      guard try rows.next(takesComment: true) else {
        throw RecordingError(
          .noSamples, "the file is empty", file: path,
          remedy: "the first line must name the columns")
      }
      if let paths = rows.pathsInJSON {
        names = paths
        try rows.readAsJSON(paths)
        isHeld = true
      } else {
        for place in 0..<rows.count { names.append(rows.text(place)) }
        fieldCount = names.count
      }
    }
    var filters: [(place: Int, texts: Set<String>)] = []
    var chosen: [String] = []
    for (column, texts) in table.filters.sorted(by: { $0.key < $1.key }) {
      guard let place = Self.place(of: column, among: names, hasHeader: table.hasHeader) else {
        throw Self.unknownColumn(column, names, rows)
      }
      filters.append((place, texts))
    }
    for key in keys {
      let name = map.name(of: key)
      if let place = names.firstIndex(of: name) {
        fieldOfKey[key] = place
      } else if map.fields[key] != nil {
        guard let place = Self.place(of: name, among: names, hasHeader: table.hasHeader) else {
          throw Self.unknownColumn(name, names, rows)
        }
        fieldOfKey[key] = place
      } else if let place = names.firstIndex(where: { ColumnName($0).quantity == key }) {
        fieldOfKey[key] = place
      }
      if let place = fieldOfKey[key], names.indices.contains(place),
        map.takeUnit(of: key, fromColumn: names[place])
      {
        chosen.append(
          "\(key) is read in \(ColumnName(names[place]).unit ?? ""), as its column says: "
            + "\(names[place])")
      }
    }
    self.filters = filters
    clock = TableClock(map)
    self.rows = rows
    self.map = map
    self.fieldCount = fieldCount
    self.chosen = chosen
    self.isHeld = isHeld
    self.fieldOfKey = fieldOfKey
    self.names = names
  }

  /// The place of a column that is named, or numbered from 1.
  static func place(of column: String, among names: [String], hasHeader: Bool) -> Int? {
    if let place = names.firstIndex(of: column) { return place }
    guard let number = Int(column), number > 0, number <= names.count || !hasHeader else {
      return nil
    }
    return number - 1
  }

  /// The error of a column that is not there.
  static func unknownColumn(
    _ column: String, _ names: [String], _ rows: borrowing DelimitedReader
  ) -> RecordingError {
    let likely = names.likeliest(for: column).map { "; did you mean \"\($0)\"?" } ?? ""
    return RecordingError(
      .missingColumn, "there is no column \"\(column)\"\(likely)", file: rows.lines.file,
      line: rows.lines.line,
      remedy: names.isEmpty
        ? "without a header, name columns by their places, from 1"
        : "the columns are \(names.joined(separator: ", "))")
  }

  /// The path of the file.
  var file: String { rows.lines.file }
  /// The line of the row, from 1.
  var line: Int { rows.lines.line }

  /// Whether there is a column for one of our values.
  func has(_ key: String) -> Bool { fieldOfKey[key] != nil }

  /// Throws unless there is a column for one of our values.
  func require(_ key: String, option: String) throws(RecordingError) {
    guard has(key) else {
      throw RecordingError(
        .missingColumn, "no column is mapped to \(key)", file: file, line: line,
        remedy: "name it with \(option) \(key)=COLUMN\(columnList)")
    }
  }

  /// The columns that there are, to end a remedy; empty without a header.
  var columnList: String {
    names.isEmpty ? "" : "; the columns are \(names.joined(separator: ", "))"
  }

  /// Goes to the next row that the filters let through, and returns whether there is one.
  mutating func next() throws(RecordingError) -> Bool {
    while true {
      if !isHeld, try !rows.next() { return false }
      isHeld = false
      if let fieldCount, rows.count != fieldCount {
        throw rows.lineError(
          .wrongFieldCount,
          "the row has \(rows.count) field\(rows.count == 1 ? "" : "s"), the header has \(fieldCount)",
          remedy: "complete the row, or remove it if the file was cut off")
      }
      if filters.isEmpty { return true }
      var passes = true
      for filter in filters where !filter.texts.contains(rows.text(filter.place)) { passes = false }
      if passes { return true }
      filteredRows += 1
    }
  }

  /// The timestamp of the row.
  mutating func timestamp() throws(RecordingError) -> Timestamp {
    try clock.timestamp(rows, place("timestamp"))
  }

  /// A value of the row in our unit; `nil` when it is empty or stands for no measurement.
  func value(_ key: String) throws(RecordingError) -> Double? {
    guard has(key) else { return nil }
    return try map.value(rows, place(key), of: key)
  }

  /// A value of the row in our unit, which must be there.
  func finite(_ key: String) throws(RecordingError) -> Double {
    guard let found = try rows.foreignNumber(place(key), map.name(of: key)) else {
      throw rows.error(
        .missingValue, place(key), map.name(of: key), "is empty", remedy: "complete the line")
    }
    guard found.number.isFinite else {
      throw rows.error(
        .notFinite, place(key), map.name(of: key), "is not finite", remedy: "leave out the line")
    }
    guard let value = try map.value(rows, place(key), of: key) else {
      throw rows.error(
        .missingValue, place(key), map.name(of: key), "stands for nothing measured",
        remedy: "leave out the row")
    }
    return value
  }

  /// What was chosen and repaired so far.
  var findings: [RecordingFinding] {
    chosen.map { RecordingFinding(.note, .chosen, $0) } + clock.findings(of: file)
  }

  /// The name in a column.
  func name(_ key: String) -> String { rows.name(place(key)) }

  /// The first column whose name passes a test.
  func firstColumn(where passes: (String) -> Bool) -> String? { names.first(where: passes) }

  /// The text of a column.
  func text(ofColumn column: String) -> String {
    guard let place = names.firstIndex(of: column) else { return "" }
    return rows.text(place)
  }

  /// The text of a value.
  func text(_ key: String) -> String { rows.text(place(key)) }

  /// Whether a flag is set; `nil` when it is empty.
  func flag(_ key: String) throws(RecordingError) -> Bool? {
    guard has(key) else { return nil }
    switch text(key).lowercased() {
    case "": return nil
    case "0", "false": return false
    case "1", "true": return true
    default:
      throw rows.error(
        .malformedField, place(key), map.name(of: key), "is neither true nor false",
        remedy: "write 0, 1, true or false, or leave the field empty")
    }
  }

  private func place(_ key: String) -> Int { fieldOfKey[key] ?? -1 }
}
