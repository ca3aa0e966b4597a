// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment
public import simd

/// A session that listens to anchors (downlink time difference of arrival) instead of a peer.
///
/// It exists so that code which checks ``NIDeviceCapability/supportsDLTDOAMeasurement`` compiles.
/// No device supports it, and running it ends the session with ``NIError/unsupportedPlatform``.
public final class NIDLTDOAConfiguration: NIConfiguration {
  /// How anchors are found.
  public enum DiscoveryMethod: Int, Hashable, Sendable {
    /// By Wi-Fi.
    case wifi = 0
    /// By Bluetooth.
    case bluetoothLowEnergy = 1
  }

  /// The number of the anchors' network.
  public var networkIdentifier: Int
  /// How anchors are found.
  public var discoveryMethod: DiscoveryMethod

  private enum Key {
    static let network = "network"
    static let method = "discoveryMethod"
  }

  /// Makes a configuration.
  ///
  /// - Parameters:
  ///   - networkIdentifier: The number of the anchors' network.
  ///   - discoveryMethod: How anchors are found.
  public init(
    networkIdentifier: Int, discoveryMethod: DiscoveryMethod = .bluetoothLowEnergy
  ) {
    self.networkIdentifier = networkIdentifier
    self.discoveryMethod = discoveryMethod
    super.init(peer: .noPeer)
  }

  /// Writes the configuration.
  public override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(networkIdentifier, forKey: Key.network)
    coder.encode(discoveryMethod.rawValue, forKey: Key.method)
  }

  /// Reads a configuration; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    guard let method = DiscoveryMethod(rawValue: coder.decodeInteger(forKey: Key.method)) else {
      return nil
    }
    networkIdentifier = coder.decodeInteger(forKey: Key.network)
    discoveryMethod = method
    super.init(coder: coder)
  }

  /// Makes a copy.
  public override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NIDLTDOAConfiguration(
      networkIdentifier: networkIdentifier, discoveryMethod: discoveryMethod)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    return copy
  }

  /// Whether another object is the same configuration.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NIDLTDOAConfiguration else { return false }
    return super.isEqual(other) && networkIdentifier == other.networkIdentifier
      && discoveryMethod == other.discoveryMethod
  }

  /// The same for equal configurations.
  public override var hash: Int { networkIdentifier }

  override var isMeasurable: Bool { false }
}

/// The message of an exchange between anchors in which a measurement was made.
public enum NIDLTDOAMeasurementType: Int, Hashable, Sendable {
  /// The first message, from the initiating anchor.
  case poll = 0
  /// The second message, from the answering anchors.
  case response = 1
  /// The last message, from the initiating anchor.
  case final = 2
}

/// The coordinates of an anchor's position.
public enum NIDLTDOACoordinatesType: Int, Hashable, Sendable {
  /// Latitude and longitude in degrees, altitude in metres.
  case geodetic = 0
  /// Metres in a frame of the anchors' own.
  case relative = 1
}

/// A measurement of an anchor.
///
/// No device here receives anchors. An app's own tests may make measurements for its solver.
public final class NIDLTDOAMeasurement: NSObject, NSCopying, Sendable {
  /// The anchor's address.
  public let address: Int
  /// The message.
  public let measurementType: NIDLTDOAMeasurementType
  /// When it was sent, seconds.
  public let transmitTime: Double
  /// When it was received, seconds.
  public let receiveTime: Double
  /// dBm.
  public let signalStrength: Double
  /// The receiver's frequency relative to the anchor's, without unit.
  public let carrierFrequencyOffset: Double
  /// The kind of coordinates.
  public let coordinatesType: NIDLTDOACoordinatesType
  /// The anchor's position.
  public let coordinates: simd_double3

  /// Makes a measurement; Apple's interface has no such initializer.
  ///
  /// - Parameters:
  ///   - address: The anchor's address.
  ///   - measurementType: The message.
  ///   - transmitTime: When it was sent, seconds.
  ///   - receiveTime: When it was received, seconds.
  ///   - signalStrength: dBm.
  ///   - carrierFrequencyOffset: The receiver's frequency relative to the anchor's.
  ///   - coordinatesType: The kind of coordinates.
  ///   - coordinates: The anchor's position.
  public init(
    address: Int, measurementType: NIDLTDOAMeasurementType, transmitTime: Double,
    receiveTime: Double, signalStrength: Double, carrierFrequencyOffset: Double,
    coordinatesType: NIDLTDOACoordinatesType, coordinates: simd_double3
  ) {
    self.address = address
    self.measurementType = measurementType
    self.transmitTime = transmitTime
    self.receiveTime = receiveTime
    self.signalStrength = signalStrength
    self.carrierFrequencyOffset = carrierFrequencyOffset
    self.coordinatesType = coordinatesType
    self.coordinates = coordinates
  }

  /// The measurement itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
