// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// Fills the placeholders of a page, `@@name@@`.
enum PageTemplate {
  /// Writes a page.
  ///
  /// - Parameters:
  ///   - template: The page with its placeholders, UTF-8.
  ///   - file: The file, which the caller commits.
  ///   - fill: Writes what belongs in the place of a name; `false` for a name that it does not know.
  /// - Throws: When the file cannot be written.
  static func write(
    _ template: [UInt8], to file: inout AtomicFile,
    _ fill: (_ name: String, _ file: inout AtomicFile) throws(RecordingError) -> Bool
  ) throws(RecordingError) {
    let page = String(decoding: template, as: UTF8.self)
    // Pieces alternate between text and names of placeholders: text, name, text, name, ..., text.
    for (index, piece) in page.split(separator: "@@", omittingEmptySubsequences: false).enumerated()
    {
      guard !index.isMultiple(of: 2) else {
        try file.write(String(piece))
        continue
      }
      let isKnown = try fill(String(piece), &file)
      precondition(isKnown, "a page has a placeholder that nothing fills")
    }
  }

  /// Text as the content of an HTML element.
  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
