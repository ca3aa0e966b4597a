// SPDX-License-Identifier: Apache-2.0
import ARKit
import NearbyInteraction

/// Guides to an item: what to do with the phone until the item's place is known, then an anchor at the place.
package final class ItemGuide: NSObject, NISessionDelegate, ARSessionDelegate {
  /// The text at the top of the screen.
  package private(set) var banner = ""
  /// All texts of it, in order.
  package private(set) var banners: [String] = []
  /// The anchors that the view draws.
  package private(set) var anchors: [ARAnchor] = []
  package private(set) var arrowDegrees: Int?
  package private(set) var level = ""
  package private(set) var frames = 0
  package private(set) var interruptions = 0

  package let arSession = ARSession()
  private let session = NISession()
  private var item: ARAnchor?

  package override init() {
    super.init()
    arSession.delegate = self
    session.delegate = self
  }

  package var token: NIDiscoveryToken? { session.discoveryToken }

  package func guide(to token: NIDiscoveryToken) {
    let tracking = ARWorldTrackingConfiguration()
    tracking.worldAlignment = .gravity
    tracking.isCollaborationEnabled = false
    tracking.userFaceTrackingEnabled = false
    tracking.initialWorldMap = nil
    arSession.run(tracking)
    session.setARSession(arSession)
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
  }

  private func show(_ text: String) {
    guard text != banner else { return }
    banner = text
    banners.append(text)
  }

  // MARK: NISessionDelegate

  package func sessionDidStartRunning(_ session: NISession) { show("Hold up your phone") }

  package func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first else { return }
    arrowDegrees = object.horizontalAngle.map { Int(($0 * 180 / .pi).rounded()) }
    switch object.verticalDirectionEstimate {
    case .above: level = "above you"
    case .below: level = "below you"
    case .same: level = "on your level"
    case .aboveOrBelow: level = "on another level"
    case .unknown: level = ""
    @unknown default: level = ""
    }
    guard let transform = session.worldTransform(for: object) else { return }
    if let item, simd_distance(item.transform.columns.3, transform.columns.3) < 0.3 { return }
    if let item { arSession.remove(anchor: item) }
    let anchor = ARAnchor(name: "item", transform: transform)
    item = anchor
    arSession.add(anchor: anchor)
  }

  package func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    switch convergence.status {
    case .converged: show("Follow the arrow")
    case .notConverged(let reasons):
      if reasons.contains(.insufficientLighting) {
        show("It is too dark")
      } else if reasons.contains(.insufficientMovement) {
        show("Walk a few steps")
      } else if reasons.contains(.insufficientHorizontalSweep) {
        show("Move the phone from side to side")
      } else if reasons.contains(.insufficientVerticalSweep) {
        show("Move the phone up and down")
      } else if let text = reasons.first?.localizedDescription {
        show(text)
      }
    case .unknown: break
    @unknown default: break
    }
  }

  package func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) { show("The item is gone") }

  package func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration { session.run(configuration) }
  }

  package func session(_ session: NISession, didInvalidateWith error: any Error) {
    show(error.localizedDescription)
  }

  // MARK: ARSessionDelegate

  package func session(_ session: ARSession, didUpdate frame: ARFrame) { frames += 1 }
  package func session(_ session: ARSession, didAdd anchors: [ARAnchor]) { self.anchors += anchors }
  package func session(_ session: ARSession, didRemove anchors: [ARAnchor]) {
    self.anchors.removeAll { old in anchors.contains { $0.identifier == old.identifier } }
  }
  package func sessionWasInterrupted(_ session: ARSession) { interruptions += 1 }
  package func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { false }
}
