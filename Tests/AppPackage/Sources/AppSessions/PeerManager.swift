// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

/// Many friends at once: a session for each, found by the token that a callback names.
package final class PeerManager: NSObject, NISessionDelegate {
  package struct Friend {
    package var name: String
    package var distance: Float?
    package var state = "waiting"
    package var reruns = 0
    var session: NISession
  }

  /// The friends by the tokens that they sent.
  package private(set) var friends: [NIDiscoveryToken: Friend] = [:]
  /// Sends a new token of ours to a friend.
  package var sendToken: (_ name: String, NIDiscoveryToken) -> Void = { _, _ in }
  /// The sessions that wait for their friend's token.
  private var invited: [String: NISession] = [:]
  package private(set) var banner: String?

  package override init() {}

  /// Invites a friend: makes a session, and sends its token.
  package func invite(_ name: String) {
    let session = NISession()
    session.delegate = self
    invited[name] = session
    if let token = session.discoveryToken { sendToken(name, token) }
  }

  /// Takes a friend's token.
  package func accept(_ token: NIDiscoveryToken, from name: String) {
    guard let session = invited.removeValue(forKey: name) else { return }
    friends[token] = Friend(name: name, session: session)
    session.run(NINearbyPeerConfiguration(peerToken: token))
  }

  package func remove(_ name: String) {
    for (token, friend) in friends where friend.name == name {
      friend.session.invalidate()
      friends[token] = nil
    }
  }

  package func friend(_ name: String) -> Friend? { friends.values.first { $0.name == name } }

  /// The names of the friends, the nearest first.
  package var nearest: [String] {
    friends.values.filter { $0.distance != nil }
      .sorted { ($0.distance ?? 0) < ($1.distance ?? 0) }.map(\.name)
  }

  private func token(of session: NISession) -> NIDiscoveryToken? {
    friends.first { $0.value.session === session }?.key
  }

  package func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects {
      friends[object.discoveryToken]?.distance = object.distance
      friends[object.discoveryToken]?.state = "here"
    }
  }

  package func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    for object in nearbyObjects {
      friends[object.discoveryToken]?.distance = nil
      switch reason {
      case .timeout:
        friends[object.discoveryToken]?.reruns += 1
        friends[object.discoveryToken]?.state = "looking"
        if let configuration = session.configuration { session.run(configuration) }
      case .peerEnded:
        session.invalidate()
        friends[object.discoveryToken] = nil
      @unknown default: break
      }
    }
  }

  package func session(_ session: NISession, didInvalidateWith error: any Error) {
    let ended = token(of: session).flatMap { friends.removeValue(forKey: $0) }
    switch error {
    case NIError.userDidNotAllow: banner = "Open Settings"
    case NIError.activeSessionsLimitExceeded: banner = "Too many friends"
    // A new session has a new token, which the friend needs.
    default: if let ended { invite(ended.name) }
    }
  }

  package func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration { session.run(configuration) }
  }
}
