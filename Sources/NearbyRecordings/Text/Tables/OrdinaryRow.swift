// SPDX-License-Identifier: Apache-2.0

/// The fast path for common rows of a table: plain numbers, known words, no quotes.
enum OrdinaryRow {
  /// Reads a row in one pass over its bytes.
  ///
  /// - Parameters: - line: Its range in the buffer of the lines. - lines: The file. - columns: The
  /// column of each field, ``CSVReader/columnOfField``. - emptyColumns: The first of the columns
  /// that may be empty; all columns after it may be empty, too. - take: Reads the field of a column
  /// that begins at a position and moves the position behind it. Returns whether it succeeded. -
  /// Returns: Whether the row was read; other rows must be read field by field.
  @inline(__always)
  static func parse(
    _ line: Range<Int>, of lines: borrowing LineReader, _ columns: [Int],
    emptyFrom emptyColumns: Int,
    _ take: (_ column: Int, _ text: Span<UInt8>, _ position: inout Int, _ end: Int) -> Bool
  ) -> Bool {
    let text = lines.buffer.span
    let end = line.upperBound
    guard 0 <= line.lowerBound, end &+ LineReader.padding <= text.count else { return false }
    var position = line.lowerBound
    for column in columns {
      guard position <= end else { return false }
      if unsafe position == end || text[unchecked: position] == .comma {
        guard column >= emptyColumns else { return false }
      } else {
        guard take(column, text, &position, end) else { return false }
      }
      guard unsafe position == end || text[unchecked: position] == .comma else { return false }
      position &+= 1
    }
    return position == end &+ 1
  }
}
