// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import NearbyRecordings

/// A file that leads a browser to an address.
///
/// The arguments of a program are seen by every user of the machine, and the address holds the token. So the browser
/// is given the path of a file that only this user may read.
enum BrowserRedirect {
  /// Makes the file.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - environment: Where the folder for it is looked up.
  /// - Returns: The file.
  /// - Throws: When it cannot be written.
  static func file(
    to address: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(RecordingError) -> PrivateFile {
    let text = page(to: address)
    if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"),
      let file = try? PrivateFile(name, below: folder, holding: text)
    {
      return file
    }
    let folder = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    return try PrivateFile(name, below: folder, holding: text)
  }

  private static let name = "open.html"

  /// A page that leads to an address at once, and has a link to it.
  static func page(to address: String) -> String {
    let escaped = address.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;").replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    return """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="refresh" content="0; url=\(escaped)">
      <title>nearby live</title>
      <p><a href="\(escaped)">nearby live</a></p>
      </html>

      """
  }
}
