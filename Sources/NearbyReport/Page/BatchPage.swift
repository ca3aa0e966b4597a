// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// The figures of a batch as `batch.json` has them, for a page.
public struct BatchResults: Sendable, Decodable {
  /// The results for one peer of one recording.
  public struct Row: Sendable, Decodable {
    /// The recording, as the batch named it.
    public var recording: String
    /// The dataset that it belongs to.
    public var group: String
    /// The peer's name.
    public var peer: String
    /// Seconds to the first convergence; `nil` when there was none.
    public var secondsToConvergence: Double?
    /// The standard deviation of the position at the end, metres.
    public var sigma: Double?
    /// The RMSE of the second half, metres; `nil` without truth, as all that follows.
    public var rmseSecondHalf: Double?
    /// The error at the end, metres.
    public var finalError: Double?
    /// The mean NEES over its degrees of freedom.
    public var nees: Double?
    /// The share of the converged samples that are falsely converged.
    public var falselyConvergedShare: Double?

    private enum CodingKeys: String, CodingKey {
      case recording, group, peer, sigma, nees
      case secondsToConvergence = "seconds_to_convergence"
      case rmseSecondHalf = "rmse_second_half"
      case finalError = "final_error"
      case falselyConvergedShare = "falsely_converged_share"
    }
  }

  /// A recording that failed.
  public struct Failure: Sendable, Decodable {
    /// The recording, as the batch named it.
    public var recording: String
    /// What was wrong.
    public var error: String
  }

  /// The name of the file.
  public static let fileName = "batch.json"

  /// The rows, by recording and peer.
  public var rows: [Row]
  /// The recordings that failed.
  public var failures: [Failure]

  /// Reads the table of a batch.
  ///
  /// - Parameter folder: The folder that the batch wrote.
  /// - Throws: When the file is missing or is not that of a batch.
  public init(folder: String) throws(RecordingError) {
    self = try JSONFile.decode(
      BatchResults.self, path: "\(folder)/\(Self.fileName)",
      remedy: "name a folder that \"nearby batch\" has written")
  }

  /// The recordings that deserve a look, the worst first: those with peers that are confidently wrong, then by
  /// error, then those with peers that were not found.
  public func worstRecordings(_ count: Int) -> [String] {
    let ordered = rows.sorted { a, b in
      let (wrongA, wrongB) = (
        (a.falselyConvergedShare ?? 0) > 0, (b.falselyConvergedShare ?? 0) > 0
      )
      if wrongA != wrongB { return wrongA }
      if a.rmseSecondHalf != b.rmseSecondHalf {
        return a.rmseSecondHalf ?? -1 > b.rmseSecondHalf ?? -1
      }
      return a.secondsToConvergence == nil && b.secondsToConvergence != nil
    }
    var worst: [String] = []
    for row in ordered where worst.count < count && !worst.contains(row.recording) {
      worst.append(row.recording)
    }
    return worst
  }
}

/// A page about one batch, or about two that are compared peer by peer.
///
/// It shows the distributions of errors and of the time to convergence by dataset, claimed against true errors, the
/// worst recordings, and for two batches what changed. It is self-contained, as ``ReportPage`` is.
public struct BatchPage: Sendable {
  private let batches: [(name: String, table: BatchResults)]
  private let pages: [String: String]

  /// Makes a page.
  ///
  /// - Parameters:
  ///   - batches: The batches with their names; the second is compared with the first.
  ///   - pages: The files of the reports on recordings, relative to this page, by the recording's name in the batch.
  public init(_ batches: [(name: String, table: BatchResults)], pages: [String: String]) {
    (self.batches, self.pages) = (batches, pages)
  }

  /// The page's title.
  public var title: String { "Nearby batch: " + batches.map(\.name).joined(separator: ", ") }

  /// Writes the page.
  ///
  /// - Parameter file: The file, which the caller commits.
  /// - Throws: When it cannot be written.
  public func write(to file: inout AtomicFile) throws(RecordingError) {
    try PageTemplate.write(PackageResources.batch_html, to: &file) {
      (name, file) throws(RecordingError) in
      switch name {
      case "title": try file.write(PageTemplate.escaped(title))
      case "style":
        try file.write(PageParts.style)
        try file.write(PackageResources.batch_css)
      case "data": try file.write(json)
      case "parts":
        for part in [PageParts.view, PageParts.series] { try file.write(part) }
      case "script": try file.write(PackageResources.batch_js)
      default: return false
      }
      return true
    }
  }

  private var json: OutputText {
    var json = JSONText()
    json.object { json in
      json.member("format", "nearby-batch")
      json.member("version", 1)
      json.array("batches", batches) { json, batch in
        json.object { json in
          json.member("name", batch.name)
          json.array("rows", batch.table.rows) { json, row in row.write(to: &json) }
          json.array("failures", batch.table.failures) { json, failure in
            json.object { json in
              json.member("recording", failure.recording)
              json.member("error", failure.error)
            }
          }
        }
      }
      json.key("pages")
      json.object { json in
        for (recording, page) in pages.sorted(by: { $0.key < $1.key }) {
          json.member(recording, page)
        }
      }
    }
    return json.text
  }
}

extension BatchResults.Row {
  fileprivate func write(to json: inout JSONText) {
    json.object { json in
      json.member("recording", recording)
      json.member("group", group)
      json.member("peer", peer)
      json.member("seconds_to_convergence", secondsToConvergence, decimals: 3)
      json.member("sigma", sigma, decimals: 4)
      json.member("rmse_second_half", rmseSecondHalf, decimals: 4)
      json.member("final_error", finalError, decimals: 4)
      json.member("nees", nees, decimals: 4)
      json.member("falsely_converged_share", falselyConvergedShare, decimals: 6)
    }
  }
}
