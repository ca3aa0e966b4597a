// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Makes a problem of what was measured on a path: ties each sample to the knots around it.
struct ProblemBuilder: Sendable {
  let configuration: FusionConfiguration
  /// In the order of time.
  let usable: [Sighting]
  /// How far away peers are, metres.
  let typicalDistance: Double

  /// The prior sigma of a peer's place, as a multiple of the longest range, and its least value, metres.
  ///
  /// A place is pulled to the prior's mean by its distance times the ratio of both variances.
  private static let priorReach = 2.0
  private static let leastPriorSigma = 100.0
  /// How far away peers are taken to be when there are no ranges, metres.
  private static let unknownDistance = 5.0

  /// Makes one of samples that can be used, in the order of time.
  init(_ configuration: FusionConfiguration, _ usable: [Sighting]) {
    (self.configuration, self.usable) = (configuration, usable)
    let ranges = usable.compactMap { $0.measurements[.range]?.value }.sorted()
    typicalDistance = ranges.isEmpty ? Self.unknownDistance : ranges[ranges.count / 2]
  }

  /// What the radio can tell, as metres in the direction in which it can tell most.
  var lineOfSightSigma: Double {
    var least = Double.infinity
    for kind in MeasurementKind.allCases {
      let sigmas = usable.compactMap { $0.measurements[kind]?.sigma }.sorted()
      guard !sigmas.isEmpty else { continue }
      least = min(least, sigmas[sigmas.count / 2] * (kind.isAngle ? typicalDistance : 1))
    }
    return least
  }

  /// The last knot that is not after a moment and in the same world.
  static func knot(of time: Timestamp, _ world: Int?, in knots: [DriftKnot]) -> Int {
    var (low, high) = (0, knots.count)
    while low < high {
      let middle = (low + high) / 2
      if knots[middle].device.timestamp <= time { low = middle + 1 } else { high = middle }
    }
    var knot = max(0, low - 1)
    // A pose interpolated across a jump belongs to the world behind it.
    while let world, knot + 1 < knots.count, knots[knot].device.world < world { knot += 1 }
    return knot
  }

  /// The problem of some knots.
  ///
  /// - Parameters:
  ///   - knots: Two at least.
  ///   - peers: The peers to be estimated; samples of others are left out.
  ///   - isMoving: Of each of them whether it moves.
  /// - Returns: The problem, its noise yet to be set.
  func problem(knots: [DriftKnot], peers: [Int], isMoving: [Bool]) -> SmoothingProblem {
    let placeOfPeer = Dictionary(
      uniqueKeysWithValues: peers.enumerated().map { ($1, $0) })
    var observations: [Observation] = []
    observations.reserveCapacity(usable.count)
    for sighting in usable {
      guard let device = sighting.device, let peer = placeOfPeer[sighting.peer] else { continue }
      let knot = Self.knot(of: sighting.timestamp, device.world, in: knots)
      observations.append(observation(sighting, peer: peer, device, knot, knots))
    }
    // Sorted by time; across a jump a knot may come first.
    let order = observations.indices.sorted {
      (observations[$0].cell.knot, $0) < (observations[$1].cell.knot, $1)
    }
    let longest = usable.compactMap { $0.measurements[.range]?.value }.max() ?? typicalDistance
    return SmoothingProblem(
      knots: knots, observations: order.map { observations[$0] }, isMoving: isMoving,
      configuration: configuration, priorCenter: knots[0].place,
      priorSigma: max(Self.priorReach * longest, Self.leastPriorSigma))
  }

  private func observation(
    _ sighting: Sighting, peer: Int, _ device: TrajectoryPoint, _ knot: Int, _ knots: [DriftKnot]
  ) -> Observation {
    // The last knot is only the end of a step.
    let first = min(knot, knots.count - 2)
    let (before, after) = (knots[first].device, knots[first + 1].device)
    let share =
      knot > first
      ? 1 : before.world == after.world ? device.driftShare(from: before, to: after) : 0
    var observation = Observation(
      cell: ChainProblem.Cell(
        pose: AntennaPose(
          device.worldFromDevice, antennaInDevice: configuration.ranging.antennaInDevice),
        knot: first, share: share, seconds: sighting.timestamp.seconds(since: before.timestamp),
        peer: peer, isObstructed: sighting.isObstructed, rate: sighting.rate),
      measurements: sighting.measurements, poseVariance: (0, 0),
      interpolationVariance: device.interpolationVariance,
      distance: max(sighting.measurements[.range]?.value ?? typicalDistance, 0.3))
    observation.velocityVariance = sighting.velocityVariance
    observation.setPoseVariance(
      DriftStep(from: before, to: after, isPlanar: configuration.odometry.isPlanar))
    return observation
  }
}
