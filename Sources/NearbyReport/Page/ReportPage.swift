// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// A report as one self-contained HTML page, which needs no network and no other files.
///
/// The page holds its style, its scripts and the report's data. Its
/// `Content-Security-Policy` forbids loading anything, so that it is safe to share.
public struct ReportPage: Sendable {
  private let report: Report

  /// Makes the page of a report.
  public init(_ report: Report) { self.report = report }

  /// The page's title: the recordings by name.
  public var title: String {
    "Nearby report: " + report.recordings.map(\.name).joined(separator: ", ")
  }

  /// Writes the page.
  ///
  /// - Parameter file: The file, which the caller commits.
  /// - Throws: When it cannot be written.
  public func write(to file: inout AtomicFile) throws(RecordingError) {
    let (json, numbers) = report.page
    try PageTemplate.write(PackageResources.report_html, to: &file) {
      (name, file) throws(RecordingError) in
      switch name {
      case "title": try file.write(PageTemplate.escaped(title))
      case "style":
        try file.write(PageParts.style)
        try file.write(PackageResources.report_css)
      case "data": try file.write(json)
      case "numbers": try file.write(numbers)
      case "parts":
        for part in [PageParts.view, PageParts.map, PageParts.series] { try file.write(part) }
      case "script": try file.write(PackageResources.report_js)
      default: return false
      }
      return true
    }
  }
}
