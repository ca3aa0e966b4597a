// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// A report as one self-contained HTML page, which needs no network and no other files.
///
/// The page holds its style, its script, the plotting library and the report's data. Its
/// `Content-Security-Policy` forbids loading anything, so that it is safe to share.
public struct ReportPage: Sendable {
  private let report: Report
  private let plotly: [UInt8]

  /// Makes the page of a report.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - plotly: The text of `plotly.min.js`, UTF-8.
  public init(_ report: Report, plotly: [UInt8]) {
    self.report = report
    self.plotly = plotly
  }

  /// The page's title: the recordings by name.
  public var title: String {
    "Nearby report: " + report.recordings.map(\.name).joined(separator: ", ")
  }

  /// Writes the page.
  ///
  /// - Parameter file: The file, which the caller commits.
  /// - Throws: When it cannot be written.
  public func write(to file: inout AtomicFile) throws(RecordingError) {
    let page = String(decoding: PackageResources.report_html, as: UTF8.self)
    // Pieces alternate between text and names of placeholders: text, name, text, name, ..., text.
    for (index, piece) in page.split(separator: "@@", omittingEmptySubsequences: false).enumerated()
    {
      if index.isMultiple(of: 2) {
        try file.write(String(piece))
        continue
      }
      switch piece {
      case "title": try file.write(Self.escaped(title))
      case "style": try file.write(PackageResources.report_css)
      case "plotly": try file.write(Self.script(plotly))
      case "data": try file.write(report.json)
      case "script": try file.write(PackageResources.report_js)
      default: preconditionFailure("report.html has a placeholder \(piece) that nothing fills")
      }
    }
  }

  /// Text as the content of an HTML element.
  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// A script as the content of a `<script>` element.
  ///
  /// `</script` can only occur inside a string, where a backslash before the slash does not change
  /// its value.
  package static func script(_ bytes: [UInt8]) -> [UInt8] {
    let end = Array("/script".utf8)
    var safe: [UInt8] = []
    safe.reserveCapacity(bytes.count)
    for index in bytes.indices {
      safe.append(bytes[index])
      let rest = bytes[(index + 1)...].prefix(end.count)
      // 0x20 makes ASCII letters small and leaves the slash as it is.
      if bytes[index] == UInt8(ascii: "<"),
        rest.elementsEqual(end, by: { $0 | 0x20 == $1 | 0x20 })
      {
        safe.append(UInt8(ascii: "\\"))
      }
    }
    return safe
  }
}
