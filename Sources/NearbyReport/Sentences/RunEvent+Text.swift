// SPDX-License-Identifier: Apache-2.0
package import NearbyRecordings

extension RunEvent {
  /// The event as a sentence.
  package var text: String {
    let time = "\(seconds.fixed(decimals: 1)) s"
    let peer = peer ?? "a peer"
    return switch kind {
    case .peerMoved: "\(peer) was moved at \(time)"
    case .peerReturned: "\(peer) was at its former place again at \(time)"
    case .odometrySlipped: "the odometry slipped at \(time)"
    case .slipMeasured:
      "the odometry turned by \((turnDegrees ?? 0).fixed(decimals: 0))° and moved by "
        + "\((metres ?? 0).fixed(decimals: 1)) m at \(time)"
    }
  }
}
