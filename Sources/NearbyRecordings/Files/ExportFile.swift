// SPDX-License-Identifier: Apache-2.0

/// Writes a file of another format, in large pieces.
package struct ExportFile: ~Copyable {
  private static let pieceSize = 1 << 16

  /// The text that was not written to the file yet.
  package var text = OutputText()
  private var file: AtomicFile

  /// Starts a file; its folder must exist.
  package init(path: String) throws(RecordingError) { file = try AtomicFile(path: path) }

  /// Ends a row, whose line feed is already in the text.
  package mutating func endRow() throws(RecordingError) {
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
