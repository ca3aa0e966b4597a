// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// Turns modes into tracks.
struct TrackWriter {
  private let best: Marginals
  private let bestSolution: SmoothingSolution
  private var rivals: [(peer: Int, weight: Double, marginals: Marginals)]

  /// A sample's moment.
  struct Moment {
    var time: Timestamp
    var worldFromDevice: RigidTransform?
    var knot: Int
  }

  init(_ result: ModeFinder.Result) {
    best = Marginals(result.best)
    bestSolution = result.best
    rivals = []
    for rival in result.rivals.sorted(by: { $0.solution.logEvidence > $1.solution.logEvidence }) {
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
  ///   - moments: Its samples' moments.
  ///   - end: The device at the last knot.
  ///   - track: Where to.
  func write(
    _ peer: Int, moments: [Moment], end: TrajectoryPoint,
    into track: inout SmoothedTrack
  ) {
    let isMoving = bestSolution.problem.movingSlots[peer] != nil
    track.motion = isMoving ? .moving : .stationary
    let knots = bestSolution.problem.knots
    track.positions = moments.map { position(of: peer, at: $0, isMoving: isMoving) }
    let last = Moment(
      time: max(moments.map(\.time).max() ?? end.timestamp, end.timestamp),
      worldFromDevice: end.worldFromDevice, knot: knots.count - 1)
    track.final = position(of: peer, at: last, isMoving: isMoving)
    let parameters = bestSolution.problem.parameters(ofPeer: peer, at: bestSolution.state)
    let sigmas = best.errorSigmas(ofPeer: peer)
    track.rangeBias = SmoothedParameter(value: parameters.rangeBias, sigma: sigmas.bias)
    track.rangeScale = SmoothedParameter(value: parameters.rangeScale, sigma: sigmas.scale)
    track.modes = components(of: peer, at: last, isMoving: isMoving).map {
      SmoothedMode(
        positionInWorld: $0.mean, covarianceInWorld: $0.covariance, probability: $0.weight)
    }
  }

  /// The modes of a peer at a moment: the best one, then its rivals.
  private func components(
    of peer: Int, at moment: Moment, isMoving: Bool
  ) -> [(mean: Vector3, covariance: SymmetricMatrix3, weight: Double)] {
    let knot = bestSolution.problem.knots[moment.knot].device.timestamp
    let seconds = isMoving ? moment.time.seconds(since: knot) : 0
    let own = rivals.indices.filter { rivals[$0].peer == peer }
    let total = own.reduce(1) { $0 + rivals[$1].weight }
    let first = best.position(ofPeer: peer, knot: moment.knot, secondsSinceKnot: seconds)
    var components = [(first.mean, first.covariance, 1 / total)]
    for index in own {
      let other = rivals[index].marginals.position(
        ofPeer: peer, knot: moment.knot, secondsSinceKnot: seconds)
      components.append((other.mean, other.covariance, rivals[index].weight / total))
    }
    return components
  }

  /// The moments of the mixture of a peer's modes.
  private func position(
    of peer: Int, at moment: Moment, isMoving: Bool
  ) -> SmoothedPosition {
    let components = components(of: peer, at: moment, isMoving: isMoving)
    var mean = Vector3.zero
    for component in components { mean += component.weight * component.mean }
    var covariance = SymmetricMatrix3.zero
    for component in components {
      covariance =
        covariance + component.weight * component.covariance
        + SymmetricMatrix3(outer: component.mean - mean, scale: component.weight)
    }
    return SmoothedPosition(
      timestamp: moment.time, worldFromDevice: moment.worldFromDevice, positionInWorld: mean,
      covarianceInWorld: covariance)
  }
}
