// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Reads ranging as a ``TableLayout`` describes it.
struct LayoutReader: ~Copyable, RangingSource {
  /// A value with the place of its column.
  private struct Field {
    enum Source {
      case place(Int)
      case ofGroup(Int)
      case text(String)
    }

    var key: String
    var source: Source
    var conversion: FieldMap
  }

  private struct Kind {
    var filters: [(place: Int, texts: Set<String>)] = []
    var groups: TableLayout.Groups?
    var countPlace: Int?
    var samples: [[Field]] = []
  }

  private(set) var leftOut: [String: Int] = [:]
  var findings: [RecordingFinding] { clock.findings(of: rows.lines.file) }
  let columns: Set<RecordingWriter.OptionalColumn>

  private var rows: DelimitedReader
  private var kinds: [Kind] = []
  private var clock: TableClock
  /// The samples of the line, last first.
  private var ready: [RangingRow] = []

  init(path: String, _ layout: TableLayout) throws(RecordingError) {
    var rows = try DelimitedReader(path: path, delimiter: layout.delimiter.byte)
    var names: [String] = []
    if layout.hasHeader {
      guard try rows.next(takesComment: true) else {
        throw RecordingError(
          .noSamples, "the file is empty", file: path,
          remedy: "the first line must name the columns")
      }
      for place in 0..<rows.count { names.append(rows.text(place)) }
    }
    var columns: Set<RecordingWriter.OptionalColumn> = []
    var unit: TimeUnit?
    for line in layout.lines {
      kinds.append(try Self.kind(line, names, layout, rows))
      for sample in line.samples {
        columns.formUnion(sample.keys.compactMap { RangingColumn(named: $0)?.optional })
        unit = unit ?? sample["timestamp"]?.unit.flatMap(TimeUnit.init)
        if unit == nil, case .column(let column)? = sample["timestamp"]?.place {
          unit = ColumnName(column).unit.flatMap(TimeUnit.init)
        }
      }
    }
    clock = TableClock(unit: unit)
    self.columns = columns
    self.rows = rows
  }

  private static func kind(
    _ line: TableLayout.Line, _ names: [String], _ layout: TableLayout,
    _ rows: borrowing DelimitedReader
  ) throws(RecordingError) -> Kind {
    func place(_ column: String) throws(RecordingError) -> Int {
      guard
        let place = MappedTableReader.place(
          of: column, among: names, hasHeader: layout.hasHeader)
      else { throw MappedTableReader.unknownColumn(column, names, rows) }
      return place
    }
    var kind = Kind(groups: line.groups)
    for (column, texts) in line.filters.sorted(by: { $0.key < $1.key }) {
      kind.filters.append((try place(column), texts))
    }
    if let column = line.groups?.count { kind.countPlace = try place(column) }
    for sample in line.samples {
      var fields: [Field] = []
      for (key, value) in sample.sorted(by: { $0.key < $1.key }) {
        let source: Field.Source =
          switch value.place {
          case .column(let column): .place(try place(column))
          case .ofGroup(let number): .ofGroup(number - 1)
          case .text(let text): .text(text)
          }
        var conversion = FieldMap(value, of: key)
        if case .place(let place) = source, names.indices.contains(place), value.unit == nil {
          _ = conversion.takeUnit(of: key, fromColumn: names[place])
        }
        fields.append(Field(key: key, source: source, conversion: conversion))
      }
      kind.samples.append(fields)
    }
    return kind
  }

  mutating func next() throws(RecordingError) -> RangingRow? {
    while ready.isEmpty {
      guard try rows.next() else { return nil }
      guard let kind = kindOfLine() else {
        leftOut["lines of no kind that is described", default: 0] += 1
        continue
      }
      for start in try groupStarts(kind) {
        for fields in kind.samples {
          if let row = try row(fields, groupStart: start) { ready.append(row) }
        }
      }
      ready.reverse()
    }
    return ready.popLast()
  }

  private func kindOfLine() -> Kind? {
    for kind in kinds {
      var fits = true
      for filter in kind.filters where !filter.texts.contains(rows.text(filter.place)) {
        fits = false
      }
      if fits { return kind }
    }
    return nil
  }

  /// Where the groups of a line start; the line itself is the only one without groups.
  private func groupStarts(_ kind: Kind) throws(RecordingError) -> [Int] {
    guard let groups = kind.groups else { return [0] }
    let start = groups.start - 1
    let fitting = max(0, (rows.count - start) / groups.size)
    guard let place = kind.countPlace else { return (0..<fitting).map { start + $0 * groups.size } }
    let stated = try rows.finite(place, "the number of groups")
    guard stated >= 0, stated <= Double(fitting), let count = Int(exactly: stated) else {
      throw rows.error(
        .wrongFieldCount, place, "the number of groups",
        "does not fit the \(rows.count) fields of the line",
        remedy: "complete the line, or remove it if the file was cut off")
    }
    return (0..<count).map { start + $0 * groups.size }
  }

  /// A sample of the line; `nil` when nothing was measured.
  private mutating func row(
    _ fields: [Field], groupStart: Int
  ) throws(RecordingError) -> RangingRow? {
    var row = RangingRow(
      timestamp: Timestamp(nanoseconds: 0), peer: "", line: rows.lines.line)
    var isMeasured = false
    for field in fields {
      let place: Int
      switch field.source {
      case .place(let column): place = column
      case .ofGroup(let column): place = groupStart + column
      case .text(let text):
        if field.key == "peer" { row.peer = text }
        continue
      }
      switch field.key {
      case "timestamp": row.timestamp = try clock.timestamp(rows, place)
      case "peer": row.peer = rows.name(place)
      default:
        guard let column = RangingColumn(named: field.key) else { continue }
        guard let value = try field.conversion.value(rows, place, of: field.key) else { continue }
        row.values[column] = column.unit == .flag ? (value != 0 ? 1 : 0) : value
        if MeasurementKind.allCases.contains(where: { $0.column == column }) { isMeasured = true }
      }
    }
    return isMeasured ? row : nil
  }
}
