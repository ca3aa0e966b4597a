// SPDX-License-Identifier: Apache-2.0
import NearbyBatch

/// A batch's figures as readable text.
struct BatchTable {
  private let report: BatchReport
  private let seconds: Double
  private let output: String?

  /// Makes a table.
  ///
  /// - Parameters:
  ///   - report: The report of the batch.
  ///   - seconds: How long it took.
  ///   - output: The folder of the tables; `nil` when there are none.
  init(_ report: BatchReport, seconds: Double, output: String?) {
    self.report = report
    self.seconds = seconds
    self.output = output
  }

  /// The text, without a newline at its end.
  var text: String {
    var table = TextTable(
      header: [
        "group", "recordings", "failed", "peers", "converged", "after s", "RMSE m", "90 % m",
        "distance m", "bearing °", "NEES", "false %", "out %", "smoothed m",
      ])
    let groups = report.groups
    for group in groups { table.add(Self.row(group)) }
    if groups.count > 1 { table.add(Self.row(report.all)) }
    let kept = report.entries.count(where: \.isKept)
    let done = report.entries.count - kept
    var last = "\(done) recordings in \(seconds.text(decimals: 1)) s"
    if kept > 0 { last += ", \(kept) kept" }
    if let output {
      last += """
        ; \(BatchReport.tableFile), \(BatchReport.figuresFile) and \(BatchReport.failuresFile) are \
        in \(output)
        """
    }
    return (table.lines + ["", last]).joined(separator: "\n")
  }

  private static func row(_ figures: BatchFigures) -> [String] {
    func text(_ number: Double?, _ decimals: Int) -> String {
      number.map { $0.text(decimals: decimals) } ?? "-"
    }
    return [
      figures.group, "\(figures.recordings)", "\(figures.failed)", "\(figures.peers)",
      "\(figures.convergedPeers)", text(figures.medianSecondsToConvergence, 1),
      text(figures.medianRMSESecondHalf, 3), text(figures.percentile90RMSESecondHalf, 3),
      text(figures.medianDistanceErrorSecondHalf, 3),
      text(figures.medianBearingErrorDegreesSecondHalf, 1), text(figures.medianNormalizedNEES, 2),
      text(figures.falselyConvergedShare.map { 100 * $0 }, 2),
      text(figures.wronglyPublishedShare.map { 100 * $0 }, 2),
      text(figures.medianSmoothedRMSESecondHalf, 3),
    ]
  }
}
