// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyInteraction

// Uses every public name of Nearby Interaction, as an app would. It needs only to compile: a name
// that is missing or has another type is an error. `AppleNames.csv` lists the names, and
// `Packaging/check-names.py` looks for each in the section of its type.

enum NearbyInteractionNames {
  // MARK: - NISession

  @available(iOS 27.0, *)
  static func session(_ session: NISession, _ object: NINearbyObject) throws {
    let other = NISession()
    let _: Bool = NISession.isSupported
    let _: any NIDeviceCapability = NISession.deviceCapabilities
    session.delegate = other.delegate
    session.delegateQueue = DispatchQueue.main
    let _: dispatch_queue_t? = session.delegateQueue
    let _: NIDiscoveryToken? = session.discoveryToken
    let configuration: NIConfiguration? = session.configuration
    if let configuration { session.run(configuration) }
    session.pause()
    session.invalidate()
    session.setARSession(ARSession())
    let _: simd_float4x4? = session.worldTransform(for: object)
    session.updateMotionState(.stationary, forObjectWithToken: object.discoveryToken)
  }

  // MARK: - NISessionDelegate

  final class Delegate: NSObject, NISessionDelegate {
    func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {}
    func session(
      _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
      reason: NINearbyObject.RemovalReason
    ) {}
    func sessionWasSuspended(_ session: NISession) {}
    func sessionSuspensionEnded(_ session: NISession) {}
    func session(_ session: NISession, didInvalidateWith error: any Error) {}
    func session(
      _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
      for object: NINearbyObject
    ) {}
    func session(
      _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
      for object: NINearbyObject?
    ) {}
    func sessionDidStartRunning(_ session: NISession) {}
    func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {}
  }

  // MARK: - NINearbyObject

  static func object(_ object: NINearbyObject) {
    let _: NIDiscoveryToken = object.discoveryToken
    let _: Float? = object.distance
    let _: simd_float3? = object.direction
    let _: Float? = object.horizontalAngle
    let estimate: NINearbyObject.VerticalDirectionEstimate = object.verticalDirectionEstimate
    switch estimate {
    case .unknown, .same, .above, .below, .aboveOrBelow: break
    @unknown default: break
    }
    let reason: NINearbyObject.RemovalReason = .timeout
    switch reason {
    case .timeout, .peerEnded: break
    @unknown default: break
    }
    _ = (object.copy(), NINearbyObject.supportsSecureCoding)
  }

  // MARK: - NIAlgorithmConvergence

  static func convergence(_ convergence: NIAlgorithmConvergence) {
    let status: NIAlgorithmConvergenceStatus = convergence.status
    switch status {
    case .unknown, .converged: break
    case .notConverged(let reasons): Self.reasons(reasons)
    @unknown default: break
    }
    _ = (convergence.copy(), NIAlgorithmConvergence.supportsSecureCoding, status == .unknown)
  }

  // MARK: - NIAlgorithmConvergenceStatus

  static func reasons(_ reasons: [NIAlgorithmConvergenceStatus.Reason]) {
    let all: [NIAlgorithmConvergenceStatus.Reason] = [
      .insufficientMovement, .insufficientHorizontalSweep, .insufficientVerticalSweep,
      .insufficientLighting, .insufficientSignalStrength,
    ]
    let status = NIAlgorithmConvergenceStatus.notConverged(all)
    let _: Bool = status == .converged || status == .unknown
    let _: String? = reasons.first?.localizedDescription
    let _: String? = reasons.first?.rawValue
    _ = NIAlgorithmConvergenceStatus.Reason(rawValue: "")
  }

  // MARK: - NIConfiguration

  static func configuration(_ configuration: NIConfiguration) {
    _ = (configuration.copy(), NIConfiguration.supportsSecureCoding)
  }

  // MARK: - NINearbyPeerConfiguration

  static func peer(_ token: NIDiscoveryToken) {
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    let _: NIDiscoveryToken = configuration.peerDiscoveryToken
    configuration.isCameraAssistanceEnabled = true
    configuration.isExtendedDistanceMeasurementEnabled = true
  }

  // MARK: - NINearbyAccessoryConfiguration

  @available(iOS 27.0, *)
  static func accessory(_ data: Data, _ identifier: UUID) throws {
    let configuration = try NINearbyAccessoryConfiguration(data: data)
    _ = try NINearbyAccessoryConfiguration(
      accessoryData: data, bluetoothPeerIdentifier: identifier)
    _ = NINearbyAccessoryConfiguration(
      bluetoothChannelSoundingIdentifier: identifier, previousBluetoothIdentifier: nil)
    let _: NIDiscoveryToken = configuration.accessoryDiscoveryToken
    configuration.isCameraAssistanceEnabled = true
  }

  // MARK: - NIDLTDOAConfiguration

  @available(iOS 27.0, *)
  static func anchors() {
    let configuration = NIDLTDOAConfiguration(networkIdentifier: 7)
    configuration.networkIdentifier = 8
    let other = NIDLTDOAConfiguration(networkIdentifier: 7, discoveryMethod: .wifi)
    let method: NIDLTDOAConfiguration.DiscoveryMethod = other.discoveryMethod
    switch method {
    case .wifi, .bluetoothLowEnergy: break
    @unknown default: break
    }
  }

  // MARK: - NIDiscoveryToken

  static func token(_ token: NIDiscoveryToken) {
    let _: any NIDeviceCapability = token.deviceCapabilities
    _ = (token.copy(), NIDiscoveryToken.supportsSecureCoding)
  }

  // MARK: - NIMotionActivityState

  static func motion(_ state: NIMotionActivityState) {
    switch state {
    case .stationary, .moving, .unknown: break
    @unknown default: break
    }
  }

  // MARK: - NIDeviceCapability

  @available(iOS 27.0, *)
  static func capability(_ capability: any NIDeviceCapability) -> [Bool] {
    [
      capability.supportsPreciseDistanceMeasurement, capability.supportsDirectionMeasurement,
      capability.supportsCameraAssistance, capability.supportsExtendedDistanceMeasurement,
      capability.supportsDLTDOAMeasurement, capability.supportsBluetoothChannelSounding,
    ]
  }

  // MARK: - NIDLTDOAMeasurement

  @available(iOS 27.0, *)
  static func measurement(_ measurement: NIDLTDOAMeasurement) {
    let _: Int = measurement.address
    let type: NIDLTDOAMeasurementType = measurement.measurementType
    switch type {
    case .poll, .response, .final: break
    @unknown default: break
    }
    let _: Double = measurement.transmitTime - measurement.receiveTime
    let _: UInt64 = measurement.rawTransmitTime &- measurement.rawReceiveTime
    let _: Double = measurement.signalStrength + measurement.carrierFrequencyOffset
    let coordinates: NIDLTDOACoordinatesType = measurement.coordinatesType
    switch coordinates {
    case .geodetic, .relative: break
    @unknown default: break
    }
    let _: simd_double3 = measurement.coordinates
    let _: Int = measurement.clusterInitiatorAddress
    if let floor = measurement.floorElevation {
      let _: Int = floor.floorNumber
      let _: Double = floor.height
    }
    let _: Double? = measurement.responderClockFrequencyOffset
    _ = (measurement.copy(), NIDLTDOAMeasurement.supportsSecureCoding)
  }

  // MARK: - NIError

  static func error(_ error: any Error) -> String {
    let _: String = NIErrorDomain
    if case NIError.userDidNotAllow = error { return "settings" }
    guard let code: NIError.Code = (error as? NIError)?.code else { return "" }
    switch code {
    case .unsupportedPlatform: return "unsupported"
    case .invalidConfiguration, .invalidARConfiguration: return "configuration"
    case .sessionFailed, .resourceUsageTimeout: return "restart"
    case .activeSessionsLimitExceeded, .activeExtendedDistanceSessionsLimitExceeded: return "limit"
    case .userDidNotAllow: return "settings"
    case .accessoryPeerDeviceUnavailable, .incompatiblePeerDevice: return "peer"
    @unknown default: return "unknown"
    }
  }
}
