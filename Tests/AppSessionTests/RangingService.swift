// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyInteraction

/// Session logic of a modern app: an object of the main actor with nonisolated delegate methods.
@MainActor
final class RangingService: NSObject {
  enum Status: Equatable {
    case idle, unsupported, denied, ranging, suspended, ended(NIError.Code)
  }

  private(set) var status = Status.idle
  private(set) var distance: Float?
  private(set) var bearing: Double?
  private(set) var place: SIMD3<Float>?
  private(set) var hint: String?
  private(set) var removals: [NINearbyObject.RemovalReason] = []

  static let capabilities = NISession.deviceCapabilities
  private var session: NISession?

  func start() -> Data? {
    guard Self.capabilities.supportsPreciseDistanceMeasurement else {
      status = .unsupported
      return nil
    }
    let session = NISession()
    session.delegate = self
    self.session = session
    guard let token = session.discoveryToken else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }

  /// Handles any message that a peer sent; only tokens have an effect.
  func receive(_ message: Data) {
    guard
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: message)
    else { return }
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    if #available(iOS 16.0, watchOS 9.0, *) {
      configuration.isCameraAssistanceEnabled = Self.capabilities.supportsCameraAssistance
    }
    if token.deviceCapabilities.supportsExtendedDistanceMeasurement,
      Self.capabilities.supportsExtendedDistanceMeasurement
    {
      configuration.isExtendedDistanceMeasurementEnabled = true
    }
    session?.run(configuration)
  }

  func stop() {
    session?.invalidate()
    session = nil
    status = .idle
  }

  private func update(_ object: NINearbyObject, _ transform: simd_float4x4?) {
    distance = object.distance
    bearing = object.direction.map { atan2(Double($0.x), Double(-$0.z)) }
    place = transform.map { SIMD3($0.columns.3.x, $0.columns.3.y, $0.columns.3.z) }
  }
}

extension RangingService: NISessionDelegate {
  nonisolated func sessionDidStartRunning(_ session: NISession) {
    // The delegate's queue is the main one unless another is set.
    MainActor.assumeIsolated { status = .ranging }
  }

  nonisolated func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first else { return }
    dispatchPrecondition(condition: .onQueue(.main))
    let transform = session.worldTransform(for: object)
    Task { @MainActor in update(object, transform) }
  }

  nonisolated func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    if reason == .timeout, let configuration = session.configuration { session.run(configuration) }
    Task { @MainActor in removals.append(reason) }
  }

  nonisolated func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    let text: String? =
      switch convergence.status {
      case .notConverged(let reasons): reasons.first?.localizedDescription
      case .converged, .unknown: nil
      @unknown default: nil
      }
    Task { @MainActor in hint = text }
  }

  nonisolated func sessionWasSuspended(_ session: NISession) {
    Task { @MainActor in status = .suspended }
  }

  nonisolated func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration { session.run(configuration) }
  }

  nonisolated func session(_ session: NISession, didInvalidateWith error: Error) {
    Task { @MainActor in
      guard let error = error as? NIError else { return }
      status = error.code == .userDidNotAllow ? .denied : .ended(error.code)
    }
  }
}
