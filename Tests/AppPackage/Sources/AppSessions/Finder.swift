// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

/// Says how far a friend's phone is, and where.
package final class Finder: NSObject, NISessionDelegate {
  /// What the screen shows.
  package private(set) var text = "Waiting for your friend"
  private var session = NISession()

  /// The token that the app sends to the friend's phone.
  package var token: NIDiscoveryToken? { session.discoveryToken }

  /// Begins, with the token that the friend's phone has sent.
  package func find(_ friend: NIDiscoveryToken) {
    let configuration = NINearbyPeerConfiguration(peerToken: friend)
    configuration.isCameraAssistanceEnabled =
      NISession.deviceCapabilities.supportsCameraAssistance
    session.delegate = self
    session.run(configuration)
  }

  package func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let friend = nearbyObjects.first, let distance = friend.distance else {
      text = "Out of reach"
      return
    }
    text = "\(Int(distance.rounded())) m"
    guard let angle = friend.horizontalAngle else { return }
    text += abs(angle) < 0.4 ? ", straight ahead" : angle > 0 ? ", to the right" : ", to the left"
  }

  package func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    text = reason == .peerEnded ? "Your friend has left" : "Lost, looking again"
    if reason == .timeout, let configuration = session.configuration { session.run(configuration) }
  }

  package func sessionWasSuspended(_ session: NISession) { text = "Paused" }

  package func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration { session.run(configuration) }
  }

  package func session(_ session: NISession, didInvalidateWith error: any Error) {
    if case NIError.userDidNotAllow = error {
      text = "Allow Nearby Interaction in Settings"
    } else {
      text = "Start again"
    }
  }
}
