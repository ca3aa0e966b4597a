// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A column that a CSV file may have.
struct CSVColumn {
  var name: String
  var isRequired: Bool

  static func required(_ name: String) -> CSVColumn { CSVColumn(name: name, isRequired: true) }
  static func optional(_ name: String) -> CSVColumn { CSVColumn(name: name, isRequired: false) }
}

/// A CSV file with a header row, row by row, its fields found by column name.
///
/// Columns come in any order; unknown ones are skipped with a warning each. Fields may be quoted
/// (RFC 4180), but a quoted field may not hold a line break. Empty lines are skipped.
struct CSVReader: ~Copyable, Sendable {
  /// The oddities met so far.
  var warnings = RecordingWarnings()
  private(set) var lines: LineReader

  private let names: [String]
  /// For each column the field of a line that belongs to it; -1 when the file lacks the column.
  private var fieldOfColumn: [Int]
  /// Where each field of the line lies in the buffer, without the blanks around it.
  private var fields: [Range<Int>] = []
  private var lineRange = 0..<0

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  ///   - columns: The columns in the order in which ``field(_:)`` and the like count them.
  /// - Returns: The reader, before the first row.
  /// - Throws: When the file cannot be read, is empty, or lacks a required column.
  static func open(
    path: String, file: String, columns: [CSVColumn]
  ) throws(RecordingError) -> CSVReader {
    var reader = CSVReader(try LineReader(path: path, file: file), columns)
    try reader.readHeader(columns)
    return reader
  }

  private init(_ lines: consuming LineReader, _ columns: [CSVColumn]) {
    self.lines = lines
    names = columns.map(\.name)
    fieldOfColumn = Array(repeating: -1, count: columns.count)
  }

  private mutating func readHeader(_ columns: [CSVColumn]) throws(RecordingError) {
    let expected = columns.filter(\.isRequired).map(\.name).joined(separator: ",")
    guard let line = try nextLine() else {
      throw RecordingError(
        .noSamples, "the file is empty", file: lines.file,
        remedy: "the first line must name the columns: \(expected)")
    }
    var position = line.lowerBound
    repeat {
      let field = try nextField(&position)
      var name = DecimalText.string(lines.buffer.span, field)
      if fields.isEmpty, name.hasPrefix("#") {
        name = String(name.dropFirst().drop { $0 == " " })
      }
      if let column = names.firstIndex(of: name) {
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
      fields.append(field)
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
    guard let line = try nextLine() else { return false }
    let count =
      if let count = plainFields(of: line) { count } else { try quotedFields(of: line) }
    guard count == fields.count else {
      throw lines.error(
        .wrongFieldCount,
        "the row has \(count) field\(count == 1 ? "" : "s"), the header has \(fields.count)",
        in: line,
        remedy: count < fields.count
          ? "complete the row, or remove it if the file was cut off" : "remove what is too much")
    }
    return true
  }

  /// Finds the fields of a line without quotes, eight bytes at a time.
  ///
  /// - Returns: How many there are; `nil` when there are quotes.
  @inline(__always)
  private mutating func plainFields(of line: Range<Int>) -> Int? {
    // Apart from the reader while its text is looked at.
    var fields: [Range<Int>] = []
    swap(&fields, &self.fields)
    let count = Self.plainFields(of: line, in: lines.buffer.span, &fields)
    self.fields = fields
    return count
  }

  @inline(__always)
  private static func plainFields(
    of line: Range<Int>, in text: Span<UInt8>, _ fields: inout [Range<Int>]
  ) -> Int? {
    precondition(0 <= line.lowerBound && line.upperBound + LineReader.padding <= text.count)
    var found = fields.mutableSpan
    var count = 0
    var start = line.lowerBound
    var position = start
    while position < line.upperBound {
      let bytes = unsafe EightBytes(
        text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self))
      let inLine = EightBytes.first(line.upperBound &- position)
      guard bytes.places(of: .quote) & inLine == 0 else { return nil }
      var commas = bytes.places(of: .comma) & inLine
      while commas != 0 {
        let comma = position &+ commas.trailingZeroBitCount &>> 3
        if count < found.count { unsafe found[unchecked: count] = trimmed(text, start, comma) }
        count &+= 1
        start = comma &+ 1
        commas &= commas &- 1
      }
      position &+= 8
    }
    if count < found.count {
      unsafe found[unchecked: count] = trimmed(text, start, line.upperBound)
    }
    return count + 1
  }

  /// A piece of a line without the blanks at its ends.
  @unsafe @inline(__always)
  private static func trimmed(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Range<Int> {
    var (start, end) = (start, end)
    while start < end, unsafe text[unchecked: start].isBlank { start &+= 1 }
    while start < end, unsafe text[unchecked: end &- 1].isBlank { end &-= 1 }
    return unsafe Range(uncheckedBounds: (start, end))
  }

  /// Finds the fields of any line.
  @inline(never)
  private mutating func quotedFields(of line: Range<Int>) throws(RecordingError) -> Int {
    var position = line.lowerBound
    var count = 0
    repeat {
      let field = try nextField(&position)
      if count < fields.count { fields[count] = field }
      count += 1
    } while position <= line.upperBound
    return count
  }

  /// The next line that is not blank.
  private mutating func nextLine() throws(RecordingError) -> Range<Int>? {
    while let line = try lines.next() {
      lineRange = line
      if !isBlank(line) { return line }
    }
    return nil
  }

  private func isBlank(_ line: Range<Int>) -> Bool {
    let text = lines.buffer.span
    for position in line where !text[position].isBlank { return false }
    return true
  }

  /// Finds the field that begins at a position, and moves on behind its comma.
  ///
  /// After the last field the position is one beyond the end of the line.
  private func nextField(_ position: inout Int) throws(RecordingError) -> Range<Int> {
    let text = lines.buffer.span
    let end = lineRange.upperBound
    precondition(0 <= position && end <= text.count)
    while position < end, unsafe text[unchecked: position].isBlank { position += 1 }
    if position < end, unsafe text[unchecked: position] == .quote {
      return try quotedField(&position)
    }
    let start = position
    while position < end, unsafe text[unchecked: position] != .comma { position += 1 }
    var stop = position
    while stop > start, unsafe text[unchecked: stop - 1].isBlank { stop -= 1 }
    position += 1
    return start..<stop
  }

  /// The field behind the quote at a position.
  @inline(never)
  private func quotedField(_ position: inout Int) throws(RecordingError) -> Range<Int> {
    let text = lines.buffer.span
    let end = lineRange.upperBound
    let start = position + 1
    var stop = start
    while true {
      while stop < end, text[stop] != .quote { stop += 1 }
      guard stop < end else {
        throw lines.error(
          .malformedField, "a quote is not closed", at: start - 1, in: lineRange,
          remedy: "close it on the same line")
      }
      guard stop + 1 < end, text[stop + 1] == .quote else { break }
      stop += 2
    }
    position = stop + 1
    while position < end, text[position].isBlank { position += 1 }
    guard position == end || text[position] == .comma else {
      throw lines.error(
        .malformedField, "there is text after a closing quote", at: position, in: lineRange,
        remedy: "put a comma there, or double the quotes inside the field")
    }
    position += 1
    return start..<stop
  }
}

extension CSVReader {
  /// The number in a column.
  ///
  /// Mutating only so that the reader is not copied on its way here, which cost more than the number.
  ///
  /// - Returns: `nil` when the field is empty.
  /// - Throws: When it holds something else than a number.
  @inline(__always)
  mutating func number(_ column: Int) throws(RecordingError) -> Double? {
    let field = field(column)
    if field.isEmpty { return nil }
    if let value = DecimalText.double(lines.buffer.span, field) { return value }
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

  /// The moment in a column, which must be there.
  @inline(__always)
  mutating func timestamp(_ column: Int) throws(RecordingError) -> Timestamp {
    guard let value = DecimalText.timestamp(lines.buffer.span, field(column)) else {
      throw lines.malformedTimestamp(field(column), in: lineRange)
    }
    return value
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

  /// Where a column's field lies in the buffer of ``lines``.
  @inline(__always)
  func field(_ column: Int) -> Range<Int> {
    let field = fieldOfColumn[column]
    return field < 0 ? 0..<0 : fields[field]
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
