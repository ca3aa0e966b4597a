// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// A run's summary as readable text.
struct ResultTable {
  var summary: RunSummary

  /// The text, with a newline at its end.
  var text: String {
    var lines = [headline, ""]
    lines += peerTable.lines
    let calibration = summary.calibration?.lines ?? []
    if !calibration.isEmpty { lines += [""] + calibration }
    if let events = summary.events, !events.isEmpty { lines += [""] + eventLines(events) }
    let advice = summary.peers.flatMap(advice)
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
      let position = peer.position.map {
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
      let position = smoothed.position.map {
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
        "NEES/n", "false %",
      ])
    for (name, errors) in rows + (rows.count > 1 ? [("all", combined)] : []) {
      table.add([
        name, Self.text(errors.rmseConverged, 3), Self.text(errors.rmseSecondHalf, 3),
        Self.text(errors.medianDistanceErrorSecondHalf, 3),
        Self.text(errors.medianBearingErrorDegreesSecondHalf, 2),
        Self.text(errors.finalError, 3), Self.text(errors.meanNormalizedNEES, 2),
        Self.text(errors.falselyConvergedShare.map { $0 * 100 }, 2),
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

  /// The advice for a peer that has not converged, one line each.
  private func advice(for peer: PeerSummary) -> [String] {
    switch peer.status {
    case .converged: []
    case .unknown where peer.samples == 0: ["\(peer.id): no samples"]
    case .unknown: ["\(peer.id): none of its samples could be used; \(whereToLook)"]
    case .notConverged where 2 * peer.samplesRejected > peer.samples:
      [
        "\(peer.id): \(ShortNumber.percent(peer.samplesRejected, of: peer.samples)) of its samples were "
          + "rejected; \(whereToLook)"
      ]
    case .notConverged:
      peer.reasons.map { reason in
        "\(peer.id): \(words(forReason: reason, of: peer) ?? reason)"
      }
    }
  }

  /// Where to look for what is wrong with a recording.
  private var whereToLook: String {
    "'nearby info\(summary.recording.map { " \($0)" } ?? "")' says what is wrong with the recording"
  }

  private func words(forReason name: String, of peer: PeerSummary) -> String? {
    switch name {
    case "insufficientSignalStrength":
      // The reasons are those of the end; the peer may have converged for long before.
      "its last samples could not be used, or none came: come closer, clear the line of sight"
    case "insufficientLighting":
      "the odometry is limited or the scene is dark: turn on the light"
    case "insufficientMovement":
      isNarrow(peer)
        ? "it may still be at another place: move around"
        : "the device has hardly moved across the line of sight: move around"
    case "insufficientHorizontalSweep":
      isNarrow(peer)
        ? "it may still be at another place: sweep from side to side"
        : "its horizontal place is not resolved: sweep from side to side"
    case "insufficientVerticalSweep":
      isNarrow(peer)
        ? "it may still be at another height: sweep up and down"
        : "its height is not resolved: sweep up and down"
    default: nil
    }
  }

  /// Whether a place is as narrow as convergence asks for, so that only the choice of the place is open.
  private func isNarrow(_ peer: PeerSummary) -> Bool {
    guard let sigma = peer.positionSigma, let distance = peer.distance else { return false }
    let settings = summary.engine.settings.convergence
    return sigma <= max(settings.sigmaFloor, settings.sigmaPerDistance * distance)
  }
}

extension RunEvent {
  /// The event as a sentence.
  fileprivate var text: String {
    let time = "\(seconds.text(decimals: 1)) s"
    let peer = peer ?? "a peer"
    return switch kind {
    case .peerMoved: "\(peer) was moved at \(time)"
    case .peerReturned: "\(peer) was at its former place again at \(time)"
    case .odometrySlipped: "the odometry slipped at \(time)"
    case .slipMeasured:
      "the odometry turned by \((turnDegrees ?? 0).text(decimals: 0))° and moved by "
        + "\((metres ?? 0).text(decimals: 1)) m at \(time)"
    }
  }
}
