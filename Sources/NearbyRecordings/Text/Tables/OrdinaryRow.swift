// SPDX-License-Identifier: Apache-2.0

/// Rows of a table as most are written: plain numbers, known words, nothing in quotes.
enum OrdinaryRow {
  /// Reads a row, every byte of which is looked at once.
  ///
  /// - Parameters:
  ///   - line: Where it lies in the buffer of the lines.
  ///   - lines: The file.
  ///   - columns: The column of each field, ``CSVReader/columnOfField``.
  ///   - emptyColumns: The first of the columns that may be empty; those behind it may be, too.
  ///   - take: Takes the field of a column that begins at a position and moves the position behind it;
  ///     says whether it could.
  /// - Returns: Whether it is an ordinary row; if not, what the line is must be found field by field.
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
