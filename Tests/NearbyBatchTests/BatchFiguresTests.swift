// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyRecordings
import Testing

@testable import NearbyBatch

@Suite("Figures of a batch")
struct BatchFiguresTests {
  @Test("quantiles are interpolated, and NaN is left out")
  func quantiles() {
    #expect(BatchFigures.quantile(0.5, []) == nil)
    #expect(BatchFigures.quantile(0.5, [nil, .nan]) == nil)
    #expect(BatchFigures.quantile(0.9, [7]) == 7)
    #expect(BatchFigures.quantile(0.5, [4, nil, 1, 2, .infinity, 3]) == 2.5)
    #expect(BatchFigures.quantile(0.9, (0...10).map(Double.init)) == 9)
    #expect(BatchFigures.quantile(1, [1, 2]) == 2)
  }

  private func entry(_ id: String, _ peers: [(converged: Double?, wrong: Double, of: Int)])
    -> BatchReport.Entry
  {
    let rows = peers.enumerated().map { index, figures in
      var peer = PeerSummary(id: "p\(index)", motion: .stationary)
      peer.samples = 100
      peer.samplesRejected = 3
      peer.secondsToFirstConvergence = figures.converged
      var errors = ErrorStatistics()
      errors.convergedSamples = figures.of
      errors.falselyConvergedShare = figures.of > 0 ? figures.wrong : nil
      peer.errors = errors
      return BatchRow(peer: peer, duration: 9)
    }
    return BatchReport.Entry(
      item: BatchItem(id: id, folder: "", bytes: 1), isKept: false, outcome: .success(rows))
  }

  @Test("groups are counted apart, and all together; a share is weighted by its samples")
  func groups() {
    let failed = BatchReport.Entry(
      item: BatchItem(id: "b/3", folder: "", bytes: 1), isKept: false, outcome: .failure("why"))
    let report = BatchReport(entries: [
      entry("a/1", [(2, 0.5, 10), (nil, 0, 0)]), entry("b/2", [(4, 0, 30)]), failed,
    ])
    #expect(report.groups.map(\.group) == ["a", "b"])
    #expect(report.groups.map(\.recordings) == [1, 2])
    #expect(report.groups.map(\.failed) == [0, 1])
    #expect(report.groups.map(\.convergedPeers) == [1, 1])
    #expect(report.groups[0].falselyConvergedShare == 0.5)
    let all = report.all
    #expect(all.recordings == 3 && all.failed == 1 && all.peers == 3 && all.convergedPeers == 2)
    #expect(all.samples == 300 && all.samplesRejected == 9)
    #expect(all.medianSecondsToConvergence == 3)
    #expect(all.falselyConvergedShare == 5.0 / 40)
    #expect(report.failures.map(\.message) == ["why"])
  }

  @Test("a row has a field for each column")
  func columns() throws {
    var text = OutputText()
    guard case .success(let rows) = entry("a/1", [(2, 0.5, 10)]).outcome else { return }
    let item = BatchItem(id: "a/1, \"x\"", folder: "", bytes: 1)
    text.append(try #require(rows.first).cells(of: item))
    let line = String(decoding: text.bytes, as: UTF8.self)
    #expect(line.hasPrefix("\"a/1, \"\"x\"\"\",a,p0,stationary,100,3,9,"))
    // The name holds a comma, too.
    #expect(line.count { $0 == "," } == BatchRow.columns.count)
  }
}
