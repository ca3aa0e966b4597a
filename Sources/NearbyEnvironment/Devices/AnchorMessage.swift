// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// A message of an anchor that a device hears without answering (downlink TDoA).
public struct AnchorMessage: Hashable, Sendable {
  /// Which message of a round it is.
  public enum Kind: Int, Hashable, Sendable {
    /// The first, of the initiating anchor.
    case poll = 0
    /// That of another anchor.
    case response = 1
    /// The last, of the initiating anchor.
    case final = 2
  }

  /// The anchor's address.
  public var address: Int
  /// Which message it is.
  public var kind: Kind
  /// When it was sent on the anchor's clock, seconds since the round began.
  public var transmitSeconds: Double
  /// When it was received on the device's clock, seconds since the round began.
  public var receiveSeconds: Double
  /// dBm.
  public var signalStrength: Double
  /// How much faster the anchor's oscillator runs than the device's, a ratio.
  public var carrierFrequencyOffset: Double
  /// The anchor's place in the site, y up, metres.
  public var position: Vector3
  /// The address of the anchor that began the round.
  public var initiatorAddress: Int
}

/// An anchor of a simulated world, which sends and never measures.
public struct SimulatedAnchor: Hashable, Sendable, Codable {
  /// Its address.
  public var address: Int
  /// Its place in the world: x, y (up) and z, metres.
  public var place: [Double]

  /// Makes an anchor.
  ///
  /// - Parameters:
  ///   - address: Its address.
  ///   - place: Its place in the world, y up, metres.
  public init(address: Int, at place: Vector3) {
    self.address = address
    self.place = [place.x, place.y, place.z]
  }

  /// Its place; the origin for a decoded anchor without three coordinates.
  var position: Vector3 { place.count == 3 ? Vector3(place[0], place[1], place[2]) : .zero }
}
