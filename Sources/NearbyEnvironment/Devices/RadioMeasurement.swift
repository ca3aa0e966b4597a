// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// The measurements of one peer by a device's radio in one exchange, each of them optional.
///
/// An empty measurement means that the exchange failed: the peer is out of reach. Address, signal strength and clock offset are not fused by the engine; they are
/// diagnostics of the radio.
public struct RadioMeasurement: Hashable, Sendable {
  /// The time, on the clock of the poses.
  public var timestamp: Timestamp
  /// What was measured of each kind.
  private var readings = PerKind(repeating: Reading())
  /// Whether the radio reports an obstructed line of sight.
  public var isNonLineOfSight: Bool?
  /// The peer's address on the air, as the radio writes it: FiRa's two bytes are `00:2a`.
  public var peerAddress: String?
  /// Received signal strength, dBm.
  public var signalStrength: Double?
  /// The ratio by which the peer's clock is faster than this device's: 1e-6 is one part in a
  /// million.
  public var carrierFrequencyOffset: Double?

  /// Makes a measurement.
  public init(
    timestamp: Timestamp, distance: Double? = nil, azimuthRadians: Double? = nil,
    elevationRadians: Double? = nil, distanceSigma: Double? = nil,
    azimuthSigmaRadians: Double? = nil, elevationSigmaRadians: Double? = nil,
    isNonLineOfSight: Bool? = nil, peerAddress: String? = nil, signalStrength: Double? = nil,
    carrierFrequencyOffset: Double? = nil, heightDifference: Double? = nil,
    heightDifferenceSigma: Double? = nil
  ) {
    self.timestamp = timestamp
    self.distance = distance
    self.azimuthRadians = azimuthRadians
    self.elevationRadians = elevationRadians
    self.distanceSigma = distanceSigma
    self.azimuthSigmaRadians = azimuthSigmaRadians
    self.elevationSigmaRadians = elevationSigmaRadians
    self.isNonLineOfSight = isNonLineOfSight
    self.peerAddress = peerAddress
    self.signalStrength = signalStrength
    self.carrierFrequencyOffset = carrierFrequencyOffset
    self.heightDifference = heightDifference
    self.heightDifferenceSigma = heightDifferenceSigma
  }

  /// Whether nothing was measured.
  public var isEmpty: Bool { MeasurementKind.allCases.allSatisfy { self[$0].value == nil } }

  /// The measurement as an input of the engine.
  ///
  /// - Parameter peer: The handle that the engine gave for the peer.
  /// - Returns: The sample, values unchanged.
  public func sample(of peer: PeerID) -> RangingSample {
    var sample = RangingSample(
      peer: peer, timestamp: timestamp, isNonLineOfSight: isNonLineOfSight)
    for kind in MeasurementKind.allCases { sample[kind] = self[kind] }
    return sample
  }

  /// The value of a kind and its stated standard deviation, each `nil` when not given.
  package subscript(kind: MeasurementKind) -> (value: Double?, sigma: Double?) {
    get { (readings[kind].value, readings[kind].sigma) }
    set { (readings[kind].value, readings[kind].sigma) = newValue }
  }

  private struct Reading: Hashable {
    var value: Double?
    var sigma: Double?
  }
}

extension RadioMeasurement {
  /// Metres from the antenna to the peer.
  public var distance: Double? {
    get { readings.range.value }
    set { readings.range.value = newValue }
  }
  /// `atan2(d.x, -d.z)` of the peer's direction `d` in device axes, radians, positive to the right.
  public var azimuthRadians: Double? {
    get { readings.azimuth.value }
    set { readings.azimuth.value = newValue }
  }
  /// `asin(d.y)` of that direction, radians, positive up.
  public var elevationRadians: Double? {
    get { readings.elevation.value }
    set { readings.elevation.value = newValue }
  }
  /// Metres that the peer is above the device, along gravity: from two barometers, say.
  public var heightDifference: Double? {
    get { readings.heightDifference.value }
    set { readings.heightDifference.value = newValue }
  }
  /// The distance's standard deviation, metres; the device's when `nil`.
  public var distanceSigma: Double? {
    get { readings.range.sigma }
    set { readings.range.sigma = newValue }
  }
  /// The azimuth's standard deviation, radians; the device's when `nil`.
  public var azimuthSigmaRadians: Double? {
    get { readings.azimuth.sigma }
    set { readings.azimuth.sigma = newValue }
  }
  /// The elevation's standard deviation, radians; the device's when `nil`.
  public var elevationSigmaRadians: Double? {
    get { readings.elevation.sigma }
    set { readings.elevation.sigma = newValue }
  }
  /// The standard deviation of the height difference's white noise, metres; the device's when `nil`.
  public var heightDifferenceSigma: Double? {
    get { readings.heightDifference.sigma }
    set { readings.heightDifference.sigma = newValue }
  }
}
