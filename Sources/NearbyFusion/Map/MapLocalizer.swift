// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// How the odometry's world lies in a map at a device point.
struct MapPlacement: Sendable {
  /// The device's place in the map, metres.
  var place: Vector3
  /// The turn about gravity from the odometry's world to the map.
  var yawRadians: Double
}

/// Locates the device in the map that an engine was given, by the ranges to its peers.
struct MapLocalizer: Sendable {
  let map: PeerMap
  /// The map's place of each peer of the engine that is in it, by the peer's index.
  private var entries: [Int?] = []
  private var window: AnchorWindow
  private var soughtAt: Timestamp?

  /// The seconds between two attempts.
  private static let interval = 0.5

  init(_ map: PeerMap) {
    self.map = map
    window = AnchorWindow(
      anchors: map.peers.map(\.position),
      errors: map.peers.indices.map { peer in
        let first = PeerMap.numbersPerPeer * peer
        func variance(_ row: Int) -> Double { map.covariance[(first + row) * (map.size + 1)] }
        return AnchorError(
          variance: map.positionCovariance(of: peer).trace / 3 + variance(3),
          scaleSigma: variance(4).squareRoot())
      })
  }

  /// Takes note of the next peer of the engine.
  mutating func add(peer motion: PeerMotion, named name: String?) {
    entries.append(
      motion == .stationary ? map.peers.firstIndex { $0.name == name } : nil)
  }

  /// The peers of the engine that the map has, with their places in it.
  var known: [(peer: Int, entry: Int)] {
    entries.enumerated().compactMap { peer, entry in entry.map { (peer, $0) } }
  }

  /// Adds a range to a peer of the map, and locates the device if an attempt is due.
  ///
  /// - Returns: Where the device is; `nil` without an unambiguous solution.
  mutating func locate(
    by measurements: Measurements, of peer: Int, from device: TrajectoryPoint,
    _ configuration: FusionConfiguration
  ) -> MapPlacement? {
    guard let entry = entries[peer], let range = measurements[.range] else { return nil }
    let radio = map.peers[entry]
    let isKept = window.add(
      (range.value - radio.rangeBias) / (1 + radio.rangeScale), to: entry, sigma: range.sigma,
      from: device,
      antennaInDevice: configuration.ranging.antennaInDevice)
    guard isKept else { return nil }
    if let soughtAt, device.timestamp.seconds(since: soughtAt) < Self.interval { return nil }
    soughtAt = device.timestamp
    guard let fix = window.locate(at: device, configuration), fix.isTurnKnown else { return nil }
    return MapPlacement(place: fix.solution.position, yawRadians: fix.solution.turnRadians)
  }
}
