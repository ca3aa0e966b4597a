// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// Rows as text, for tables that other programs put together from runs of their own.
extension BatchRow {
  /// The first line of `batch.csv`.
  public static var header: String { columns.joined(separator: ",") + "\n" }

  /// The lines of `batch.csv` for a run that was not evaluated.
  ///
  /// - Parameters:
  ///   - summary: The summary of the run.
  ///   - id: The recording's name in the table.
  /// - Returns: A line for each peer.
  public static func lines(of summary: RunSummary, id: String) -> String {
    let item = BatchItem(id: id, folder: "", bytes: 0)
    var text = OutputText()
    for peer in summary.peers {
      let row = BatchRow(
        peer: peer, duration: summary.duration, normalizedInnovationSquared: nil, jitter: nil,
        odometryRMSE: nil)
      text.append(row.cells(of: item))
      text.append("\n")
    }
    return String(decoding: text.bytes, as: UTF8.self)
  }
}
