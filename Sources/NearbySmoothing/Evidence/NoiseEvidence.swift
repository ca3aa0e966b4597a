// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry

/// The evidence for settings of the noise: how probable they make what was measured to peers at rest.
///
/// It is Laplace's approximation around the mode of the same chain (``ChainProblem``) that the smoother
/// solves, with five constants among the unknowns of its border: the offset of the radio's clock, the
/// antenna's lever arm, the scale of ranges, and the steady turn and the scale of an odometry that drifts.
/// With cost C, prior information A and information H,
///
///     log p(z | θ) = -C(x̂) + ½ log det A - ½ log det H
///
/// at the mode x̂, each density in C with its normalisation. The settings θ change the variances of
/// values and of the drift; neither the knots nor which samples are used depend on them.
package struct NoiseEvidence: Sendable {
  /// A moment of the path, with the variances of a drift of one, and those of jumps apart.
  package struct PathPoint: Sendable {
    /// Its variances are in units of the squared drifts: m, and rad² for 1 rad/√m.
    package var point: TrajectoryPoint
    /// What jumps of the world have added up to there, m² per axis and rad².
    package var jumpPositionVariance: Double
    package var jumpYawVariance: Double

    package init(
      _ point: TrajectoryPoint, jumpPositionVariance: Double, jumpYawVariance: Double
    ) {
      self.point = point
      self.jumpPositionVariance = jumpPositionVariance
      self.jumpYawVariance = jumpYawVariance
    }

    /// The point as it is with a drift.
    fileprivate func scaled(_ odometry: OdometryConfiguration) -> TrajectoryPoint {
      let (drift, yaw) = (odometry.positionDrift, odometry.yawDriftRadians)
      var scaled = point
      scaled.positionDriftVariance *= drift * drift
      scaled.positionDriftVariance += jumpPositionVariance
      scaled.yawDriftVariance *= yaw * yaw
      scaled.yawDriftVariance += jumpYawVariance
      return scaled
    }
  }

  /// Where an engine had a peer last.
  package struct Start: Sendable {
    package var timestamp: Timestamp
    package var position: Vector3
    package var covariance: SymmetricMatrix3

    package init(timestamp: Timestamp, position: Vector3, covariance: SymmetricMatrix3) {
      (self.timestamp, self.position, self.covariance) = (timestamp, position, covariance)
    }
  }

  /// The constants of the radio.
  package struct Constants: Hashable, Sendable {
    /// By how much the radio's clock is ahead of the poses', seconds.
    package var clockOffset = 0.0
    /// The antenna's place along the device's axes, metres.
    package var antenna = Vector3.zero
    /// The scale error of all ranges.
    package var rangeScale = 0.0

    package init(clockOffset: Double = 0, antenna: Vector3 = .zero, rangeScale: Double = 0) {
      (self.clockOffset, self.antenna, self.rangeScale) = (clockOffset, antenna, rangeScale)
    }
  }

  /// A value with one standard deviation.
  package struct Constant: Hashable, Sendable {
    package var value: Double
    package var sigma: Double
  }

  /// What is found around a mode, each with one standard deviation.
  package struct Findings: Sendable {
    package var constants = Constants()
    package var clockSigma = 0.0
    package var antennaSigmas = Vector3.zero
    package var scaleSigma = 0.0
    /// The odometry's steady turn, rad/s, and its scale error; `nil` where it is taken for free of drift.
    package var odometry: (turnRate: Constant, scale: Constant)?
    /// Of each peer the constant error of its ranges, metres.
    package var biases: [(value: Double, sigma: Double)] = []
  }

  // MARK: Priors

  private static let clockSigma = 0.2
  private static let antennaSigma = 0.3
  private static let scaleSigma = 0.1
  private static let biasSigma = 0.5
  /// Those of the odometry, radians per second and a ratio, at least.
  private static let turnRateSigma = 0.1.degreesAsRadians
  private static let odometryScaleSigma = 0.01

  private let stated: FusionConfiguration
  let knots: [DriftKnot]
  private let path: [PathPoint]
  private let peerCount: Int
  private(set) var problem: SmoothingProblem
  private(set) var state: SmoothingState
  /// The effective sample share of each observation's wandering error, by kind: one for an independent draw.
  private var draws: [PerKind<Double>] = []
  /// The drift that gives the variance of poses between two knots: that of the last mode.
  ///
  /// Those errors count as independent, as noise does. With the drift of the settings that are compared, a larger
  /// drift would explain noise away.
  private var bridging: OdometryConfiguration
  /// The constants at which the observations have their poses.
  package private(set) var base: Constants

  /// Makes the evidence of a recording; `nil` without two places of the device.
  ///
  /// - Parameters:
  ///   - path: The device's path.
  ///   - sightings: The samples, with the device where it was by the stated offset of the radio's clock.
  ///   - peerCount: The number of peers, all at rest.
  ///   - stated: The settings as they are stated.
  ///   - mostKnots: The largest number of knots, which have equal drift between them.
  package init?(
    _ path: [PathPoint], _ sightings: [Sighting], peerCount: Int, stated: FusionConfiguration,
    mostKnots: Int = 600
  ) {
    let times = sightings.lazy.map(\.timestamp)
    guard let first = times.min(), let last = times.max() else { return nil }
    let begin = max(0, (path.firstIndex { $0.point.timestamp > first } ?? path.count) - 1)
    let end = (path.firstIndex { $0.point.timestamp >= last } ?? path.count - 1) + 1
    guard begin + 1 < end else { return nil }
    let used = path[begin..<end]
    var spacing = KnotSpacing(rangeSigma: 0, distance: 1)
    if let a = used.first?.point, let b = used.last?.point {
      let drift =
        b.positionDriftVariance - a.positionDriftVariance + b.yawDriftVariance - a.yawDriftVariance
      spacing.driftBudget = drift / Double(mostKnots)
    }
    let knots = spacing.knots(used.map(\.point))
    var found: [PathPoint] = []
    for place in used where found.count < knots.count {
      // Both sides of a jump may be knots, and the last place may be one twice.
      while found.count < knots.count, knots[found.count].device == place.point {
        found.append(place)
      }
    }
    guard found.count == knots.count else { return nil }
    (self.knots, self.path, self.peerCount, self.stated) = (knots, found, peerCount, stated)
    bridging = stated.odometry
    base = Constants(
      clockOffset: stated.ranging.clockOffset, antenna: stated.ranging.antennaInDevice)
    problem = Self.problem(sightings, knots, peerCount, stated, base)
    state = DeviceTrace(problem: problem, starts: Array(repeating: nil, count: peerCount))
      .straight()
    measureViewpoints()
  }

  private static func problem(
    _ sightings: [Sighting], _ knots: [DriftKnot], _ peerCount: Int,
    _ stated: FusionConfiguration, _ base: Constants
  ) -> SmoothingProblem {
    var configuration = stated
    configuration.ranging.antennaInDevice = base.antenna
    configuration.ranging.rangeBiasSigma = biasSigma
    // An odometry without drift is the truth, which neither turns nor has a scale error.
    if stated.odometry.positionDrift > 0 || stated.odometry.yawDriftRadians > 0 {
      configuration.odometry.turnRateSigmaRadians = max(
        turnRateSigma, stated.odometry.turnRateSigmaRadians)
      configuration.odometry.scaleSigma = max(odometryScaleSigma, stated.odometry.scaleSigma)
    }
    let usable = sightings.filter(\.isUsable).sorted { $0.timestamp < $1.timestamp }
    var problem = ProblemBuilder(configuration, usable).problem(
      knots: knots, peers: Array(0..<peerCount),
      isMoving: Array(repeating: false, count: peerCount))
    let away = stated.ranging.antennaInDevice - base.antenna
    problem.radioConstants = [.clockOffset, .leverArm, .rangeScale]
    problem.radioPriors =
      [(stated.ranging.clockOffset - base.clockOffset, clockSigma * clockSigma)]
      + [away.x, away.y, away.z].map { ($0, antennaSigma * antennaSigma) }
      + [(0, scaleSigma * scaleSigma)]
    return problem
  }

  // MARK: The noise

  /// The problem under some settings.
  private func problem(under configuration: FusionConfiguration) -> SmoothingProblem {
    var problem = problem
    let (ranging, odometry) = (configuration.ranging, configuration.odometry)
    problem.faults = FaultModel(configuration)
    problem.ranging.rangeSigma = ranging.rangeSigma
    func steps(_ odometry: OdometryConfiguration) -> [DriftStep] {
      problem.steps.indices.map { index in
        DriftStep(
          from: path[index].scaled(odometry), to: path[index + 1].scaled(odometry),
          isPlanar: problem.isPlanar)
      }
    }
    let bridges = steps(bridging)
    problem.steps = steps(odometry)
    for index in problem.observations.indices {
      problem.observations[index].setPoseVariance(bridges[problem.observations[index].cell.knot])
      let pose = problem.observations[index].poseVariance
      for kind in MeasurementKind.allCases {
        guard let value = problem.observations[index][kind] else { continue }
        // In proportion to the stated sigma of the value.
        let sigma = value.sigma / stated.ranging.sigma(of: kind) * ranging.sigma(of: kind)
        let share = ranging.whiteShare(of: kind)
        problem.observations[index].noise[kind] = MeasurementNoise(
          white: share * share * sigma * sigma,
          wander: max(1 - share * share, Self.leastWander) * sigma * sigma,
          pose: kind.isAngle ? pose.angle : pose.range, draw: draws[index][kind])
      }
    }
    return problem
  }

  /// The least share of the variance that wanders.
  private static let leastWander = 1e-3

  /// Computes the effective sample shares from the viewpoints at the mode.
  package mutating func measureViewpoints() {
    let learner = NoiseLearner(peerCount: peerCount, problem.ranging)
    draws = Array(repeating: PerKind(repeating: 1), count: problem.observations.count)
    let views = problem.observations.map { Viewpoint($0, in: problem, at: state) }
    for peer in 0..<peerCount {
      for kind in MeasurementKind.allCases {
        let own = problem.observations.indices.filter {
          problem.observations[$0].cell.peer == peer && problem.observations[$0][kind] != nil
        }
        for (index, draw) in zip(own, learner.draws(kind, own.map { views[$0] })) {
          draws[index][kind] = draw
        }
      }
    }
  }

  /// The series of a kind's residuals at the mode, one for each peer.
  package func residuals(of kind: MeasurementKind) -> [ResidualSeries] {
    let heightOffset = HeightOffset(stated.ranging)
    return (0..<peerCount).map { peer in
      var series = ResidualSeries()
      var last: Viewpoint?
      for observation in problem.observations where observation.cell.peer == peer {
        guard let residual = problem.residual(kind, of: observation, at: state),
          let value = observation[kind]
        else { continue }
        let view = Viewpoint(observation, in: problem, at: state)
        series.values.append(
          ResidualSeries.Value(
            residual: residual, widening: value.sigma / stated.ranging.sigma(of: kind),
            poseVariance: observation.interpolationVariance,
            correlation: last.map {
              CorrelatedNoise.correlation(of: kind, between: view, $0, heightOffset)
            } ?? 0))
        last = view
      }
      return series
    }
  }

  // MARK: Modes

  /// Locates the peers and the device from afar.
  ///
  /// - Parameters:
  ///   - starts: Where an engine had each peer; `nil` for one that it never located.
  ///   - configuration: The settings.
  /// - Returns: Whether a mode was found.
  package mutating func locate(
    from starts: [Start?], under configuration: FusionConfiguration
  ) -> Bool {
    bridging = configuration.odometry
    let places = starts.map { start in
      start.map {
        PeerStart(
          knot: ProblemBuilder.knot(of: $0.timestamp, nil, in: knots), position: $0.position,
          covariance: $0.covariance)
      }
    }
    let finder = ModeFinder(
      problem(under: configuration), starts: places,
      alternatives: Array(repeating: [], count: peerCount),
      filterTracks: Array(repeating: [], count: peerCount), undecided: [])
    guard let best = finder.bestFromAfar() else { return false }
    state = best.state
    return true
  }

  /// The search for a mode that begins at the mode of similar settings.
  static let nearby = Minimizer(widenings: [1], fineSteps: 20, tolerance: 3e-4)

  /// The logarithm of the evidence for some settings, around the mode that is nearest.
  package func logEvidence(of configuration: FusionConfiguration) -> Double {
    Self.nearby.mode(problem(under: configuration), from: state)?.logEvidence ?? -.infinity
  }

  /// The least share of the information about the clock that does not come from drift.
  private static let leastClockShare = 0.2

  /// Goes to the mode under some settings.
  package mutating func settle(under configuration: FusionConfiguration) {
    bridging = configuration.odometry
    if let mode = Minimizer.fromNearby.mode(problem(under: configuration), from: state) {
      state = mode.state
    }
  }

  /// Moves the start of the search for modes to the mode under some settings; the evidence stays the same.
  ///
  /// Performance: the mode of similar settings is then a step or two away.
  package mutating func approach(_ configuration: FusionConfiguration) {
    if let mode = Self.nearby.mode(problem(under: configuration), from: state) {
      state = mode.state
    }
  }

  /// The constants at the mode.
  package var constants: Constants {
    guard let first = problem.layout.constants.first(of: .clockOffset),
      first + 4 < state.constants.count
    else { return base }
    let found = state.constants[first...]
    return Constants(
      clockOffset: base.clockOffset + found[first],
      antenna: base.antenna + Vector3(found[first + 1], found[first + 2], found[first + 3]),
      rangeScale: found[first + 4])
  }

  /// How far the mode's offset of the clock is from the one with which the samples have their poses, seconds.
  package var clockStep: Double { abs(constants.clockOffset - base.clockOffset) }

  /// Takes the samples with their poses at other constants; the mode stays where it is.
  ///
  /// Performance: as many samples as before keep their effective shares.
  package mutating func rebase(on new: Constants, _ sightings: [Sighting]) {
    let old = constants
    base = new
    problem = Self.problem(sightings, knots, peerCount, stated, base)
    if let first = problem.layout.constants.first(of: .clockOffset),
      first + 4 < state.constants.count
    {
      let away = old.antenna - base.antenna
      state.constants.replaceSubrange(
        first..<first + 4, with: [old.clockOffset - base.clockOffset, away.x, away.y, away.z])
    }
    if draws.count != problem.observations.count { measureViewpoints() }
  }

  /// The same with the first samples only.
  ///
  /// - Parameter share: The share of the samples.
  /// - Returns: Their evidence, over the same knots.
  package func beginning(_ share: Double) -> NoiseEvidence {
    var part = self
    let count = Int(share * Double(problem.observations.count))
    part.problem.observations.removeSubrange(count...)
    part.draws.removeSubrange(count...)
    return part
  }

  /// What is found under some settings.
  package func findings(under configuration: FusionConfiguration) -> Findings? {
    let problem = problem(under: configuration)
    guard let mode = Self.nearby.mode(problem, from: state),
      let constant = problem.layout.constants.first(of: .clockOffset)
    else { return nil }
    var settled = self
    settled.state = mode.state
    let layout = problem.layout
    let size = layout.peer(peerCount, knots: 1)
    func sigma(_ index: Int) -> Double {
      max(0, mode.covariances.dense[index * size + index]).squareRoot()
    }
    let first = layout.blockSize + constant
    let clock = sigma(first)
    let clockInformation = 1 / (clock * clock) - problem.clockInformationOfDrift
    func unknown(_ index: Int) -> Constant {
      Constant(value: mode.state.constants[index], sigma: sigma(layout.blockSize + index))
    }
    return Findings(
      constants: settled.constants,
      clockSigma: min(
        Self.clockSigma,
        clockInformation > Self.leastClockShare / (clock * clock)
          ? 1 / clockInformation.squareRoot() : .infinity),
      antennaSigmas: Vector3(sigma(first + 1), sigma(first + 2), sigma(first + 3)),
      scaleSigma: sigma(first + 4),
      odometry: layout.constants.first(of: .odometryErrors).map {
        (unknown($0), unknown($0 + 1))
      },
      biases: (0..<peerCount).map {
        (mode.state.peers[$0].rangeBias, sigma(layout.peer($0, knots: 1) + 3))
      })
  }
}

extension SmoothingProblem {
  /// The information about the clock's offset that the drift in the measured velocities seems to give, s⁻².
  ///
  /// The information of a value with variance σ² is `(uᵀv)² / σ²`, with u along the line of sight. Noise of
  /// variance s² in v makes that larger by `s² / σ²`, and tells nothing.
  fileprivate var clockInformationOfDrift: Double {
    observations.reduce(0) { sum, observation in
      sum
        + MeasurementKind.allCases.reduce(0) { sum, kind in
          guard observation[kind] != nil else { return sum }
          let noise = observation.noise[kind]
          let metres = kind.isAngle ? observation.distance : 1
          return sum + noise.power * observation.velocityVariance
            / (noise.variance * metres * metres)
        }
    }
  }
}
