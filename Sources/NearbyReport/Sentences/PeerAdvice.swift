// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
package import NearbyRecordings

/// What to do for a peer that has not converged, in sentences without the peer's name.
package struct PeerAdvice {
  /// The recording's folder, which a command names; `nil` when it is not known.
  private let recording: String?
  private let convergence: ConvergenceConfiguration

  /// Makes the advice of a run.
  package init(_ summary: RunSummary) {
    recording = summary.recording
    convergence = summary.engine.settings.convergence
  }

  /// The advice for a peer, the most useful first; none when it has converged.
  package func sentences(for peer: PeerSummary) -> [String] {
    switch peer.status {
    case .converged: []
    case .unknown where peer.samples == 0: ["no samples"]
    case .unknown: ["none of its samples could be used; \(whereToLook)"]
    case .notConverged where 2 * peer.samplesRejected > peer.samples:
      [
        "\(ShortNumber.percent(peer.samplesRejected, of: peer.samples)) of its samples were "
          + "rejected; \(whereToLook)"
      ]
    case .notConverged:
      peer.reasons.map { reason in words(forReason: reason, of: peer) ?? reason }
    }
  }

  /// Where to look for what is wrong with a recording.
  private var whereToLook: String {
    "'nearby info\(recording.map { " \($0)" } ?? "")' says what is wrong with the recording"
  }

  private func words(forReason name: String, of peer: PeerSummary) -> String? {
    switch name {
    case "insufficientSignalStrength":
      // The reasons are those of the end; the peer may have converged for long before.
      "its last samples could not be used, or none came: come closer, clear the line of sight"
    case "insufficientLighting":
      "the scene is dark: turn on the light"
    case "limitedTracking":
      "the odometry does not say where the device is: \(whereToLook)"
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
    return sigma <= max(convergence.sigmaFloor, convergence.sigmaPerDistance * distance)
  }
}
