// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyInteraction

/// Sessions with many peers, as plug-ins manage them: sessions and tokens are keys of dictionaries.
final class SessionBook: NSObject, NISessionDelegate, @unchecked Sendable {
  // Unchecked because everything runs on the queue.
  struct Entry {
    var distance: Float?
    var angle: Float?
    var failure: String?
  }

  private let queue = DispatchQueue(label: "sessions")
  private var names: [NISession: String] = [:]
  private var namesOfPeers: [NIDiscoveryToken: String] = [:]
  private var entries: [String: Entry] = [:]
  private var wrongQueue = 0

  /// The entries of all peers, and the number of calls on another queue.
  var page: (entries: [String: Entry], wrongQueue: Int) { queue.sync { (entries, wrongQueue) } }

  func open(_ name: String) -> NIDiscoveryToken? {
    let session = NISession()
    session.delegate = self
    session.delegateQueue = queue
    queue.sync {
      names[session] = name
      entries[name] = Entry()
    }
    return session.discoveryToken
  }

  func range(_ name: String, with configuration: NIConfiguration) {
    let session = queue.sync {
      if let peer = configuration as? NINearbyPeerConfiguration {
        namesOfPeers[peer.peerDiscoveryToken] = name
      } else if let accessory = configuration as? NINearbyAccessoryConfiguration {
        namesOfPeers[accessory.accessoryDiscoveryToken] = name
      }
      return names.first { $0.value == name }?.key
    }
    session?.run(configuration)
  }

  private func note(_ session: NISession, _ change: (inout Entry) -> Void) {
    dispatchPrecondition(condition: .onQueue(queue))
    guard let name = names[session] else { return }
    change(&entries[name, default: Entry()])
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects {
      if namesOfPeers[object.discoveryToken] != names[session] { wrongQueue += 1 }
      note(session) {
        $0.distance = object.distance
        $0.angle = object.horizontalAngle ?? object.direction.map { asin($0.x) }
      }
    }
  }

  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    switch reason {
    case .peerEnded: session.invalidate()
    case .timeout: session.configuration.map(session.run)
    default: break
    }
    note(session) { $0.failure = String(describing: reason) }
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    note(session) { $0.failure = Self.code(error) }
    names[session] = nil
  }

  /// The code that a plug-in passes to its own language.
  static func code(_ error: any Error) -> String {
    let bridged = error as NSError
    guard bridged.domain == NIErrorDomain else { return "unknown" }
    switch NIError.Code(rawValue: bridged.code) {
    case .unsupportedPlatform: return "unsupported"
    case .invalidConfiguration: return "configuration"
    case .sessionFailed, .resourceUsageTimeout: return "restart"
    case .activeSessionsLimitExceeded, .activeExtendedDistanceSessionsLimitExceeded:
      return "limit"
    case .userDidNotAllow: return "denied"
    case .invalidARConfiguration: return "camera"
    case .accessoryPeerDeviceUnavailable, .incompatiblePeerDevice: return "peer"
    case .none: return "unknown"
    @unknown default: return "unknown"
    }
  }
}

/// Positions by a camera's pose, as an overlay computes them.
enum Overlay {
  static func bearing(of peer: simd_float4x4, from camera: simd_float4x4) -> Float {
    let local = simd_mul(simd_inverse(camera), peer.columns.3)
    return atan2(local.x, -local.z)
  }

  static func place(of object: NINearbyObject, camera: ARCamera) -> simd_float3? {
    guard let distance = object.distance, let direction = object.direction else { return nil }
    let local = simd_make_float4(direction * distance, 1)
    return simd_make_float3(camera.viewMatrix(for: .portrait).inverse * local)
  }

  static func facing(_ target: simd_float3, from place: simd_float3) -> simd_float4x4 {
    let turn = simd_quatf(from: simd_float3(0, 0, -1), to: simd_normalize(target - place))
    var transform = simd_float4x4(turn)
    transform.columns.3 = simd_float4(place, 1)
    return transform
  }
}

/// Listens to anchors if that is supported, and reports otherwise.
@available(iOS 26.0, *)
final class AnchorListener: NSObject, NISessionDelegate {
  private let session = NISession()
  private(set) var failure: NIError.Code?
  private(set) var pseudoranges: [Int: Double] = [:]

  func start(evenUnsupported: Bool) {
    guard evenUnsupported || NISession.deviceCapabilities.supportsDLTDOAMeasurement else { return }
    session.delegate = self
    session.run(NIDLTDOAConfiguration(networkIdentifier: 17))
  }

  func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {
    for measurement in measurements where measurement.measurementType != .poll {
      let seconds = measurement.receiveTime - measurement.transmitTime
      pseudoranges[measurement.address] = 299_792_458 * seconds
    }
  }

  func session(_ session: NISession, didInvalidateWith error: Error) {
    failure = (error as? NIError)?.code
  }
}
