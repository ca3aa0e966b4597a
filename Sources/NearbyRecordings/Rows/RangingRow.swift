// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// One row of `ranging.csv`: what was measured with one peer, each part optional.
///
/// Values are as they stand in the file. Not even `nan` or a negative distance is an error here: the
/// engine judges each part and records what it did with it.
public struct RangingRow: Hashable, Sendable {
  /// When.
  public var timestamp: Timestamp
  /// The peer's name.
  public var peer: String
  /// The peer's place in the reader's list of peers.
  public var peerIndex: Int
  /// Metres from the antenna to the peer.
  public var distance: Double?
  /// The azimuth in engine axes whatever the recording's axes, radians, positive to the right.
  public var azimuthRadians: Double?
  /// The elevation, radians, positive up.
  public var elevationRadians: Double?
  /// One standard deviation of the distance, metres.
  public var distanceSigma: Double?
  /// One standard deviation of the azimuth, radians.
  public var azimuthSigmaRadians: Double?
  /// One standard deviation of the elevation, radians.
  public var elevationSigmaRadians: Double?
  /// The radio's figure of merit for the azimuth, in the radio's own scale.
  public var azimuthFigureOfMerit: Double?
  /// The radio's figure of merit for the elevation, in the radio's own scale.
  public var elevationFigureOfMerit: Double?
  /// Received signal strength, dBm.
  public var rssi: Double?
  /// Whether the radio believes that something stands in the line of sight.
  public var isNonLineOfSight: Bool?
  /// The line in its file, from 1; 0 when it comes from no file.
  public var line: Int

  /// Makes a row.
  public init(
    timestamp: Timestamp, peer: String, peerIndex: Int = 0, distance: Double? = nil,
    azimuthRadians: Double? = nil, elevationRadians: Double? = nil, distanceSigma: Double? = nil,
    azimuthSigmaRadians: Double? = nil, elevationSigmaRadians: Double? = nil,
    azimuthFigureOfMerit: Double? = nil, elevationFigureOfMerit: Double? = nil,
    rssi: Double? = nil, isNonLineOfSight: Bool? = nil, line: Int = 0
  ) {
    self.timestamp = timestamp
    self.peer = peer
    self.peerIndex = peerIndex
    self.distance = distance
    self.azimuthRadians = azimuthRadians
    self.elevationRadians = elevationRadians
    self.distanceSigma = distanceSigma
    self.azimuthSigmaRadians = azimuthSigmaRadians
    self.elevationSigmaRadians = elevationSigmaRadians
    self.azimuthFigureOfMerit = azimuthFigureOfMerit
    self.elevationFigureOfMerit = elevationFigureOfMerit
    self.rssi = rssi
    self.isNonLineOfSight = isNonLineOfSight
    self.line = line
  }

  /// The row as the engine takes it.
  ///
  /// - Parameter id: The handle that the engine gave for this row's peer.
  /// - Returns: The sample, values unchanged.
  public func sample(of id: PeerID) -> RangingSample {
    RangingSample(
      peer: id, timestamp: timestamp, distance: distance, azimuthRadians: azimuthRadians,
      elevationRadians: elevationRadians, distanceSigma: distanceSigma,
      azimuthSigmaRadians: azimuthSigmaRadians, elevationSigmaRadians: elevationSigmaRadians,
      isNonLineOfSight: isNonLineOfSight)
  }
}
