// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// One row of `ranging.csv`: the measurements of one peer, each of them optional.
///
/// Values are as in the file. Even `nan` and a negative distance are no errors here: the engine
/// checks each value and reports whether it was used.
public struct RangingRow: Hashable, Sendable {
  /// The time of the measurement.
  public var timestamp: Timestamp
  /// The peer's name.
  public var peer: String
  /// The peer's index in the reader's list of peers.
  public var peerIndex: Int
  /// The measured values.
  package var values = RangingValues()
  /// ``line``.
  ///
  /// Performance: four bytes fit behind the values, see ``RangingValues``.
  private var storedLine: Int32 = 0

  /// The line in its file, from 1; 0 when it comes from no file.
  public var line: Int {
    get { Int(storedLine) }
    set { storedLine = Int32(truncatingIfNeeded: newValue) }
  }

  /// Makes a row.
  public init(
    timestamp: Timestamp, peer: String, peerIndex: Int = 0, distance: Double? = nil,
    azimuthRadians: Double? = nil, elevationRadians: Double? = nil, distanceSigma: Double? = nil,
    azimuthSigmaRadians: Double? = nil, elevationSigmaRadians: Double? = nil,
    azimuthFigureOfMerit: Double? = nil, elevationFigureOfMerit: Double? = nil,
    rssi: Double? = nil, isNonLineOfSight: Bool? = nil, heightDifference: Double? = nil,
    heightDifferenceSigma: Double? = nil, line: Int = 0
  ) {
    self.init(timestamp: timestamp, peer: peer, peerIndex: peerIndex, RangingValues(), line: line)
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
    self.heightDifference = heightDifference
    self.heightDifferenceSigma = heightDifferenceSigma
  }

  /// Makes a row from all measured values.
  @inline(__always)
  init(timestamp: Timestamp, peer: String, peerIndex: Int, _ values: RangingValues, line: Int) {
    self.timestamp = timestamp
    self.peer = peer
    self.peerIndex = peerIndex
    self.values = values
    storedLine = Int32(truncatingIfNeeded: line)
  }
}

extension RangingRow {
  /// The radio's figure of merit for the azimuth, in the radio's own scale.
  public var azimuthFigureOfMerit: Double? {
    get { values[.azimuthFigureOfMerit] }
    set { values[.azimuthFigureOfMerit] = newValue }
  }

  /// The radio's figure of merit for the elevation, in the radio's own scale.
  public var elevationFigureOfMerit: Double? {
    get { values[.elevationFigureOfMerit] }
    set { values[.elevationFigureOfMerit] = newValue }
  }

  /// Received signal strength, dBm.
  public var rssi: Double? {
    get { values[.rssi] }
    set { values[.rssi] = newValue }
  }

  /// Whether the radio reports an obstructed line of sight.
  public var isNonLineOfSight: Bool? {
    get { values[.nonLineOfSight].map { $0 != 0 } }
    set { values[.nonLineOfSight] = newValue.map { $0 ? 1 : 0 } }
  }
}
