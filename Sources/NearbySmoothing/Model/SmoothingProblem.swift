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
///
/// Where all peers rest, errors of ranges that last are unknown, too, as in the joint fit: at each knot one that all
/// ranges share and one by place of each peer, and a scale error and a series by direction of the device.
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
  /// How large the errors of ranges are that last; `nil` where these are not among the unknowns.
  ///
  /// With them the common scale error and the direction series are unknown, too. ``radioConstants`` is then empty.
  var errorSizes: RangeErrorSizes?
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
    let constants = radioConstants.union(drifts ? odometry.constants : [])
    guard errorSizes != nil else {
      return ChainLayout(moverCount: movingCount, constants: constants)
    }
    return ChainLayout(
      moverCount: movingCount, constants: constants.union([.rangeScale, .directionError]),
      errorCount: 1 + peerCount)
  }

  /// Whether the errors of ranges that last can be estimated.
  ///
  /// An error by place is one of the device's place, which says nothing of the ranges to a peer that is elsewhere by
  /// then. A single peer's errors and its place are hardly told apart: its mirror image would have other errors and be
  /// as probable. With many peers a knot would have too many unknowns (``RangeErrorSizes/mostPeers``).
  var mayHaveRangeErrors: Bool {
    movingCount == 0 && (2...RangeErrorSizes.mostPeers).contains(peerCount)
      && radioConstants.isEmpty
  }

  /// Where a peer is in the fixed world at a moment after a knot.
  func place(
    ofPeer peer: Int, knot: Int, secondsSinceKnot: Double, in state: SmoothingState
  ) -> Vector3 {
    guard let slot = movingSlots[peer] else { return state.peers[peer].position }
    let motion = state.motions[knot * movingCount + slot]
    return motion.position + secondsSinceKnot * motion.velocity
  }

  /// Where the peer of a cell is in the fixed world.
  func place(ofPeerOf cell: ChainProblem.Cell, in state: SmoothingState) -> Vector3 {
    place(ofPeer: cell.peer, knot: cell.knot, secondsSinceKnot: cell.seconds, in: state)
  }

  /// From where an observation was made in the fixed world, the drift between two knots interpolated.
  func correctedPose(of observation: Observation, at state: SmoothingState) -> AntennaPose {
    let (pose, share) = (observation.cell.pose, observation.cell.share)
    let next = min(observation.cell.knot + 1, knots.count - 1)
    func corrected(_ knot: Int) -> Vector3 {
      let device = state.devices[knot]
      return device.place + YawTurn(device.yawRadians).act(pose.antenna - knots[knot].place)
    }
    let yaw =
      (1 - share) * state.devices[observation.cell.knot].yawRadians
      + share * state.devices[next].yawRadians
    return pose.turned(
      by: YawTurn(yaw).act, about: pose.antenna,
      to: (1 - share) * corrected(observation.cell.knot) + share * corrected(next))
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
    for observation in orderedObservations {
      chain.addCell(
        observation.cell, mover: movingSlots[observation.cell.peer],
        PerKind { kind in
          guard let measured = observation[kind] else { return nil }
          let noise = observation.noise[kind]
          return ChainProblem.Value(
            value: measured.value, variance: noise.variance,
            effectiveVariance: noise.variance / noise.power)
        })
    }
    if let errorSizes {
      chain.setErrorSteps {
        errorSizes.step(
          length: length(ofStep: $0), seconds: steps[min($0, steps.count - 1)].seconds)
      }
      errorSizes.findConstantVariances(
        &chain.constantVariances, layout.constants, odometry, ranging)
      chain.firstErrorVariances = Array(
        repeating: errorSizes.place * errorSizes.place, count: peerCount)
    }
    return chain
  }

  /// The observations peer by peer where faults are taken to last, as the chain wants them for that.
  private var orderedObservations: [Observation] {
    guard errorSizes != nil else { return observations }
    var byPeer = [[Observation]](repeating: [], count: peerCount)
    for observation in observations { byPeer[observation.cell.peer].append(observation) }
    return Array(byPeer.joined())
  }

  /// The path from a knot to the next, metres; none from the last one.
  private func length(ofStep knot: Int) -> Double {
    knots[min(knot + 1, knots.count - 1)].device.path - knots[knot].device.path
  }

  /// Of the errors by place at an observation the variance, and that of what strays from their interpolation, m²; `nil`
  /// where they are not unknown.
  func placeErrors(at observation: Observation) -> (variance: Double, bridge: Double)? {
    errorSizes.map { sizes in
      (
        sizes.place * sizes.place,
        sizes.bridgeVariance(
          length: length(ofStep: observation.cell.knot), share: observation.cell.share)
      )
    }
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
    if errorSizes != nil {
      // The common error is zero at the first knot. Of the others the chain has the variances apart.
      prior.append(mean: [0], variances: [0])
      prior.appendUnknowns(peerCount + layout.constantCount)
    } else {
      if layout.hasOdometryErrors { prior.appendOdometryErrors(odometry) }
      prior.append(mean: radioPriors.map(\.mean), variances: radioPriors.map(\.variance))
    }
    let bias = ranging.rangeBiasSigma
    let scale = errorSizes == nil ? ranging.rangeScaleSigma : RangeErrorSizes.peerScaleSigma
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

  /// What does not change about a peer, with the scale error that all ranges share.
  func parameters(ofPeer peer: Int, at state: SmoothingState) -> PeerParameters {
    var parameters = state.peers[peer]
    if let scale = layout.constants.first(of: .rangeScale), scale < state.constants.count {
      parameters.rangeScale += state.constants[scale]
    }
    return parameters
  }

  /// Measured minus predicted, metres or radians; `nil` where the kind was not measured.
  func residual(
    _ kind: MeasurementKind, of observation: Observation, at state: SmoothingState
  ) -> Double? {
    guard let measurement = observation[kind] else { return nil }
    let parameters = parameters(ofPeer: observation.cell.peer, at: state)
    let x = place(ofPeerOf: observation.cell, in: state)
    let pose = correctedPose(of: observation, at: state)
    let innovation = Self.predict(kind, measurement, from: pose, peerAt: x, parameters).innovation
    guard kind == .range, errorSizes != nil else { return innovation }
    return innovation - commonError(of: observation, at: state)
      - rangeError(1 + observation.cell.peer, of: observation, at: state)
      - directionError(of: x - pose.antenna, from: pose, at: state)
  }

  /// The error of an observation's range that all ranges share, metres.
  func commonError(of observation: Observation, at state: SmoothingState) -> Double {
    rangeError(0, of: observation, at: state)
  }

  /// One of the errors of ranges at the knots, interpolated to an observation, metres; zero where they are not unknown.
  private func rangeError(
    _ index: Int, of observation: Observation, at state: SmoothingState
  ) -> Double {
    guard !state.rangeErrors.isEmpty else { return 0 }
    let (count, share) = (layout.errorCount, observation.cell.share)
    let next = min(observation.cell.knot + 1, knots.count - 1)
    return (1 - share) * state.rangeErrors[observation.cell.knot * count + index]
      + share * state.rangeErrors[next * count + index]
  }

  /// The error of a range by the azimuth α of the peer in the device's axes, metres: `Σ cₘ cos mα + sₘ sin mα`.
  private func directionError(
    of sight: Vector3, from pose: AntennaPose, at state: SmoothingState
  ) -> Double {
    guard let first = layout.constants.first(of: .directionError), first < state.constants.count
    else { return 0 }
    let azimuth = atan2(pose.right.dot(sight), -pose.back.dot(sight))
    return (0..<ChainLayout.directionSize).reduce(0) { sum, index in
      let angle = Double(index / 2 + 1) * azimuth
      return sum + state.constants[first + index] * (index % 2 == 0 ? cos(angle) : sin(angle))
    }
  }

  /// The outliers' share of a kind's values, before they are seen.
  func outlierShare(_ kind: MeasurementKind, of observation: Observation) -> Double {
    observation.cell.isObstructed && kind == .range
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
