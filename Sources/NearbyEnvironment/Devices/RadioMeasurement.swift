// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// The measurements of one peer by a device's radio in one exchange, each of them optional.
///
/// A measurement without distance and angles means that the exchange failed: the peer is out of
/// reach. Address, signal strength and clock offset are not fused by the engine; they are
/// diagnostics of the radio.
public struct RadioMeasurement: Hashable, Sendable {
  /// The time, on the clock of the poses.
  public var timestamp: Timestamp
  /// Metres from the antenna to the peer.
  public var distance: Double?
  /// `atan2(d.x, -d.z)` of the peer's direction `d` in device axes, radians, positive to the right.
  public var azimuthRadians: Double?
  /// `asin(d.y)` of that direction, radians, positive up.
  public var elevationRadians: Double?
  /// The distance's standard deviation, metres; the device's when `nil`.
  public var distanceSigma: Double?
  /// The azimuth's standard deviation, radians; the device's when `nil`.
  public var azimuthSigmaRadians: Double?
  /// The elevation's standard deviation, radians; the device's when `nil`.
  public var elevationSigmaRadians: Double?
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
    carrierFrequencyOffset: Double? = nil
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
  }

  /// Whether nothing was measured.
  public var isEmpty: Bool {
    distance == nil && azimuthRadians == nil && elevationRadians == nil
  }

  /// The measurement as an input of the engine.
  ///
  /// - Parameter peer: The handle that the engine gave for the peer.
  /// - Returns: The sample, values unchanged.
  public func sample(of peer: PeerID) -> RangingSample {
    RangingSample(
      peer: peer, timestamp: timestamp, distance: distance, azimuthRadians: azimuthRadians,
      elevationRadians: elevationRadians, distanceSigma: distanceSigma,
      azimuthSigmaRadians: azimuthSigmaRadians, elevationSigmaRadians: elevationSigmaRadians,
      isNonLineOfSight: isNonLineOfSight)
  }
}
