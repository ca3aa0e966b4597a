// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyInteraction

final class Finder: NSObject, NISessionDelegate {
  let session = NISession()

  func find(_ peerToken: NIDiscoveryToken) {
    session.delegate = self
    let configuration = NINearbyPeerConfiguration(peerToken: peerToken)
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first, let metres = object.distance else { return }
    print(metres, object.horizontalAngle ?? .nan, session.worldTransform(for: object) as Any)
  }
}
