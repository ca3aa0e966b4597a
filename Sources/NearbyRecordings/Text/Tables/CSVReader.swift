// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A column that a CSV file may have.
struct CSVColumn {
  var name: String
  var isRequired: Bool

  static func required(_ name: String) -> CSVColumn { CSVColumn(name: name, isRequired: true) }
  static func optional(_ name: String) -> CSVColumn { CSVColumn(name: name, isRequired: false) }
}

/// Reads a CSV file with a header row, row by row, with fields by column name.
///
/// Columns come in any order; unknown ones are skipped with a warning each. Fields may be quoted
/// (RFC 4180), but a quoted field may not hold a line break. Empty lines are skipped.
struct CSVReader: ~Copyable, Sendable {
  /// The oddities met so far.
  var warnings = RecordingWarnings()
  private(set) var lines: LineReader

  /// The column of each field of a line, in the order of the file; -1 for an unknown column.
  private(set) var columnOfField: [Int] = []

  private let names: [String]
  /// For each column the field of a line that belongs to it; -1 when the file lacks the column.
  private var fieldOfColumn: [Int]
  /// The fields of the row, in the order of the file.
  private var fields: [CSVField] = []
  private var lineRange = 0..<0

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - columns: The columns in the order in which ``field(_:)`` and the like count them.
  /// - Returns: The reader, before the first row.
  /// - Throws: When the file cannot be read, is empty, or lacks a required column.
  static func open(
    _ file: TextFile, columns: [CSVColumn]
  ) throws(RecordingError) -> CSVReader {
    var reader = CSVReader(try LineReader(file), columns)
    try reader.readHeader(columns)
    return reader
  }

  private init(_ lines: consuming LineReader, _ columns: [CSVColumn]) {
    self.lines = lines
    names = columns.map(\.name)
    fieldOfColumn = Array(repeating: -1, count: columns.count)
    // Files rarely have more columns.
    columnOfField.reserveCapacity(columns.count)
    fields.reserveCapacity(columns.count)
  }

  private mutating func readHeader(_ columns: [CSVColumn]) throws(RecordingError) {
    let expected = columns.filter(\.isRequired).map(\.name).joined(separator: ",")
    var header = try nextLine()
    while let line = header, lines.isBlank(line) { header = try nextLine() }
    guard let line = header else {
      throw RecordingError(
        .noSamples, "the file is empty", file: lines.file,
        remedy: "the first line must name the columns: \(expected)")
    }
    var position = line.lowerBound
    repeat {
      let field = try lines.nextField(&position, in: line).place
      var name = DecimalText.string(lines.buffer.span, field)
      if fields.isEmpty, name.hasPrefix("#") {
        name = String(name.dropFirst().drop { $0 == " " })
      }
      let column = names.firstIndex(of: name)
      columnOfField.append(column ?? -1)
      if let column {
        guard fieldOfColumn[column] < 0 else {
          throw lines.error(
            .duplicateColumn, "column \"\(name)\" appears twice", at: field.lowerBound, in: line,
            remedy: "keep one of the two")
        }
        fieldOfColumn[column] = fields.count
      } else {
        warnings.add(
          RecordingWarning(
            .unknownColumn, "unknown column \(lines.excerpt(field)) is ignored", file: lines.file,
            line: lines.line, column: field.lowerBound - line.lowerBound + 1))
      }
      fields.append(CSVField(field))
    } while position <= line.upperBound

    let missing = columns.indices.filter { columns[$0].isRequired && fieldOfColumn[$0] < 0 }
    if !missing.isEmpty {
      let list = missing.map { "\"\(names[$0])\"" }.joined(separator: ", ")
      throw lines.error(
        .missingColumn, "the header lacks \(missing.count == 1 ? "column" : "columns") \(list)",
        in: line, remedy: "the first line must name the columns, separated by commas: \(expected)")
    }
  }

  /// Goes to the next row.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: When the row has too few or too many fields, or a quote is not closed.
  mutating func nextRow() throws(RecordingError) -> Bool {
    while try nextLine() != nil {
      if try findFields() { return true }
    }
    return false
  }

  /// Goes to the next line, which may be blank.
  ///
  /// - Returns: Its range in the buffer of ``lines``; `nil` after the last line.
  @inline(__always)
  mutating func nextLine() throws(RecordingError) -> Range<Int>? {
    guard let line = try lines.next() else { return nil }
    lineRange = line
    return line
  }

  /// Finds the fields of the line.
  ///
  /// - Returns: Whether it is a row; `false` when it is blank.
  /// - Throws: When there are too few or too many, or a quote is not closed.
  mutating func findFields() throws(RecordingError) -> Bool {
    if lines.isBlank(lineRange) { return false }
    let count = try Self.findFields(of: lineRange, in: lines, &fields)
    guard count == fields.count else {
      throw lines.error(
        .wrongFieldCount,
        "the row has \(count) field\(count == 1 ? "" : "s"), the header has \(fields.count)",
        in: lineRange,
        remedy: count < fields.count
          ? "complete the row, or remove it if the file was cut off" : "remove what is too much")
    }
    return true
  }

  /// Finds the fields of a line.
  ///
  /// - Returns: How many there are; those that the header does not have are counted only.
  @inline(__always)
  private static func findFields(
    of line: Range<Int>, in lines: borrowing LineReader, _ fields: inout [CSVField]
  ) throws(RecordingError) -> Int {
    var found = fields.mutableSpan
    var count = 0
    var position = line.lowerBound
    repeat {
      let field = try lines.nextField(&position, in: line)
      if count < found.count { unsafe found[unchecked: count] = field }
      count &+= 1
    } while position <= line.upperBound
    return count
  }
}

extension CSVReader {
  /// The number in a column.
  ///
  /// Performance: `mutating` only to pass the reader by reference; copying it cost more than the
  /// number.
  ///
  /// - Returns: `nil` when the field is empty.
  /// - Throws: When it holds something else than a number.
  @inline(__always)
  mutating func number(_ column: Int) throws(RecordingError) -> Double? {
    guard let field = row(column), !field.place.isEmpty else { return nil }
    if let value = field.number?.ordinaryDouble { return value }
    if let value = DecimalText.double(lines.buffer.span, field.place) { return value }
    throw malformedNumber(column)
  }

  private func malformedNumber(_ column: Int) -> RecordingError {
    error(
      .malformedNumber, column, "is not a number",
      remedy: "write a decimal number or leave the field empty")
  }

  /// The coordinate in a column, which must be there.
  mutating func coordinate(_ column: Int) throws(RecordingError) -> Double {
    guard let value = try number(column) else {
      throw error(.missingValue, column, "is empty", remedy: "write metres")
    }
    guard value.isFinite else {
      throw error(.notFinite, column, "is not finite", remedy: "leave out the row")
    }
    guard abs(value) <= TrajectoryReader.farthest else {
      throw error(
        .valueOutOfRange, column, "is too far away", remedy: "positions are metres, at most 1e7")
    }
    return value
  }

  /// The timestamp in a column, which must be there.
  @inline(__always)
  mutating func timestamp(_ column: Int) throws(RecordingError) -> Timestamp {
    if let value = row(column)?.number?.timestamp { return value }
    if let value = DecimalText.timestamp(lines.buffer.span, field(column)) { return value }
    throw lines.malformedTimestamp(field(column), in: lineRange)
  }

  /// The text in a column, doubled quotes made single; empty when the file lacks the column.
  func text(_ column: Int) -> String {
    let bytes = lines.buffer.span
    let text = DecimalText.string(bytes, field(column))
    for position in field(column) where bytes[position] == .quote {
      return text.replacing("\"\"", with: "\"")
    }
    return text
  }

  /// The range of a column's field in the buffer of ``lines``.
  @inline(__always)
  func field(_ column: Int) -> Range<Int> { row(column)?.place ?? 0..<0 }

  /// A column's field; `nil` when the file lacks the column.
  @inline(__always)
  private func row(_ column: Int) -> CSVField? {
    let field = fieldOfColumn[column]
    return field < 0 ? nil : fields[field]
  }

  /// The peer's name in a column, which must be there.
  func peer(_ column: Int) throws(RecordingError) -> String {
    guard !field(column).isEmpty else {
      throw error(.emptyPeer, column, "is empty", remedy: "name the peer of each row")
    }
    return text(column)
  }

  /// Whether the file has a column.
  func has(_ column: Int) -> Bool { fieldOfColumn[column] >= 0 }

  /// Whether a column's field is empty.
  @inline(__always)
  func isEmpty(_ column: Int) -> Bool { field(column).isEmpty }

  /// An error at a column's field.
  func error(
    _ code: RecordingError.Code, _ column: Int, _ problem: String, remedy: String
  ) -> RecordingError {
    let field = field(column)
    let value = field.isEmpty ? "" : " \(lines.excerpt(field))"
    return lines.error(
      code, "\(names[column])\(value) \(problem)", at: field.lowerBound, in: lineRange,
      remedy: remedy)
  }

  /// The error of a row that is too early.
  func timeWentBack(_ seconds: Double, _ column: Int, remedy: String) -> RecordingError {
    lines.error(
      .timeWentBack, "time goes back by \(seconds) s", at: field(column).lowerBound, in: lineRange,
      remedy: remedy)
  }

  /// The error of a file without rows.
  func noRows(_ what: String, remedy: String) -> RecordingError {
    RecordingError(.noSamples, "holds no \(what)", file: lines.file, remedy: remedy)
  }
}
