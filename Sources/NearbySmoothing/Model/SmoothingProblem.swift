// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// Everything that was measured, and what is assumed of it.
///
/// ## Unknowns
///
/// At each knot the device's place in a fixed world and the yaw between that world and the odometry's,
/// shared by all peers; at the first knot the two worlds agree. For each knot and moving peer its
/// place and velocity. For each peer its place, range bias and range scale. They are those of a chain
/// (`ChainProblem`), whose kernels the engine uses too.
struct SmoothingProblem: Sendable {
  /// Two at least.
  var knots: [DriftKnot]
  /// One fewer than the knots.
  var steps: [DriftStep]
  /// In the order of knots.
  var observations: [Observation]
  /// For each peer its place among the moving ones; `nil` for one that rests.
  private(set) var movingSlots: [Int?]
  private(set) var movingCount: Int
  /// Whether nothing has a height.
  var isPlanar: Bool
  /// Whether the odometry drifts at all.
  var drifts: Bool
  var ranging: RangingConfiguration
  var odometry: OdometryConfiguration
  var faults: FaultModel
  var motion: MotionModel
  /// Constants of the radio that are unknown, and of each unknown its prior mean and variance.
  var radioConstants: ChainLayout.Constants = []
  var radioPriors: [(mean: Double, variance: Double)] = []
  /// Where peers are sought: around here, so far, metres.
  var priorCenter: Vector3
  var priorSigma: Double

  init(
    knots: [DriftKnot], observations: [Observation], isMoving: [Bool],
    configuration: FusionConfiguration, priorCenter: Vector3, priorSigma: Double
  ) {
    self.knots = knots
    let isPlanar = configuration.odometry.isPlanar
    steps = zip(knots, knots.dropFirst()).map {
      DriftStep(from: $0.device, to: $1.device, isPlanar: isPlanar)
    }
    self.observations = observations
    self.isPlanar = isPlanar
    let first = knots.first?.device
    let last = knots.last?.device
    drifts =
      first?.positionDriftVariance != last?.positionDriftVariance
      || first?.yawDriftVariance != last?.yawDriftVariance
    ranging = configuration.ranging
    odometry = configuration.odometry
    faults = FaultModel(configuration)
    motion = MotionModel(configuration)
    self.priorCenter = priorCenter
    self.priorSigma = priorSigma
    movingSlots = []
    movingCount = 0
    setMoving(isMoving)
  }

  /// Says which peers move.
  mutating func setMoving(_ isMoving: [Bool]) {
    movingSlots = []
    movingCount = 0
    for moves in isMoving {
      movingSlots.append(moves ? movingCount : nil)
      if moves { movingCount += 1 }
    }
  }

  var peerCount: Int { movingSlots.count }
  /// Where everything stands among the unknowns.
  var layout: ChainLayout {
    ChainLayout(
      moverCount: movingCount, constants: radioConstants.union(drifts ? odometry.constants : []))
  }

  /// Where a peer is in the fixed world at a moment after a knot.
  func place(
    ofPeer peer: Int, knot: Int, secondsSinceKnot: Double, in state: SmoothingState
  ) -> Vector3 {
    guard let slot = movingSlots[peer] else { return state.peers[peer].position }
    let motion = state.motions[knot * movingCount + slot]
    return motion.position + secondsSinceKnot * motion.velocity
  }

  /// From where an observation was made in the fixed world, the drift between two knots interpolated.
  func correctedPose(of observation: Observation, at state: SmoothingState) -> AntennaPose {
    let (pose, share) = (observation.pose, observation.share)
    let next = min(observation.knot + 1, knots.count - 1)
    func corrected(_ knot: Int) -> Vector3 {
      let device = state.devices[knot]
      return device.place + YawTurn(device.yawRadians).act(pose.antenna - knots[knot].place)
    }
    let yaw =
      (1 - share) * state.devices[observation.knot].yawRadians
      + share * state.devices[next].yawRadians
    return pose.turned(
      by: YawTurn(yaw).act, about: pose.antenna,
      to: (1 - share) * corrected(observation.knot) + share * corrected(next))
  }

  // MARK: The chain

  /// The problem as the kernels have it.
  func chain() -> ChainProblem {
    var chain = ChainProblem(prior, layout, faults, ranging, motion)
    for (index, knot) in knots.enumerated() {
      // There is no step from the last one.
      let step = steps[min(index, steps.count - 1)]
      chain.addKnot(
        at: knot.place, step: step.displacement, horizontal: step.drift.horizontal,
        vertical: step.drift.vertical, yaw: step.drift.yaw,
        seconds: step.seconds)
    }
    if movingCount > 0 {
      for step in steps { chain.addMotion(motion.step(seconds: step.seconds)) }
    }
    chain.reserveCells(observations.count)
    for observation in observations {
      chain.addCell(
        from: observation.pose, knot: observation.knot, share: observation.share,
        seconds: observation.secondsSinceKnot, member: observation.peer,
        mover: movingSlots[observation.peer], isObstructed: observation.isObstructed,
        rate: observation.rate,
        PerKind { kind in
          guard let measured = observation[kind] else { return nil }
          let noise = observation.noise[kind]
          return ChainProblem.Value(
            value: measured.value, variance: noise.variance,
            effectiveVariance: noise.variance / noise.power)
        })
    }
    return chain
  }

  /// What is known beforehand: the first knot is where the worlds agree, peers are around, and the
  /// errors of their ranges are as large as they are stated to be.
  private var prior: MarginalPrior {
    var prior = MarginalPrior(holding: knots[0].place)
    let place = priorSigma * priorSigma
    let places = [place, isPlanar ? 0 : place, place]
    let center = [priorCenter.x, priorCenter.y, priorCenter.z]
    for _ in 0..<movingCount {
      prior.append(
        mean: center + [0, 0, 0], variances: places + (0..<3).map { speedVariance($0) })
    }
    if layout.hasOdometryErrors { prior.appendOdometryErrors(odometry) }
    prior.append(mean: radioPriors.map(\.mean), variances: radioPriors.map(\.variance))
    let (bias, scale) = (ranging.rangeBiasSigma, ranging.rangeScaleSigma)
    for slot in movingSlots {
      prior.append(
        mean: center + [0, 0],
        variances: (slot == nil ? places : [0, 0, 0])
          + [bias * bias, scale * scale])
    }
    return prior
  }

  private func speedVariance(_ axis: Int) -> Double {
    max(motion.speedVariances[axis], ChainProblem.leastSpeedVariance)
  }

  /// The logarithm of the determinant of what is assumed beforehand of all unknowns.
  func logPriorInformation(_ chain: ChainProblem) -> Double {
    let size = chain.prior.size
    return (0..<size).reduce(chain.logProcessInformation) { sum, index in
      sum + log(chain.prior.information[index * size + index])
    }
  }

  /// The logarithm of the prior odds that a peer of unknown motion moves at some time.
  var logPriorOddsOfMotion: Double {
    motion.logOddsOfMotion(within: steps.reduce(0) { $0 + $1.seconds })
  }

  // MARK: Measurements

  /// A measurement predicted for a peer at a place in the world of the pose, and measured minus
  /// predicted, angles wrapped.
  static func predict(
    _ kind: MeasurementKind, _ measurement: MeasuredValue, from pose: AntennaPose,
    peerAt place: Vector3, _ parameters: PeerParameters
  ) -> (predicted: PredictedMeasurement, innovation: Double) {
    let predicted = PredictedMeasurement(
      kind, from: pose, peer: place, rangeBias: parameters.rangeBias,
      rangeScale: parameters.rangeScale)
    return (predicted, kind.wrapped(measurement.value - predicted.value))
  }

  /// Measured minus predicted, metres or radians; `nil` where the kind was not measured.
  func residual(
    _ kind: MeasurementKind, of observation: Observation, at state: SmoothingState
  ) -> Double? {
    guard let measurement = observation[kind] else { return nil }
    var parameters = state.peers[observation.peer]
    if let scale = layout.constants.first(of: .rangeScale), scale < state.constants.count {
      parameters.rangeScale += state.constants[scale]
    }
    let x = place(
      ofPeer: observation.peer, knot: observation.knot,
      secondsSinceKnot: observation.secondsSinceKnot, in: state)
    return Self.predict(
      kind, measurement, from: correctedPose(of: observation, at: state), peerAt: x, parameters
    ).innovation
  }

  /// The outliers' share of a kind's values, before they are seen.
  func outlierShare(_ kind: MeasurementKind, of observation: Observation) -> Double {
    observation.isObstructed && kind == .range
      ? FaultModel.obstructedOnset : faults.outlierShare(of: kind)
  }

  /// The probability that a value is no outlier, by its innovation.
  func inlierProbability(
    _ kind: MeasurementKind, of observation: Observation, innovation: Double, variance: Double
  ) -> Double {
    let outlierShare = outlierShare(kind, of: observation)
    let inlier =
      (1 - outlierShare) * exp(-0.5 * innovation * innovation / variance)
      / (2 * .pi * variance).squareRoot()
    let outlier = faults.outlierDensity(
      of: kind, innovation: innovation, excess: faults.rangeExcess(sigma: ranging.rangeSigma))
    return inlier / (inlier + outlierShare * outlier)
  }
}
