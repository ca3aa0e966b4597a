// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment

/// The peer and the settings of a session: the base of all configurations.
open class NIConfiguration: NSObject, NSCopying, NSSecureCoding {
  /// Whether the camera's odometry is fused with the radio; off by default.
  public var isCameraAssistanceEnabled = false

  let peer: NIDiscoveryToken

  private enum Key {
    static let peer = "peer"
    static let camera = "camera"
  }

  init(peer: NIDiscoveryToken) {
    self.peer = peer
    super.init()
  }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the configuration.
  open func encode(with coder: NSCoder) {
    coder.encode(peer, forKey: Key.peer)
    coder.encode(isCameraAssistanceEnabled, forKey: Key.camera)
  }

  /// Reads a configuration; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    guard let peer = coder.decodeObject(of: NIDiscoveryToken.self, forKey: Key.peer) else {
      return nil
    }
    self.peer = peer
    isCameraAssistanceEnabled = coder.decodeBool(forKey: Key.camera)
    super.init()
  }

  /// Makes a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NIConfiguration(peer: peer)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    return copy
  }

  /// Whether another object is the same configuration.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NIConfiguration, type(of: other) == type(of: self) else {
      return false
    }
    return peer == other.peer && isCameraAssistanceEnabled == other.isCameraAssistanceEnabled
  }

  /// The same for equal configurations.
  open override var hash: Int { peer.hash }

  /// Whether extended distances are requested.
  var measuresExtendedDistance: Bool { false }
  /// The accessory's data; `nil` for other peers.
  var accessory: AccessoryConfigurationData? { nil }
  /// Whether the session may go on while the app is in the background.
  var runsInBackground: Bool { false }
  /// Whether devices here can measure what the configuration is for.
  var isMeasurable: Bool { true }
  /// Whether anchors are listened to, instead of a peer.
  var isListening: Bool { false }
}

/// A session with another device that runs such a session.
public final class NINearbyPeerConfiguration: NIConfiguration {
  /// Whether extended distances are measured; off by default.
  ///
  /// Both devices must support it.
  public var isExtendedDistanceMeasurementEnabled = false

  private static let extendedKey = "extended"

  /// Makes a configuration.
  ///
  /// - Parameter peerToken: The token that the peer sent.
  public init(peerToken: NIDiscoveryToken) { super.init(peer: peerToken) }

  /// The peer's token.
  public var peerDiscoveryToken: NIDiscoveryToken { peer }

  /// Writes the configuration.
  public override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(isExtendedDistanceMeasurementEnabled, forKey: Self.extendedKey)
  }

  /// Reads a configuration; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    isExtendedDistanceMeasurementEnabled = coder.decodeBool(forKey: Self.extendedKey)
    super.init(coder: coder)
  }

  /// Makes a copy.
  public override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NINearbyPeerConfiguration(peerToken: peer)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    copy.isExtendedDistanceMeasurementEnabled = isExtendedDistanceMeasurementEnabled
    return copy
  }

  /// Whether another object is the same configuration.
  public override func isEqual(_ object: Any?) -> Bool {
    super.isEqual(object)
      && (object as? NINearbyPeerConfiguration)?.isExtendedDistanceMeasurementEnabled
        == isExtendedDistanceMeasurementEnabled
  }

  /// The same for equal configurations.
  public override var hash: Int { super.hash }

  override var measuresExtendedDistance: Bool { isExtendedDistanceMeasurementEnabled }
}

/// A session with an accessory, which is described by data that it sent.
///
/// The data has the layout of Apple's accessory protocol, ``AccessoryConfigurationData``.
public final class NINearbyAccessoryConfiguration: NIConfiguration {
  /// `nil` for an accessory that is measured over Bluetooth.
  private let data: AccessoryConfigurationData?
  private let bluetoothPeer: UUID?

  private enum Key {
    static let data = "accessoryData"
    static let bluetoothPeer = "bluetoothPeer"
  }

  /// Makes a configuration.
  ///
  /// - Parameter data: The data that the accessory sent, ``AccessoryConfigurationData``.
  /// - Throws: ``NIError/invalidConfiguration`` when it is malformed.
  public convenience init(data: Data) throws {
    try self.init(data: data, bluetoothPeer: nil)
  }

  /// Makes a configuration of a session that goes on while the app is in the background.
  ///
  /// - Parameters:
  ///   - accessoryData: The data that the accessory sent, ``AccessoryConfigurationData``.
  ///   - bluetoothPeerIdentifier: The accessory's Bluetooth name.
  /// - Throws: ``NIError/invalidConfiguration`` when the data is malformed.
  public convenience init(accessoryData: Data, bluetoothPeerIdentifier: UUID) throws {
    try self.init(data: accessoryData, bluetoothPeer: bluetoothPeerIdentifier)
  }

  /// Makes a configuration of a session that measures over Bluetooth (channel sounding).
  ///
  /// No device here supports it (``NIDeviceCapability/supportsBluetoothChannelSounding``). Running
  /// it ends the session with ``NIError/unsupportedPlatform``.
  ///
  /// - Parameters:
  ///   - bluetoothChannelSoundingIdentifier: The accessory's Bluetooth name.
  ///   - previousBluetoothIdentifier: Its name in an earlier connection, if it was different.
  public init(bluetoothChannelSoundingIdentifier: UUID, previousBluetoothIdentifier: UUID?) {
    data = nil
    bluetoothPeer = bluetoothChannelSoundingIdentifier
    super.init(peer: .noPeer)
  }

  private init(data: Data, bluetoothPeer: UUID?) throws {
    let data = try AccessoryConfigurationData(bytes: Array(data))
    self.data = data
    self.bluetoothPeer = bluetoothPeer
    super.init(peer: NIDiscoveryToken(data.token))
  }

  /// The token that stands for the accessory.
  public var accessoryDiscoveryToken: NIDiscoveryToken { peer }

  /// Writes the configuration.
  public override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    if let data { coder.encode(Data(data.bytes) as NSData, forKey: Key.data) }
    if let bluetoothPeer {
      coder.encode(bluetoothPeer.uuidString as NSString, forKey: Key.bluetoothPeer)
    }
  }

  /// Reads a configuration; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    // The existence of the key is checked first, since decoding a missing key fails the whole
    // archive.
    let hasData = coder.containsValue(forKey: Key.data)
    let bytes = hasData ? coder.decodeObject(of: NSData.self, forKey: Key.data) : nil
    data = bytes.flatMap { try? AccessoryConfigurationData(bytes: Array(Data(referencing: $0))) }
    let isNamed = coder.containsValue(forKey: Key.bluetoothPeer)
    let name = isNamed ? coder.decodeObject(of: NSString.self, forKey: Key.bluetoothPeer) : nil
    bluetoothPeer = name.flatMap { UUID(uuidString: "\($0)") }
    if data == nil, hasData || bluetoothPeer == nil { return nil }
    super.init(coder: coder)
  }

  private init(_ other: NINearbyAccessoryConfiguration) {
    data = other.data
    bluetoothPeer = other.bluetoothPeer
    super.init(peer: other.peer)
    isCameraAssistanceEnabled = other.isCameraAssistanceEnabled
  }

  /// Makes a copy.
  public override func copy(with zone: NSZone? = nil) -> Any {
    NINearbyAccessoryConfiguration(self)
  }

  /// Whether another object is the same configuration.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NINearbyAccessoryConfiguration else { return false }
    return super.isEqual(other) && data == other.data && bluetoothPeer == other.bluetoothPeer
  }

  /// The same for equal configurations.
  public override var hash: Int { super.hash }

  override var accessory: AccessoryConfigurationData? { data }
  override var runsInBackground: Bool { bluetoothPeer != nil }
  override var isMeasurable: Bool { data != nil }
}
