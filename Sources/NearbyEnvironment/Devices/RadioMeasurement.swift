// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// What a device's radio measured of one peer in one exchange, each part optional.
///
/// One without any value says that the exchange failed: the peer is out of reach.
public struct RadioMeasurement: Hashable, Sendable {
  /// When, on the clock of the poses.
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
  /// Whether the radio believes that something stands in the line of sight.
  public var isNonLineOfSight: Bool?

  /// Makes a measurement.
  public init(
    timestamp: Timestamp, distance: Double? = nil, azimuthRadians: Double? = nil,
    elevationRadians: Double? = nil, distanceSigma: Double? = nil,
    azimuthSigmaRadians: Double? = nil, elevationSigmaRadians: Double? = nil,
    isNonLineOfSight: Bool? = nil
  ) {
    self.timestamp = timestamp
    self.distance = distance
    self.azimuthRadians = azimuthRadians
    self.elevationRadians = elevationRadians
    self.distanceSigma = distanceSigma
    self.azimuthSigmaRadians = azimuthSigmaRadians
    self.elevationSigmaRadians = elevationSigmaRadians
    self.isNonLineOfSight = isNonLineOfSight
  }

  /// Whether nothing was measured.
  public var isEmpty: Bool {
    distance == nil && azimuthRadians == nil && elevationRadians == nil
  }

  /// The measurement as the engine takes it.
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
