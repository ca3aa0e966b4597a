// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import NearbyEnvironment
internal import NearbyGeometry

/// An accessory on a simulated device, which is not a phone and runs no `NISession`.
///
/// ```swift
/// let accessory = SimulatedAccessory(on: world.makeDevice())
/// session.run(try NINearbyAccessoryConfiguration(data: accessory.configurationData))
/// // … in didGenerateShareableConfigurationData:
/// try accessory.start(with: shareableConfigurationData)
/// ```
///
/// An object serves one session of an app. An accessory that serves several phones in parallel
/// consists of several objects on one device, each with its own data. The device's limit of
/// sessions applies to them together.
public final class SimulatedAccessory: @unchecked Sendable {
  // Unchecked: the measurements are read and written under `lock` only.
  private let device: any NearbyDevice
  /// How it describes itself.
  private let configuration: AccessoryConfigurationData
  private let token: SessionToken
  private let lock = NSLock()
  private var taken: [RadioMeasurement] = []

  /// Makes an accessory.
  ///
  /// - Parameter device: The device.
  public init(on device: any NearbyDevice) {
    self.device = device
    configuration = AccessoryConfigurationData(
      radio: AccessoryConfigurationData.RadioConfiguration(
        maker: .random(in: 0...UInt32.max), model: .random(in: 0...UInt32.max),
        address: .random(in: 1...0xFFFD)))
    token = configuration.token
    (device as? SimulatedDevice)?.isAccessory = true
    device.join(token) { [weak self] event in
      guard let self, case .measurement(let measurement) = event else { return }
      self.lock.withLock { self.taken.append(measurement) }
    }
  }

  deinit { device.leave(token, tellsPeer: false) }

  /// The data that it sends to the app.
  public var configurationData: Data { Data(configuration.bytes) }

  /// Whether it is connected over Bluetooth, which it is at first.
  ///
  /// A session whose configuration names its Bluetooth connection cannot be run without it: it ends with
  /// ``NIError/accessoryPeerDeviceUnavailable``. Only simulated devices know the connections.
  public var isConnected: Bool {
    get { (device as? SimulatedDevice)?.world.isConnected(token) ?? true }
    set { (device as? SimulatedDevice)?.world.setConnected(token, newValue) }
  }

  /// Its own measurements, also those made while the app is in the background.
  public var measurements: [RadioMeasurement] { lock.withLock { taken } }

  /// Starts measuring.
  ///
  /// - Parameter shareableConfigurationData: The data that the app's session generated.
  /// - Throws: ``NIError/invalidConfiguration`` when it is malformed,
  ///   ``NIError/activeSessionsLimitExceeded`` when the device runs the largest number of sessions
  ///   already.
  public func start(with shareableConfigurationData: Data) throws {
    let data = try ShareableConfigurationData(bytes: Array(shareableConfigurationData))
    guard device.activeSessions(besides: token).all < device.limits.activeSessions else {
      throw NIError(.activeSessionsLimitExceeded)
    }
    device.range(token, with: data.token, isExtended: false)
  }

  /// Stops measuring.
  public func stop() { device.rest(token) }

  // MARK: Messages

  /// A message of the protocol that Apple's sample app speaks over Bluetooth: a byte, and what follows it.
  public enum MessageID: UInt8, Sendable, CaseIterable {
    /// From the accessory: its configuration data follows.
    case configurationData = 0x1
    /// From the accessory: it measures.
    case didStart = 0x2
    /// From the accessory: it measures no more.
    case didStop = 0x3
    /// To the accessory: send your configuration data.
    case initialize = 0xA
    /// To the accessory: measure; the session's shareable data follows.
    case configureAndStart = 0xB
    /// To the accessory: stop.
    case stop = 0xC
  }

  /// Answers a message that an app sends over Bluetooth.
  ///
  /// - Parameter message: The message.
  /// - Returns: The answer; `nil` to an accessory's own messages, to unknown ones, and to shareable data that
  ///   cannot be used.
  public func answer(_ message: Data) -> Data? {
    guard isConnected, let first = message.first else { return nil }
    switch MessageID(rawValue: first) {
    case .initialize: return Data([MessageID.configurationData.rawValue]) + configurationData
    case .configureAndStart:
      guard (try? start(with: message.dropFirst())) != nil else { return nil }
      return Data([MessageID.didStart.rawValue])
    case .stop:
      stop()
      return Data([MessageID.didStop.rawValue])
    case .configurationData, .didStart, .didStop, nil: return nil
    }
  }
}
