// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

/// A Bluetooth connection to an accessory: characteristics to write, and notifications.
package protocol BluetoothLink: AnyObject {
  var identifier: UUID { get }
  var onNotification: ((Data) -> Void)? { get set }
  func write(_ message: Data)
}

/// An app for an accessory that speaks the sample protocol: a byte, then what follows it.
package final class AccessoryController: NSObject, NISessionDelegate {
  private enum ToAccessory: UInt8 {
    case initialize = 0xA
    case configureAndStart = 0xB
    case stop = 0xC
  }
  private enum FromAccessory: UInt8 {
    case configurationData = 0x1
    case didStart = 0x2
    case didStop = 0x3
  }

  package private(set) var status = "Not connected"
  package private(set) var distance: Float?
  package private(set) var angle: Float?
  package private(set) var place: simd_float3?
  package private(set) var hint: String?
  package private(set) var updates = 0
  package private(set) var attempts = 0

  private let link: any BluetoothLink
  private let runsInBackground: Bool
  private var session = NISession()
  private var configuration: NINearbyAccessoryConfiguration?
  private var token: NIDiscoveryToken?

  package init(_ link: any BluetoothLink, runsInBackground: Bool = false) {
    self.link = link
    self.runsInBackground = runsInBackground
    super.init()
    session.delegate = self
    link.onNotification = { [weak self] in self?.receive($0) }
  }

  package func connect() {
    attempts += 1
    status = "Asking the accessory"
    link.write(Data([ToAccessory.initialize.rawValue]))
  }

  package func stop() { link.write(Data([ToAccessory.stop.rawValue])) }

  private func receive(_ message: Data) {
    guard let first = message.first, let id = FromAccessory(rawValue: first) else {
      status = "Unknown message"
      return
    }
    switch id {
    case .configurationData: setUp(with: message.dropFirst())
    case .didStart: status = "Ranging"
    case .didStop: status = "Stopped"
    }
  }

  private func setUp(with data: Data) {
    do {
      let configuration =
        runsInBackground
        ? try NINearbyAccessoryConfiguration(
          accessoryData: data, bluetoothPeerIdentifier: link.identifier)
        : try NINearbyAccessoryConfiguration(data: data)
      configuration.isCameraAssistanceEnabled =
        NISession.deviceCapabilities.supportsCameraAssistance
      token = configuration.accessoryDiscoveryToken
      self.configuration = configuration
      session.run(configuration)
    } catch {
      status = "Not a UWB accessory"
    }
  }

  package func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    guard object.discoveryToken == token else { return }
    link.write(Data([ToAccessory.configureAndStart.rawValue]) + shareableConfigurationData)
  }

  package func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first else { return }
    updates += 1
    distance = object.distance
    angle = object.horizontalAngle
    place = session.worldTransform(for: object).map { simd_make_float3($0.columns.3) }
  }

  package func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    switch convergence.status {
    case .converged: hint = nil
    case .notConverged(let reasons): hint = reasons.first?.localizedDescription
    case .unknown: break
    @unknown default: break
    }
  }

  package func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    distance = nil
    status = reason == .timeout ? "Timed out" : "Accessory ended"
    if reason == .timeout, attempts < 2 { connect() }
  }

  package func session(_ session: NISession, didInvalidateWith error: any Error) {
    switch error {
    case NIError.accessoryPeerDeviceUnavailable: status = "Pair the accessory first"
    case NIError.userDidNotAllow: status = "Open Settings"
    default: status = "Failed: \(error.localizedDescription)"
    }
    self.session = NISession()
    self.session.delegate = self
  }
}
