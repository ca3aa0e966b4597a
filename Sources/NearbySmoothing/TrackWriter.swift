// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry

/// Turns modes into tracks.
struct TrackWriter {
  private var best: Marginals
  private let bestSolution: SmoothingSolution
  private var rivals: [(peer: Int, weight: Double, marginals: Marginals)]

  /// Rivals of one peer nearer to each other than this, metres, are one.
  private static let sameMetres = 0.1

  init(_ result: ModeFinder.Result) {
    best = Marginals(result.best)
    bestSolution = result.best
    rivals = []
    var kept: [(peer: Int, solution: SmoothingSolution)] = []
    for rival in result.rivals.sorted(by: { $0.solution.logEvidence > $1.solution.logEvidence }) {
      let place = rival.solution.state.peers[rival.peer].position
      let isKnown =
        (place - result.best.state.peers[rival.peer].position).length < Self.sameMetres
        || kept.contains {
          $0.peer == rival.peer
            && ($0.solution.state.peers[rival.peer].position - place).length < Self.sameMetres
        }
      guard !isKnown else { continue }
      kept.append(rival)
      rivals.append(
        (
          rival.peer, exp(rival.solution.logEvidence - result.best.logEvidence),
          Marginals(rival.solution)
        ))
    }
  }

  /// Writes one peer's track.
  ///
  /// - Parameters:
  ///   - peer: The peer's place in the problem.
  ///   - moments: Its samples' moments and knots.
  ///   - end: The device at the last knot.
  ///   - track: Where to.
  mutating func write(
    _ peer: Int, moments: [(time: Timestamp, knot: Int)], end: TrajectoryPoint,
    into track: inout SmoothedTrack
  ) {
    let knots = bestSolution.problem.knots
    track.motion =
      bestSolution.problem.movingSlots[peer] == nil ? .stationary : .moving
    track.positions = moments.map { moment in
      position(
        of: peer, knot: moment.knot, at: moment.time,
        seconds: moment.time.seconds(since: knots[moment.knot].device.timestamp))
    }
    let last = knots.count - 1
    let lastTime = max(moments.map(\.time).max() ?? end.timestamp, end.timestamp)
    let seconds =
      track.motion == .stationary ? 0 : lastTime.seconds(since: knots[last].device.timestamp)
    track.final = position(of: peer, knot: last, at: lastTime, seconds: seconds)
    let parameters = bestSolution.state.peers[peer]
    let sigmas = best.errorSigmas(ofPeer: peer)
    track.rangeBias = SmoothedParameter(value: parameters.rangeBias, sigma: sigmas.bias)
    track.rangeScale = SmoothedParameter(value: parameters.rangeScale, sigma: sigmas.scale)
    track.modes = components(of: peer, knot: last, seconds: seconds).map {
      SmoothedMode(positionInWorld: $0.mean, covariance: $0.covariance, probability: $0.weight)
    }
  }

  /// The modes of a peer at a knot: the best one, then its rivals.
  private mutating func components(
    of peer: Int, knot: Int, seconds: Double
  ) -> [(mean: Vector3, covariance: SymmetricMatrix3, weight: Double)] {
    let own = rivals.indices.filter { rivals[$0].peer == peer }
    let total = own.reduce(1) { $0 + rivals[$1].weight }
    let first = best.position(ofPeer: peer, knot: knot, secondsSinceKnot: seconds)
    var components = [(first.mean, first.covariance, 1 / total)]
    for index in own {
      let other = rivals[index].marginals.position(
        ofPeer: peer, knot: knot, secondsSinceKnot: seconds)
      components.append((other.mean, other.covariance, rivals[index].weight / total))
    }
    return components
  }

  /// The moments of the mixture of a peer's modes.
  private mutating func position(
    of peer: Int, knot: Int, at time: Timestamp, seconds: Double
  ) -> SmoothedPosition {
    let components = components(of: peer, knot: knot, seconds: seconds)
    var mean = Vector3.zero
    for component in components { mean += component.weight * component.mean }
    var covariance = SymmetricMatrix3.zero
    for component in components {
      covariance =
        covariance + component.weight * component.covariance
        + SymmetricMatrix3(outer: component.mean - mean, scale: component.weight)
    }
    return SmoothedPosition(timestamp: time, positionInWorld: mean, covariance: covariance)
  }
}
