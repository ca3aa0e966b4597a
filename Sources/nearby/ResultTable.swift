// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyReport

/// A run's summary as readable text.
struct ResultTable {
  var summary: RunSummary

  /// The text, with a newline at its end.
  var text: String {
    var lines = [headline, ""]
    lines += peerTable.lines
    let survey = summary.survey?.lines ?? []
    if !survey.isEmpty { lines += [""] + survey }
    if let located = summary.located { lines += [""] + Self.lines(of: located) }
    let calibration = summary.calibration?.lines ?? []
    if !calibration.isEmpty { lines += [""] + calibration }
    if let events = summary.events, !events.isEmpty { lines += [""] + eventLines(events) }
    let adviser = PeerAdvice(summary)
    let advice = summary.peers.flatMap { peer in
      adviser.sentences(for: peer).map { "\(peer.id): \($0)" }
    }
    if !advice.isEmpty { lines += [""] + advice }
    if let errors = summary.errors {
      lines += ["", "Errors against the truth, of the peer's position relative to the device:"]
      lines +=
        errorTable(
          summary.peers.compactMap { peer in peer.errors.map { (peer.id, $0) } }, combined: errors
        ).lines
    }
    if let seconds = summary.timing?.smoothingSeconds {
      lines += [
        "", "From the whole recording, smoothed in \(seconds.text(decimals: 1)) s:",
      ]
      lines += smoothedTable.lines
    }
    if let errors = summary.smoothedErrors {
      lines += ["", "Errors of that:"]
      lines +=
        errorTable(
          summary.peers.compactMap { peer in peer.smoothed?.errors.map { (peer.id, $0) } },
          combined: errors
        ).lines
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Where the device was located by range differences.
  private static func lines(of located: LocatedSummary) -> [String] {
    var lines = [
      """
      The device, by \(located.differencesUsed) of \(located.differences) range differences to \
      \(located.anchors.count) anchors (\(located.anchors.count { $0.isInMap }) of known place): \
      located at \(located.located) of \(located.moments) moments
      """
    ]
    if let seconds = located.secondsToFirstFix {
      lines[0] += ", first after \(seconds.text(decimals: 1)) s"
    }
    lines += located.survey?.lines ?? []
    if located.anchors.allSatisfy({ !$0.isInMap }) {
      lines.append(
        "no anchor has a known place, so this is in the first world of the odometry")
    }
    if let place = located.position, let sigma = located.positionSigma {
      let axes = [place.x, place.y, place.z].map { $0.text(decimals: 2) }
      lines.append(
        "at the end it is at \(axes.joined(separator: " ")) ± \(sigma.text(decimals: 2)) m")
    }
    if let errors = located.errors {
      lines.append(
        """
        errors against the truth (\(alignment(of: errors))): \
        RMSE \(errors.rmse.text(decimals: 2)) m, median \(errors.median.text(decimals: 2)) m, \
        largest \(errors.largest.text(decimals: 2)) m, NEES/3 \(errors.consistency.text(decimals: 2))
        """)
    }
    return lines
  }

  /// What brought the truth to the anchors' frame.
  private static func alignment(of errors: LocatedSummary.Errors) -> String {
    if errors.alignment == "anchors" { return "aligned by anchors" }
    let metres = errors.alignmentMetres.text(decimals: 1)
    let degrees = errors.alignmentDegrees.text(decimals: 0)
    return "aligned by the path, whose frame is \(metres) m and \(degrees)° from that of the truth"
  }

  /// The events, of which a long list is cut.
  private func eventLines(_ events: [RunEvent]) -> [String] {
    let rest = events.count - Self.mostEvents
    return events.prefix(Self.mostEvents).map(\.text)
      + (rest > 0 ? ["and \(rest) events more, in \(RunSummary.fileName)"] : [])
  }

  private static let mostEvents = 8

  private var headline: String {
    let seconds = summary.duration.text(decimals: summary.duration < 100 ? 1 : 0)
    let headline = """
      \(summary.name): \(summary.samples) samples in \(seconds) s, \
      \(summary.samplesRejected) rejected
      """
    guard let timing = summary.timing else { return headline }
    return headline + "; fused in \((timing.fusingSeconds * 1e3).text(decimals: 1)) ms"
  }

  private var peerTable: TextTable {
    var table = TextTable(
      header: ["peer", "status", "after s", "lost", "position m", "± m", "distance m", "± m"])
    for peer in summary.peers {
      let position = peer.positionInWorld.map {
        [$0.x, $0.y, $0.z].map { $0.text(decimals: 2) }.joined(separator: ", ")
      }
      table.add([
        peer.id, Self.words(for: peer.status), Self.text(peer.secondsToFirstConvergence, 1),
        peer.secondsToFirstConvergence == nil ? "-" : "\(peer.lossesOfConvergence)",
        position ?? "-", Self.text(peer.positionSigma, 2), Self.text(peer.distance, 2),
        peer.distance == nil ? "-" : Self.text(peer.distanceSigma, 2),
      ])
    }
    return table
  }

  private var smoothedTable: TextTable {
    var table = TextTable(
      header: ["peer", "position m", "± m", "range bias m", "± m", "range scale %", "± %", "modes"])
    for peer in summary.peers {
      guard let smoothed = peer.smoothed else { continue }
      let position = smoothed.positionInWorld.map {
        [$0.x, $0.y, $0.z].map { $0.text(decimals: 2) }.joined(separator: ", ")
      }
      table.add([
        peer.id, position ?? "-", Self.text(smoothed.positionSigma, 2),
        Self.text(smoothed.rangeBias, 2), Self.text(smoothed.rangeBiasSigma, 2),
        Self.text(100 * smoothed.rangeScale, 1), Self.text(100 * smoothed.rangeScaleSigma, 1),
        "\(smoothed.modes.count)",
      ])
    }
    return table
  }

  private func errorTable(
    _ rows: [(String, ErrorStatistics)], combined: ErrorStatistics
  ) -> TextTable {
    var table = TextTable(
      header: [
        "peer", "RMSE converged m", "RMSE 2nd half m", "distance m", "bearing °", "final m",
        "NEES/n", "false %", "out %",
      ])
    for (name, errors) in rows + (rows.count > 1 ? [("all", combined)] : []) {
      table.add([
        name, Self.text(errors.rmseConverged, 3), Self.text(errors.rmseSecondHalf, 3),
        Self.text(errors.medianDistanceErrorSecondHalf, 3),
        Self.text(errors.medianBearingErrorDegreesSecondHalf, 2),
        Self.text(errors.finalError, 3), Self.text(errors.meanNormalizedNEES, 2),
        Self.text(errors.falselyConvergedShare.map { $0 * 100 }, 2),
        Self.text(errors.wronglyPublishedShare.map { $0 * 100 }, 2),
      ])
    }
    return table
  }

  private static func text(_ number: Double?, _ decimals: Int) -> String {
    number.map { $0.text(decimals: decimals) } ?? "-"
  }

  private static func words(for status: ConvergenceStatus) -> String {
    switch status {
    case .unknown: "no data"
    case .notConverged: "not converged"
    case .converged: "converged"
    }
  }
}
