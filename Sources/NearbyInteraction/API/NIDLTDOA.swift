// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment
public import simd

/// A session that listens to anchors (downlink time difference of arrival) instead of a peer.
///
/// The delegate gets the messages of each round as ``NIDLTDOAMeasurement``s; an ``AnchorNetworkLocator`` locates the
/// device from them. Simulated devices hear the anchors of their world, if it has any. On all others running it
/// ends the session with ``NIError/unsupportedPlatform``.
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

  override var isListening: Bool { true }
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
/// An app's own tests may make measurements, too.
public final class NIDLTDOAMeasurement: NSObject, NSCopying, NSSecureCoding, Sendable {
  /// The floor of a building on which an anchor is.
  public struct FloorElevation: Hashable, Sendable {
    /// The number of the floor.
    public let floorNumber: Int
    /// The anchor's height above the floor, metres.
    public let height: Double

    /// Makes an elevation; Apple's interface has no such initializer.
    public init(floorNumber: Int, height: Double) {
      self.floorNumber = floorNumber
      self.height = height
    }
  }

  /// The anchor's address.
  public let address: Int
  /// The message.
  public let measurementType: NIDLTDOAMeasurementType
  /// When it was sent, seconds.
  public let transmitTime: Double
  /// When it was received, seconds.
  public let receiveTime: Double
  /// When it was sent, in units of 1 / (128 x 499.2 MHz), which is 15.65 ps.
  public let rawTransmitTime: UInt64
  /// When it was received, in the same units.
  public let rawReceiveTime: UInt64
  /// dBm.
  public let signalStrength: Double
  /// The receiver's frequency relative to the anchor's, without unit.
  public let carrierFrequencyOffset: Double
  /// The kind of coordinates.
  public let coordinatesType: NIDLTDOACoordinatesType
  /// The anchor's position.
  public let coordinates: simd_double3
  /// The address of the anchor that began the exchange.
  public let clusterInitiatorAddress: Int
  /// The floor on which the anchor is, if it tells.
  public let floorElevation: FloorElevation?
  /// The frequency of an answering anchor relative to the initiating one's, without unit; `nil`
  /// unless the message is a response.
  public let responderClockFrequencyOffset: Double?

  /// Makes a measurement; Apple's interface has no such initializer.
  ///
  /// - Parameters:
  ///   - address: The anchor's address.
  ///   - measurementType: The message.
  ///   - transmitTime: When it was sent, seconds.
  ///   - receiveTime: When it was received, seconds.
  ///   - rawTransmitTime: The same in units of 15.65 ps; by default it is converted.
  ///   - rawReceiveTime: The same in units of 15.65 ps; by default it is converted.
  ///   - signalStrength: dBm.
  ///   - carrierFrequencyOffset: The receiver's frequency relative to the anchor's.
  ///   - coordinatesType: The kind of coordinates.
  ///   - coordinates: The anchor's position.
  ///   - clusterInitiatorAddress: The address of the anchor that began the exchange; by default the
  ///     anchor itself.
  ///   - floorElevation: The floor on which the anchor is.
  ///   - responderClockFrequencyOffset: The frequency of an answering anchor relative to the
  ///     initiating one's; ignored unless the message is a response.
  public init(
    address: Int, measurementType: NIDLTDOAMeasurementType, transmitTime: Double,
    receiveTime: Double, rawTransmitTime: UInt64? = nil, rawReceiveTime: UInt64? = nil,
    signalStrength: Double, carrierFrequencyOffset: Double,
    coordinatesType: NIDLTDOACoordinatesType, coordinates: simd_double3,
    clusterInitiatorAddress: Int? = nil, floorElevation: FloorElevation? = nil,
    responderClockFrequencyOffset: Double? = nil
  ) {
    self.address = address
    self.measurementType = measurementType
    self.transmitTime = transmitTime
    self.receiveTime = receiveTime
    self.rawTransmitTime = rawTransmitTime ?? Self.ticks(transmitTime)
    self.rawReceiveTime = rawReceiveTime ?? Self.ticks(receiveTime)
    self.signalStrength = signalStrength
    self.carrierFrequencyOffset = carrierFrequencyOffset
    self.coordinatesType = coordinatesType
    self.coordinates = coordinates
    self.clusterInitiatorAddress = clusterInitiatorAddress ?? address
    self.floorElevation = floorElevation
    self.responderClockFrequencyOffset =
      measurementType == .response ? responderClockFrequencyOffset : nil
  }

  /// A time in units of the radio's clock; zero for a time that has none.
  private static func ticks(_ seconds: Double) -> UInt64 {
    UInt64(exactly: (seconds * 128 * 499.2e6).rounded()) ?? 0
  }

  // MARK: Archives

  private enum Key {
    static let integers = [
      "address", "measurementType", "coordinatesType", "clusterInitiatorAddress",
      "rawTransmitTime", "rawReceiveTime",
    ]
    static let numbers = [
      "transmitTime", "receiveTime", "signalStrength", "carrierFrequencyOffset", "x", "y", "z",
    ]
    static let floor = "floorNumber"
    static let height = "height"
    static let offset = "responderClockFrequencyOffset"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the measurement.
  public func encode(with coder: NSCoder) {
    let integers = [
      address, measurementType.rawValue, coordinatesType.rawValue, clusterInitiatorAddress,
      Int(bitPattern: UInt(rawTransmitTime)), Int(bitPattern: UInt(rawReceiveTime)),
    ]
    let numbers = [
      transmitTime, receiveTime, signalStrength, carrierFrequencyOffset, coordinates.x,
      coordinates.y, coordinates.z,
    ]
    for (key, value) in zip(Key.integers, integers) { coder.encode(value, forKey: key) }
    for (key, value) in zip(Key.numbers, numbers) { coder.encode(value, forKey: key) }
    if let floorElevation {
      coder.encode(floorElevation.floorNumber, forKey: Key.floor)
      coder.encode(floorElevation.height, forKey: Key.height)
    }
    if let offset = responderClockFrequencyOffset { coder.encode(offset, forKey: Key.offset) }
  }

  /// Reads a measurement; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    guard (Key.integers + Key.numbers).allSatisfy(coder.containsValue(forKey:)) else { return nil }
    let integers = Key.integers.map { coder.decodeInteger(forKey: $0) }
    let numbers = Key.numbers.map { coder.decodeDouble(forKey: $0) }
    guard let type = NIDLTDOAMeasurementType(rawValue: integers[1]),
      let coordinates = NIDLTDOACoordinatesType(rawValue: integers[2])
    else { return nil }
    (address, measurementType, coordinatesType) = (integers[0], type, coordinates)
    clusterInitiatorAddress = integers[3]
    rawTransmitTime = UInt64(UInt(bitPattern: integers[4]))
    rawReceiveTime = UInt64(UInt(bitPattern: integers[5]))
    (transmitTime, receiveTime) = (numbers[0], numbers[1])
    (signalStrength, carrierFrequencyOffset) = (numbers[2], numbers[3])
    self.coordinates = simd_double3(numbers[4], numbers[5], numbers[6])
    floorElevation =
      coder.containsValue(forKey: Key.floor)
      ? FloorElevation(
        floorNumber: coder.decodeInteger(forKey: Key.floor),
        height: coder.decodeDouble(forKey: Key.height)) : nil
    responderClockFrequencyOffset =
      coder.containsValue(forKey: Key.offset) ? coder.decodeDouble(forKey: Key.offset) : nil
  }

  /// The measurement itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
