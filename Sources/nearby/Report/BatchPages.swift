// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyRecordings
import NearbyReport

/// The pages of one batch, or of two that are compared: an overview, and the reports on the worst recordings.
struct BatchPages {
  /// How many recordings have a report of their own.
  private static let mostReports = 10

  private let folders: [String]
  private let output: String
  private let isQuiet: Bool

  init(_ folders: [String], output: String, isQuiet: Bool) {
    self.folders = folders.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.output = output
    self.isQuiet = isQuiet
  }

  /// Whether a folder is one that a batch wrote.
  static func isBatch(_ folder: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/\(BatchResults.fileName)")
  }

  /// Writes the folder.
  func write() throws {
    guard folders.count <= 2 else {
      throw CommandFailure(.usage, "one batch is shown or two are compared; name two at most")
    }
    let tables = try folders.map { folder throws(RecordingError) in
      (name: name(of: folder), table: try BatchResults(folder: folder))
    }
    let pages = try OutputFolder(path: output)
    var reports: [String: String] = [:]
    let worst = tables.first?.table.worstRecordings(Self.mostReports) ?? []
    for (index, recording) in worst.enumerated() {
      let file = "worst-\(index + 1).html"
      guard try write(recording, to: pages.path(of: file)) else { continue }
      reports[recording] = file
    }
    var file = try AtomicFile(path: pages.path(of: "index.html"))
    try BatchPage(tables, pages: reports).write(to: &file)
    try file.commit()
    let index = pages.path(of: "index.html")
    pages.keep()
    if !isQuiet {
      let count = tables.reduce(0) { $0 + $1.table.rows.count }
      try StandardOutput.print("\(index): \(count) rows, \(reports.count) reports on the worst")
    }
  }

  /// Writes the report on a recording; `false` where its result or the recording is not there any more.
  private func write(_ recording: String, to path: String) throws -> Bool {
    let results = folders.map { "\($0)/results/\(recording)" }.filter {
      FileManager.default.fileExists(atPath: "\($0)/\(RunSummary.fileName)")
    }
    guard !results.isEmpty else { return false }
    let report: Report
    do {
      report = try Report.gather(results: results)
    } catch {
      if !isQuiet { Diagnostics.note("no report on \(recording): \(error)") }
      return false
    }
    var file = try AtomicFile(path: path)
    try ReportPage(report).write(to: &file)
    try file.commit()
    return true
  }

  /// The shortest name of a batch that tells it from the other one.
  private func name(of folder: String) -> String {
    let parts = folder.split(separator: "/")
    let others = folders.filter { $0 != folder }.map { $0.split(separator: "/") }
    let depth =
      (1...max(1, parts.count)).first { depth in
        !others.contains { $0.suffix(depth) == parts.suffix(depth) }
      } ?? parts.count
    return parts.suffix(depth).joined(separator: "/")
  }
}
