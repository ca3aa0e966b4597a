// SPDX-License-Identifier: Apache-2.0

/// Writes a table of comma-separated values, in large pieces.
package struct TableFile: ~Copyable {
  /// The size of a piece that is written at once, bytes.
  private static let pieceSize = 1 << 16

  /// The rows that were not written to the file yet, and the current one.
  package var text = OutputText()
  private var file: AtomicFile

  /// Starts a file with its row of column names; its folder must exist.
  package init(path: String, columns: [String]) throws(RecordingError) {
    file = try AtomicFile(path: path)
    text.append(columns.joined(separator: ",") + "\n")
  }

  /// Ends a row.
  package mutating func endRow() throws(RecordingError) {
    text.append(byte: .lf)
    if text.count >= Self.pieceSize { try flush() }
  }

  /// Closes the file and renames it to its path.
  package consuming func commit() throws(RecordingError) {
    try flush()
    try file.commit()
  }

  /// The path of the file until then.
  package var temporaryPath: String { file.temporaryPath }

  /// Writes the collected rows to the file.
  package mutating func flush() throws(RecordingError) {
    try file.write(text)
    text.removeAll()
  }
}
