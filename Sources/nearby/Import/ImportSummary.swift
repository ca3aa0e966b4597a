// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyImports
import NearbyRecordings

/// The report of an import, in a few lines.
struct ImportSummary {
  /// The lines.
  let text: String

  init(_ report: ImportReport, output: String) {
    var text = OutputText()
    text.append("\(report.name): ")
    if report.differences > 0 {
      text.append("\(report.differences) range differences of \(report.anchors.count) anchors, ")
    }
    switch report.peers.count {
    case 0 where report.differences > 0: break
    case 0: text.append("no ranging, ")
    case 1: text.append("\(report.samples) samples of 1 peer, ")
    case let count: text.append("\(report.samples) samples of \(count) peers, ")
    }
    text.append("\(report.posesWritten) of \(report.posesRead) poses, ")
    if report.truePosesWritten > 0 { text.append("\(report.truePosesWritten) true poses, ") }
    text.append(report.durationSeconds, decimals: 1)
    text.append(" s, ")
    text.append(report.pathLength, decimals: 1)
    text.append(
      " m -> \(output)\n  frames: \(report.frames.up.rawValue) up, device \(report.frames.axes.rawValue)"
    )
    for (what, count) in report.leftOut.sorted(by: { $0.key < $1.key }) {
      text.append("\n  left out: \(count) \(what)")
    }
    for finding in report.findings where finding.severity == .note {
      text.append("\n  \(finding.description)")
    }
    self.text = String(decoding: text.bytes, as: UTF8.self)
  }
}
