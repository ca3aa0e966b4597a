// SPDX-License-Identifier: Apache-2.0

/// A file of another format on its way out, handed to the system in large pieces.
struct ExportFile: ~Copyable {
  private static let pieceSize = 1 << 16

  /// What is not handed over yet.
  var text = OutputText()
  private var file: AtomicFile

  /// Starts a file; its folder must exist.
  init(path: String) throws(RecordingError) { file = try AtomicFile(path: path) }

  /// Ends a row; its line feed is in the text already.
  mutating func endRow() throws(RecordingError) {
    if text.count >= Self.pieceSize { try flush() }
  }

  /// Ends the file and puts it in its place.
  consuming func commit() throws(RecordingError) {
    try flush()
    try file.commit()
  }

  private mutating func flush() throws(RecordingError) {
    try file.write(text)
    text.removeAll()
  }
}
