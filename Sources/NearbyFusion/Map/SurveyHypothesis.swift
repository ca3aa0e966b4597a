// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A survey of anchors that is right but for some faults.
///
/// Each hypothesis is a Gaussian prior of the anchors' places: a displaced anchor has a wide one, and an
/// unknown scale correlates the places of all.
struct SurveyHypothesis: Sendable {
  private(set) var faults: [SurveyFault] = []

  /// The prior sigma of a displacement along each axis, metres: a room.
  static let displacementSigma = 3.0
  /// The prior sigma of a scale error, a ratio.
  static let scaleSigma = 0.1

  /// The hypothesis with one fault more.
  func adding(_ fault: SurveyFault) -> SurveyHypothesis {
    var other = self
    other.faults.append(fault)
    return other
  }

  /// The anchors that are somewhere else.
  var displaced: Set<Int> {
    Set(
      faults.compactMap { fault in
        if case .displaced(let anchor) = fault { anchor } else { nil }
      })
  }

  /// Whether the scale of the survey is unknown.
  var isScaled: Bool {
    faults.contains { fault in if case .scaled = fault { true } else { false } }
  }

  /// Whether range differences have the wrong sign.
  var isReversed: Bool { faults.contains(.reversed) }

  /// The faults that may come on top.
  ///
  /// - Parameters:
  ///   - heard: The anchors that measurements tell something of.
  ///   - measuresDifferences: Whether range differences are measured.
  /// - Returns: The faults.
  func furtherFaults(among heard: [Int], measuresDifferences: Bool) -> [SurveyFault] {
    let displaced = displaced
    let kept = heard.filter { !displaced.contains($0) }
    let touched = faults.flatMap { fault in
      if case .exchanged(let a, let b) = fault { [a, b] } else { [Int]() }
    }
    var further = kept.map { SurveyFault.displaced($0) }
    for (index, a) in kept.enumerated() where !touched.contains(a) {
      for b in kept[(index + 1)...] where !touched.contains(b) { further.append(.exchanged(a, b)) }
    }
    let whole: [SurveyFault] =
      [.upsideDown, .mirrored] + (isScaled ? [] : [.scaled(by: 1)])
      + (measuresDifferences ? [.reversed] : [])
    return further + whole.filter { !faults.contains($0) }
  }

  /// The prior of the anchors' places.
  ///
  /// - Parameter survey: The survey.
  /// - Returns: The map, in the order of the survey.
  func map(_ survey: PeerMap) -> PeerMap {
    var map = survey
    for fault in faults {
      switch fault {
      case .displaced(let anchor): map.widen(place: anchor, by: Self.displacementSigma)
      case .exchanged(let a, let b): map.exchange(a, b)
      case .upsideDown: map.negate(axis: 1)
      case .mirrored: map.negate(axis: 0)
      case .scaled: map.widen(by: Self.scaleSigma, along: Self.scaling(map))
      case .reversed: break
      }
    }
    return map
  }

  /// How the unknowns of a map change with its scale, about the middle of the places.
  private static func scaling(_ map: PeerMap) -> [(row: Int, change: Double)] {
    let middle = middle(of: map)
    return map.peers.enumerated().flatMap { index, peer in
      let way = peer.positionInWorld - middle
      let first = PeerMap.numbersPerPeer * index
      return [(first, way.x), (first + 1, way.y), (first + 2, way.z)]
    }
  }

  /// The middle of a map's places.
  static func middle(of map: PeerMap) -> Vector3 {
    map.peers.reduce(.zero) { $0 + $1.positionInWorld } / Double(max(map.peers.count, 1))
  }
}

extension PeerMap {
  /// Adds an error of a peer's place, one sigma along each axis, metres.
  mutating func widen(place peer: Int, by sigma: Double) {
    for axis in 0..<3 { widen(by: sigma, along: [(Self.numbersPerPeer * peer + axis, 1)]) }
  }

  /// Adds an error of one sigma along a direction of the unknowns: `C + σ² v vᵀ`.
  fileprivate mutating func widen(by sigma: Double, along direction: [(row: Int, change: Double)]) {
    for (row, a) in direction {
      for (column, b) in direction { covariance[row * size + column] += sigma * sigma * a * b }
    }
  }

  /// Gives two peers each other's place.
  fileprivate mutating func exchange(_ a: Int, _ b: Int) {
    (peers[a].positionInWorld, peers[b].positionInWorld) = (
      peers[b].positionInWorld, peers[a].positionInWorld
    )
    var order = Array(0..<size)
    for axis in 0..<3 {
      order.swapAt(Self.numbersPerPeer * a + axis, Self.numbersPerPeer * b + axis)
    }
    covariance = order.flatMap { row in order.map { covariance[row * size + $0] } }
  }

  /// Changes the sign of a coordinate.
  fileprivate mutating func negate(axis: Int) {
    for index in peers.indices {
      let place = peers[index].positionInWorld
      peers[index].positionInWorld = Vector3(
        axis == 0 ? -place.x : place.x, axis == 1 ? -place.y : place.y,
        axis == 2 ? -place.z : place.z)
    }
    for row in 0..<size {
      for column in 0..<size
      where (row % Self.numbersPerPeer == axis) != (column % Self.numbersPerPeer == axis) {
        covariance[row * size + column].negate()
      }
    }
  }
}
