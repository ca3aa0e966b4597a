// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// Everything that was measured, and what is assumed of it: the cost to be minimised.
///
/// ## Unknowns
///
/// At each knot the device's place in a fixed world and the yaw between that world and the odometry's,
/// shared by all peers; the last knot is where the two worlds agree. For each knot and moving peer its
/// place and velocity. For each peer its place, range bias and range scale. Knots and all that moves
/// are a chain, hence a band; the constant parameters are its border.
struct SmoothingProblem: Sendable {
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
  var faults: FaultModel
  var motion: MotionModel
  /// The mean excess of a range without line of sight, metres.
  private let rangeExcess: Double
  /// Where peers are sought: around here, so far, metres.
  var priorCenter: Vector3
  var priorSigma: Double

  /// Unknowns of one peer in the border.
  static let peerSize = 5
  /// Unknowns of the drift at one knot.
  static let driftSize = 4
  /// Unknowns of a moving peer at one knot.
  static let motionSize = 6
  /// Speeds are never taken for surer than this, m²/s².
  private static let leastSpeedVariance = 1e-8

  init(
    knots: [DriftKnot], observations: [Observation], isMoving: [Bool],
    configuration: FusionConfiguration, priorCenter: Vector3, priorSigma: Double
  ) {
    self.knots = knots
    steps = zip(knots, knots.dropFirst()).map { DriftStep(from: $0.device, to: $1.device) }
    self.observations = observations
    isPlanar = configuration.odometry.isPlanar
    let first = knots.first?.device
    let last = knots.last?.device
    drifts =
      first?.positionDriftVariance != last?.positionDriftVariance
      || first?.yawDriftVariance != last?.yawDriftVariance
    ranging = configuration.ranging
    faults = FaultModel(configuration)
    motion = MotionModel(configuration)
    rangeExcess = faults.rangeExcess(sigma: configuration.ranging.rangeSigma)
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
  var blockSize: Int { Self.driftSize + Self.motionSize * movingCount }
  var bandCount: Int { blockSize * knots.count }
  var borderCount: Int { Self.peerSize * peerCount }

  /// Where a peer is in the fixed world at a moment after a knot.
  func place(
    ofPeer peer: Int, knot: Int, secondsSinceKnot: Double, in state: SmoothingState
  ) -> Vector3 {
    guard let slot = movingSlots[peer] else { return state.peers[peer].position }
    let motion = state.motions[knot * movingCount + slot]
    return motion.position + secondsSinceKnot * motion.velocity
  }

  // MARK: What is held

  /// The unknowns that are none: the drift at the last knot, and all drift where there is none;
  /// heights in a planar world; places of peers that move; errors that have no room.
  func held() -> (band: [Bool], border: [Bool]) {
    var band = [Bool](repeating: false, count: bandCount)
    for knot in knots.indices {
      let first = knot * blockSize
      let isGauge = knot == knots.count - 1 || !drifts
      for index in 0..<Self.driftSize { band[first + index] = isGauge }
      if isPlanar { band[first + 1] = true }
      for slot in 0..<movingCount where isPlanar {
        band[first + Self.driftSize + Self.motionSize * slot + 1] = true
        band[first + Self.driftSize + Self.motionSize * slot + 4] = true
      }
    }
    var border = [Bool](repeating: false, count: borderCount)
    for peer in 0..<peerCount {
      let first = Self.peerSize * peer
      for axis in 0..<3 { border[first + axis] = movingSlots[peer] != nil }
      if isPlanar { border[first + 1] = true }
      border[first + 3] = ranging.rangeBiasSigma == 0
      border[first + 4] = ranging.rangeScaleSigma == 0
    }
    return (band, border)
  }

  // MARK: The cost

  /// The normal equations at a point.
  ///
  /// - Parameters:
  ///   - state: The point.
  ///   - widening: By what factor the variances of the measurements are taken too large.
  /// - Returns: The equations, and the cost: minus the logarithm of the posterior density, up to what
  ///   is common to all models of the same samples.
  func linearized(
    at state: SmoothingState, widening: Double
  ) -> (system: BorderedBandSystem, cost: Double) {
    var system = BorderedBandSystem(
      bandCount: bandCount, halfBandwidth: 2 * blockSize - 1, borderCount: borderCount)
    var cost = 0.0
    addPriors(at: state, &system, &cost)
    addDrift(at: state, &system, &cost)
    addMotion(at: state, &system, &cost)
    let turns = state.devices.map { YawTurn($0.yawRadians) }
    for observation in observations {
      add(observation, at: state, turns[observation.knot], widening, &system, &cost)
    }
    return (system, cost)
  }

  private func addPriors(
    at state: SmoothingState, _ system: inout BorderedBandSystem, _ cost: inout Double
  ) {
    func add(_ index: Int, inBand: Bool, innovation: Double, sigma: Double) {
      guard sigma > 0 else { return }
      var row = BorderedBandSystem.Row()
      if inBand { row.appendBand(index, 1) } else { row.appendBorder(index, 1) }
      addGaussian(row, innovation: innovation, variance: sigma * sigma, &system, &cost)
    }
    for peer in 0..<peerCount {
      let first = Self.peerSize * peer
      let parameters = state.peers[peer]
      add(
        first + 3, inBand: false, innovation: -parameters.rangeBias,
        sigma: ranging.rangeBiasSigma)
      add(
        first + 4, inBand: false, innovation: -parameters.rangeScale,
        sigma: ranging.rangeScaleSigma)
      if let slot = movingSlots[peer] {
        let motion = state.motions[slot]
        let start = Self.driftSize + Self.motionSize * slot
        for (axis, away) in (priorCenter - motion.position).components.enumerated()
        where !isPlanar || axis != 1 {
          add(start + axis, inBand: true, innovation: away, sigma: priorSigma)
        }
        for (axis, speed) in motion.velocity.components.enumerated()
        where !isPlanar || axis != 1 {
          add(
            start + 3 + axis, inBand: true, innovation: -speed,
            sigma: speedVariance(axis).squareRoot())
        }
      } else {
        for (axis, away) in (priorCenter - parameters.position).components.enumerated()
        where !isPlanar || axis != 1 {
          add(first + axis, inBand: false, innovation: away, sigma: priorSigma)
        }
      }
    }
  }

  /// The odometry between knots: `c' - c = R(ψ) (d' - d)` and `ψ' = ψ`, each with its variance.
  private func addDrift(
    at state: SmoothingState, _ system: inout BorderedBandSystem, _ cost: inout Double
  ) {
    guard drifts else { return }
    for (knot, step) in steps.enumerated() {
      let (a, b) = (state.devices[knot], state.devices[knot + 1])
      let moved = YawTurn(a.yawRadians).act(step.displacement)
      let swing = Vector3(moved.z, 0, -moved.x)  // up × moved, its derivative by yaw
      let innovation = moved - (b.place - a.place)
      let (first, next) = (knot * blockSize, (knot + 1) * blockSize)
      for axis in 0..<3 where !isPlanar || axis != 1 {
        var row = BorderedBandSystem.Row()
        row.appendBand(first + axis, -1)
        if axis != 1 { row.appendBand(first + 3, -swing[axis]) }
        row.appendBand(next + axis, 1)
        addGaussian(
          row, innovation: innovation[axis], variance: step.positionVariance, &system, &cost)
      }
      var row = BorderedBandSystem.Row()
      row.appendBand(first + 3, -1)
      row.appendBand(next + 3, 1)
      addGaussian(
        row, innovation: a.yawRadians - b.yawRadians, variance: step.yawVariance, &system, &cost)
    }
  }

  private func speedVariance(_ axis: Int) -> Double {
    max(motion.speedVariances[axis], Self.leastSpeedVariance)
  }

  /// The logarithm of the prior odds that a peer of unknown motion moves at some time.
  var logPriorOddsOfMotion: Double {
    motion.logOddsOfMotion(within: steps.reduce(0) { $0 + $1.seconds })
  }

  /// Moving peers between knots: an Ornstein-Uhlenbeck velocity, as in the filter.
  ///
  /// With `s = v' - φ v` and `r = p' - p - τ (1 - φ) v` of covariance Q the cost is that of `s`, of
  /// variance Q_ss, and of `r - k s`, k = Q_rs/Q_ss, of variance Q_rr - k Q_rs: two rows for each axis
  /// that are independent of each other.
  private func addMotion(
    at state: SmoothingState, _ system: inout BorderedBandSystem, _ cost: inout Double
  ) {
    guard movingCount > 0 else { return }
    for (knot, step) in steps.enumerated() {
      let unit = motion.step(seconds: step.seconds)
      let share = unit.crossVariance / unit.velocityVariance
      let rest = unit.positionVariance - share * unit.crossVariance
      for slot in 0..<movingCount {
        let a = state.motions[knot * movingCount + slot]
        let b = state.motions[(knot + 1) * movingCount + slot]
        let first = knot * blockSize + Self.driftSize + Self.motionSize * slot
        let next = first + blockSize
        let displacement = b.position - a.position - unit.reach * a.velocity
        let changed = b.velocity - unit.correlation * a.velocity
        for axis in 0..<3 where !isPlanar || axis != 1 {
          let speed = speedVariance(axis)
          var row = BorderedBandSystem.Row()
          row.appendBand(first + axis, -1)
          row.appendBand(first + 3 + axis, share * unit.correlation - unit.reach)
          row.appendBand(next + axis, 1)
          row.appendBand(next + 3 + axis, -share)
          addGaussian(
            row, innovation: share * changed[axis] - displacement[axis], variance: speed * rest,
            &system, &cost)
          var velocityRow = BorderedBandSystem.Row()
          velocityRow.appendBand(first + 3 + axis, -unit.correlation)
          velocityRow.appendBand(next + 3 + axis, 1)
          addGaussian(
            velocityRow, innovation: -changed[axis], variance: speed * unit.velocityVariance,
            &system, &cost)
        }
      }
    }
  }

  private func addGaussian(
    _ row: BorderedBandSystem.Row, innovation: Double, variance: Double,
    _ system: inout BorderedBandSystem, _ cost: inout Double
  ) {
    system.add(row, innovation: innovation, weight: 1 / variance)
    cost += 0.5 * (innovation * innovation / variance + log(2 * .pi * variance))
  }

  // MARK: Measurements

  /// A measurement predicted for a peer at a place in the odometry's world as it was then, and measured
  /// minus predicted, angles wrapped.
  static func predict(
    _ kind: MeasurementKind, _ measurement: MeasuredValue, of observation: Observation,
    peerAt place: Vector3, _ parameters: PeerParameters
  ) -> (predicted: PredictedMeasurement, innovation: Double) {
    let predicted = PredictedMeasurement(
      kind, from: observation.pose, peer: place, rangeBias: parameters.rangeBias,
      rangeScale: parameters.rangeScale)
    return (predicted, kind.wrapped(measurement.value - predicted.value))
  }

  /// The mixture's density at an innovation, and the probability that it is no outlier.
  func likelihood(
    _ kind: MeasurementKind, innovation: Double, variance: Double, outlierShare: Double
  ) -> (density: Double, inlier: Double) {
    let inlier =
      (1 - outlierShare) * exp(-0.5 * innovation * innovation / variance)
      / (2 * .pi * variance).squareRoot()
    let outlier = faults.outlierDensity(of: kind, innovation: innovation, excess: rangeExcess)
    let density = inlier + outlierShare * outlier
    return (density, inlier / density)
  }

  private func add(
    _ observation: Observation, at state: SmoothingState, _ turn: YawTurn, _ widening: Double,
    _ system: inout BorderedBandSystem, _ cost: inout Double
  ) {
    let (peer, knot) = (observation.peer, observation.knot)
    let parameters = state.peers[peer]
    let seconds = observation.secondsSinceKnot
    let x = place(ofPeer: peer, knot: knot, secondsSinceKnot: seconds, in: state)
    let fromDevice = turn.actBack(x - state.devices[knot].place)
    let inOdometry = knots[knot].place + fromDevice
    for kind in MeasurementKind.allCases {
      guard let measurement = observation[kind] else { continue }
      let (predicted, innovation) = Self.predict(
        kind, measurement, of: observation, peerAt: inOdometry, parameters)
      let noise = observation.noise[kind]
      let variance = noise.variance * widening
      let (density, inlier) = likelihood(
        kind, innovation: innovation, variance: variance,
        outlierShare: observation.outlierShare[kind])
      cost -= noise.power * log(density)

      let inWorld = turn.act(predicted.gradient)
      let yaw =
        predicted.gradient.z * fromDevice.x - predicted.gradient.x * fromDevice.z
      var row = BorderedBandSystem.Row()
      let first = knot * blockSize
      row.appendBand(first, -inWorld.x)
      row.appendBand(first + 1, -inWorld.y)
      row.appendBand(first + 2, -inWorld.z)
      row.appendBand(first + 3, yaw)
      let constant = Self.peerSize * peer
      if let slot = movingSlots[peer] {
        let start = first + Self.driftSize + Self.motionSize * slot
        for axis in 0..<3 { row.appendBand(start + axis, inWorld[axis]) }
        for axis in 0..<3 { row.appendBand(start + 3 + axis, seconds * inWorld[axis]) }
      } else {
        for axis in 0..<3 { row.appendBorder(constant + axis, inWorld[axis]) }
      }
      if kind == .range {
        row.appendBorder(constant + 3, 1)
        row.appendBorder(constant + 4, predicted.scaleDerivative)
      }
      system.add(row, innovation: innovation, weight: noise.power * inlier / variance)
    }
  }

  // MARK: Steps

  /// A point moved by a solution of the normal equations.
  func moved(_ state: SmoothingState, by step: [Double]) -> SmoothingState {
    var moved = state
    for knot in knots.indices {
      let first = knot * blockSize
      moved.devices[knot].place += Vector3(step[first], step[first + 1], step[first + 2])
      moved.devices[knot].yawRadians += step[first + 3]
      for slot in 0..<movingCount {
        let start = first + Self.driftSize + Self.motionSize * slot
        moved.motions[knot * movingCount + slot].position += Vector3(
          step[start], step[start + 1], step[start + 2])
        moved.motions[knot * movingCount + slot].velocity += Vector3(
          step[start + 3], step[start + 4], step[start + 5])
      }
    }
    for peer in 0..<peerCount {
      let first = bandCount + Self.peerSize * peer
      moved.peers[peer].position += Vector3(step[first], step[first + 1], step[first + 2])
      moved.peers[peer].rangeBias += step[first + 3]
      moved.peers[peer].rangeScale += step[first + 4]
    }
    return moved
  }
}

extension Vector3 {
  /// The components by axis.
  subscript(axis: Int) -> Double { axis == 0 ? x : axis == 1 ? y : z }

  /// The components in order.
  var components: [Double] { [x, y, z] }
}
