// SPDX-License-Identifier: Apache-2.0

/// A table of comma-separated values on its way into a file, handed to the system in large pieces.
package struct TableFile: ~Copyable {
  /// Text is handed over in pieces of this size, bytes.
  private static let pieceSize = 1 << 16

  /// The row that is being written, behind those not handed over yet.
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

  /// Ends the file and puts it in its place.
  package consuming func commit() throws(RecordingError) {
    try flush()
    try file.commit()
  }

  /// Where the rows are until then.
  package var temporaryPath: String { file.temporaryPath }

  /// Hands over the rows that were written.
  package mutating func flush() throws(RecordingError) {
    try file.write(text)
    text.removeAll()
  }
}
