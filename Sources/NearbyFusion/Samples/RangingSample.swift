// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// One ranging exchange with one peer: what the radio measured, each part optional.
///
/// Nothing is checked here. The engine judges every part by itself and says in its ``SampleReport``
/// what it did with it.
public struct RangingSample: Hashable, Sendable, Codable {
  /// With whom.
  public var peer: PeerID
  /// When, on the radio's clock: that of the poses, but for ``RangingConfiguration/clockOffset``.
  public var timestamp: Timestamp
  /// Metres from the antenna to the peer.
  public var distance: Double?
  /// `atan2(d.x, -d.z)` of the peer's direction `d` in device axes, radians, positive to the right.
  public var azimuthRadians: Double?
  /// `asin(d.y)` of the peer's unit direction in device axes, radians, positive up.
  public var elevationRadians: Double?
  /// How far the peer is above the antenna, metres along gravity: from two barometers, say.
  ///
  /// A sensor elsewhere in the device is off by some centimetres, which the offset takes up.
  public var heightDifference: Double?
  /// The distance's standard deviation, metres; the configuration's when `nil`.
  public var distanceSigma: Double?
  /// The azimuth's standard deviation, radians; the configuration's when `nil`.
  public var azimuthSigmaRadians: Double?
  /// The elevation's standard deviation, radians; the configuration's when `nil`.
  public var elevationSigmaRadians: Double?
  /// The white noise of the height difference, one sigma, metres; the configuration's when `nil`.
  ///
  /// Its slowly wandering offset is not in it (``RangingConfiguration/heightOffsetSigma``).
  public var heightDifferenceSigma: Double?
  /// Whether the radio believes that something stands in the line of sight.
  public var isNonLineOfSight: Bool?

  /// Whether the radio measured anything: a height difference needs none.
  @inline(__always)
  var hasRadio: Bool {
    distance != nil || azimuthRadians != nil || elevationRadians != nil
  }

  /// Makes a sample.
  public init(
    peer: PeerID, timestamp: Timestamp, distance: Double? = nil, azimuthRadians: Double? = nil,
    elevationRadians: Double? = nil, heightDifference: Double? = nil,
    distanceSigma: Double? = nil, azimuthSigmaRadians: Double? = nil,
    elevationSigmaRadians: Double? = nil, heightDifferenceSigma: Double? = nil,
    isNonLineOfSight: Bool? = nil
  ) {
    self.peer = peer
    self.timestamp = timestamp
    self.distance = distance
    self.azimuthRadians = azimuthRadians
    self.elevationRadians = elevationRadians
    self.heightDifference = heightDifference
    self.distanceSigma = distanceSigma
    self.azimuthSigmaRadians = azimuthSigmaRadians
    self.elevationSigmaRadians = elevationSigmaRadians
    self.heightDifferenceSigma = heightDifferenceSigma
    self.isNonLineOfSight = isNonLineOfSight
  }

  /// The same values, measured some seconds later, or earlier when negative.
  package func advanced(bySeconds seconds: Double) -> RangingSample {
    var sample = self
    sample.timestamp = timestamp.advanced(bySeconds: seconds)
    return sample
  }
}
