// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyInteraction

/// The session logic of an app for phones, as its author would write it, without anything specific
/// to Linux.
class FindingController: NSObject, NISessionDelegate, ARSessionDelegate {
  enum Phase: Equatable { case idle, running, suspended, lost, ended }

  var session: NISession?
  let arSession = ARSession()
  var peerToken: NIDiscoveryToken?
  var phase = Phase.idle
  var distances: [Float] = []
  var directions: [simd_float3] = []
  var angles: [Float] = []
  var places: [simd_float3] = []
  var statuses: [NIAlgorithmConvergenceStatus] = []
  var coaching: Set<String> = []
  var cameraPlace: simd_float3?
  var failure: Error?
  var onUpdate: (() -> Void)?

  var tokenData: Data? {
    guard let token = session?.discoveryToken else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }

  func start() {
    guard NISession.isSupported,
      NISession.deviceCapabilities.supportsPreciseDistanceMeasurement
    else { return }
    session = NISession()
    session?.delegate = self
  }

  func connect(with data: Data, sharesCamera: Bool) {
    guard
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: data)
    else { return }
    peerToken = token
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    if NISession.deviceCapabilities.supportsCameraAssistance {
      configuration.isCameraAssistanceEnabled = true
    }
    if sharesCamera {
      let world = ARWorldTrackingConfiguration()
      world.worldAlignment = .gravity
      world.isCollaborationEnabled = false
      world.userFaceTrackingEnabled = false
      world.initialWorldMap = nil
      arSession.delegate = self
      arSession.run(world)
      session?.setARSession(arSession)
    }
    session?.run(configuration)
  }

  // MARK: - NISessionDelegate

  func sessionDidStartRunning(_ session: NISession) { phase = .running }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first(where: { $0.discoveryToken == peerToken }) else {
      return
    }
    if let distance = object.distance { distances.append(distance) }
    if let direction = object.direction { directions.append(direction) }
    if let angle = object.horizontalAngle { angles.append(angle) }
    switch object.verticalDirectionEstimate {
    case .same, .above, .below, .aboveOrBelow, .unknown: break
    @unknown default: break
    }
    if let transform = session.worldTransform(for: object) {
      places.append(simd_make_float3(transform.columns.3))
    }
    onUpdate?()
  }

  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    statuses.append(convergence.status)
    switch convergence.status {
    case .converged: coaching = []
    case .notConverged(let reasons):
      coaching = Set(reasons.compactMap { $0.localizedDescription })
      if reasons.contains(.insufficientLighting) { coaching.insert("light") }
    case .unknown: break
    @unknown default: break
    }
  }

  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    switch reason {
    case .timeout:
      if let configuration = session.configuration { session.run(configuration) }
    case .peerEnded:
      phase = .lost
      session.invalidate()
    @unknown default: break
    }
    onUpdate?()
  }

  func sessionWasSuspended(_ session: NISession) { phase = .suspended }

  func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration { session.run(configuration) }
  }

  func session(_ session: NISession, didInvalidateWith error: Error) {
    failure = error
    phase = .ended
    if case NIError.userDidNotAllow = error { coaching = ["settings"] }
    if (error as? NIError)?.code == .userDidNotAllow { coaching.insert("code") }
    onUpdate?()
  }

  // MARK: - ARSessionDelegate

  func session(_ session: ARSession, didUpdate frame: ARFrame) {
    cameraPlace = simd_make_float3(frame.camera.transform.columns.3)
  }

  func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { false }
}

/// A delegate that implements only updates.
class DistanceLabel: NSObject, NISessionDelegate {
  var text = "–"
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    text = nearbyObjects.first?.distance.map { String(format: "%.1f m", $0) } ?? "–"
  }
}
