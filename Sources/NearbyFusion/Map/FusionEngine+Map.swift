// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

extension FusionEngine {
  /// Whether the device has been found in the map that the engine was given.
  public var isInMap: Bool { joint.isInMap }

  /// What the ranges say of the map that the engine was given, its peers numbered as the map has them; `nil`
  /// without a map.
  public var mapVerdict: SurveyVerdict? { localizer?.verdict }

  /// Where peers at rest are in the map, with what is known of their radios: to be kept for another run.
  ///
  /// These are the peers of the joint fit whose places may be believed in all directions, with their joint
  /// covariance, and all others that have converged, each by itself. Of a map that the engine was given the
  /// peers that do not take part stay as they were, but for faults that were found (``mapVerdict``); and so does all of
  /// it if the device was not found in it.
  /// `nil` when there is nothing to be kept.
  public var peerMap: PeerMap? {
    if let localizer, !joint.isInMap { return localizer.map }
    var map = PeerMap(peers: [], covariance: [])
    var isTold = [Bool](repeating: false, count: peers.count)
    if let fitted = joint.map(naming: name(of:)) {
      map = fitted.map
      for peer in fitted.peers { isTold[peer] = true }
    }
    let mapFromWorld = mapAlignment?.mapFromWorld ?? .identity
    for peer in peers.indices where !isTold[peer] && peers[peer].motion == .stationary {
      if let alone = mapOfConverged(peer, mapFromWorld) { map.append(alone) }
    }
    if let old = localizer?.corrected {
      let names = Set(map.peers.map(\.name))
      map.append(old.selecting(old.peers.indices.filter { !names.contains(old.peers[$0].name) }))
    }
    return map.peers.isEmpty ? nil : map
  }

  /// The name of a peer in a map: its own, or one that no other peer has.
  private func name(of peer: Int) -> String {
    if let name = names[peer] { return name }
    let taken = Set(names.compactMap(\.self)).union(localizer?.map.peers.map(\.name) ?? [])
    var name = "peer-\(peer + 1)"
    while taken.contains(name) { name += "-unnamed" }
    return name
  }

  /// A map of one peer, by its own filter; `nil` when that has not converged.
  private func mapOfConverged(_ peer: Int, _ mapFromWorld: RigidTransform) -> PeerMap? {
    let estimate = estimate(of: PeerID(index: peer))
    guard estimate.convergence == .converged, let mean = estimate.positionInWorld else {
      return nil
    }
    let ranging = configuration.ranging
    let size = PeerMap.numbersPerPeer
    let turned = estimate.covarianceInWorld.rotated(by: mapFromWorld.rotation)
    var covariance = [Double](repeating: 0, count: size * size)
    let rows = [
      [turned.xx, turned.xy, turned.xz], [turned.xy, turned.yy, turned.yz],
      [turned.xz, turned.yz, turned.zz],
    ]
    for row in 0..<3 {
      for column in 0..<3 { covariance[row * size + column] = rows[row][column] }
    }
    covariance[3 * size + 3] = ranging.rangeBiasSigma * ranging.rangeBiasSigma
    covariance[4 * size + 4] = ranging.rangeScaleSigma * ranging.rangeScaleSigma
    return PeerMap(
      peers: [PeerMap.Peer(name: name(of: peer), positionInWorld: mapFromWorld.act(mean))],
      covariance: covariance)
  }
}
