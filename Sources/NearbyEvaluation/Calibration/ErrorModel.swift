// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// The posterior of a recording's constants, under the model of all errors of radio and odometry that the engine has.
///
/// The model is a `ChainProblem`, the one of the joint fit and the smoother, with offset of the clock and lever arm among
/// its unknowns, too. The size of each error is learnt from the same recording: the white noise of each kind, the
/// odometry's drift, and of ranges the errors that depend on the place, on time and on the direction in the device
/// (`RangeErrorSizes`). Each of these can explain a residual, and the most probable sizes share the residuals out
/// between them: what depends on the place is not taken for drift, nor is a body beside the device taken for a clock.
///
/// The sizes are found by the fixed point of the evidence (MacKay 1992): with innovations w of prior variance
/// θ² q and posterior variance v,
///
///     θ² ← Σ w²/q / Σ (1 - v/(θ² q)).
///
/// An interval of the path may have a slip (`OdometrySlip`), so that a slip is not taken for drift.
struct ErrorModel: Sendable {
  /// The sizes of the errors.
  struct Sizes: Hashable, Sendable {
    /// White noise of ranges, m, of azimuths and elevations, rad.
    var noise: PerKind<Double>
    /// Drift of position, m/√m, and of yaw, rad/√m.
    var drift: Double
    var yawDrift: Double
    /// The errors of ranges that last.
    var ranges = RangeErrorSizes()

    /// One sigma of the errors of ranges that depend on place and direction together, metres.
    var lastingRangeError: Double {
      (ranges.place * ranges.place + ranges.direction * ranges.direction).squareRoot()
    }

    /// Whether noise and drift differ by at most 2 %, and the sizes of lasting errors by at most a quarter.
    func isNear(_ other: Sizes) -> Bool {
      func near(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 0.02 * b + 1e-5 }
      return near(drift, other.drift) && near(yawDrift, other.yawDrift)
        && near(noise.range, other.noise.range) && ranges.isNear(other.ranges)
    }
  }

  /// The degrees of freedom of each size.
  struct Degrees: Hashable, Sendable {
    var noise = PerKind(repeating: 0.0)
    var drift = 0.0
    var yawDrift = 0.0
  }

  /// A sample with the pose from which it was measured at the present offset of the clock.
  struct Sample: Sendable {
    var cell: ChainProblem.Cell
    var values: PerKind<Double?>
    /// How much wider than stated for its kind a value's error is.
    var widenings: PerKind<Double>
  }

  /// A value at the mode: measured minus predicted, and the probability that it is no fault.
  struct Outcome: Sendable {
    var residual: Double
    var inlier: Double
  }

  let stated: FusionConfiguration
  /// The kinds that were measured.
  let kinds: [MeasurementKind]
  let peers: [Int]
  let path: PathKnots
  private let data: CalibrationData
  private let start: Timestamp
  private(set) var sizes: Sizes
  private(set) var degrees = Degrees()
  /// Of each kind the share of values that are faults.
  private(set) var outliers = PerKind(repeating: 0.0)
  /// Peer by peer, in the order of time.
  private(set) var samples: [Sample] = []
  private(set) var chain: ChainProblem
  private(set) var state: [Double]
  /// The posterior of the innovations at the mode.
  private(set) var found = ChainProblem.Innovations()
  private var workspace = ChainWorkspace()
  /// The slip of each interval, if it has one.
  private(set) var slips: [OdometrySlip?]
  /// Of each interval with a slip the square of how far it goes, m².
  private var slippedSquares: [Double]
  /// Whether the drift is as stated, and whether ranges have no lasting errors.
  private var withholdsDrift = true
  private var withholdsLastingErrors = false
  /// By what factors the fixed point would change the variances of drift and drift of yaw.
  private(set) var driftFactors = (position: 1.0, yaw: 1.0)
  /// The offset of the clock at which the samples have their poses.
  private(set) var posedOffset: Double
  /// The prior of the clock's offset.
  private(set) var clockPrior: (mean: Double, sigma: Double)

  // MARK: Priors

  private static let scaleSigma = 0.05
  private static let biasSigma = 0.3
  private static let clockSigma = 0.2
  static let antennaSigma = 0.15
  private static let turnRateSigma = 0.02.degreesAsRadians
  private static let distanceSigma = 20.0
  private static let heightSigma = 3.0
  /// On a shorter path an error by place is like a constant one, metres.
  private static let leastPath = 30.0
  /// A size that starts too small would stay on a wrong explanation: the drift starts above what is stated.
  private static let startFactor = 3.0
  /// The weights of the stated drift and of the stated noise, as numbers of innovations and of values.
  private static let statedDriftDegrees = 1.0
  private static let statedNoiseDegrees = 5.0
  /// Errors of angles are alike over directions: a value counts as a quarter of an independent one.
  private static let anglePower = 0.25

  // MARK: The problem

  /// Makes the model; `nil` where there are too few samples or no path.
  ///
  /// - Parameters:
  ///   - data: Poses and samples, thinned.
  ///   - pass: Where an engine has peers and path.
  ///   - clockOffset: The offset of the clock with which it ran.
  init?(_ data: CalibrationData, from pass: EnginePass, clockOffset: Double) {
    guard let first = data.poses.first, data.poses.count > 2 else { return nil }
    var counts: [Int: Int] = [:]
    for sample in data.samples { counts[sample.peer, default: 0] += 1 }
    let peers = counts.keys.filter {
      counts[$0, default: 0] >= CalibrationData.leastSamples && pass.places[$0] != nil
    }.sorted()
    guard !peers.isEmpty, let last = data.samples.last else { return nil }
    (self.data, self.peers, stated, start) = (data, peers, data.stated, first.timestamp)
    kinds = [.range, .azimuth, .elevation].filter { kind in
      data.samples.contains { $0.values[kind] != nil }
    }
    let end = min(
      last.timestamp.seconds(since: start),
      data.poses[data.poses.count - 1].timestamp.seconds(since: start))
    guard end > 2, let path = PathKnots(data.poses, from: start, until: end) else { return nil }
    self.path = path
    slips = path.areFrozen.map { $0 ? .large : nil }
    slippedSquares = Array(repeating: 0, count: path.lengths.count)
    let ranging = stated.ranging
    sizes = Sizes(
      noise: PerKind { max(ranging.sigma(of: $0), 1e-4) },
      drift: stated.odometry.positionDrift, yawDrift: stated.odometry.yawDriftRadians)
    if path.lengths.reduce(0, +) < Self.leastPath {
      sizes.ranges.place = RangeErrorSizes.none.place
    }
    posedOffset = clockOffset
    clockPrior = (
      ranging.clockOffset, max(Self.clockSigma, abs(clockOffset - ranging.clockOffset))
    )
    chain = ChainProblem(MarginalPrior(), ChainLayout(), FaultModel(stated), ranging)
    state = []
    setSamples()
    guard samples.count >= Self.leastSamples else { return nil }
    setStart(pass)
    setChain()
  }

  /// With fewer samples nothing is told.
  static let leastSamples = 30

  /// Where the unknowns stand.
  var layout: ChainLayout {
    let odometry: ChainLayout.Constants = driftsAtAll ? .odometryErrors : []
    return ChainLayout(
      constants: odometry.union([.clockOffset, .leverArm, .rangeScale, .directionError]),
      errorCount: 1 + peers.count)
  }

  /// The place of a constant's first unknown in the state, if it is unknown.
  func index(of constant: ChainLayout.Constants) -> Int? {
    layout.constants.first(of: constant).map { layout.blockSize * path.times.count + $0 }
  }

  /// The place of a peer's first unknown in the state.
  func index(ofPeer peer: Int) -> Int { layout.peer(peer, knots: path.times.count) }

  /// An odometry without drift is the truth, which neither turns nor has a scale error.
  var driftsAtAll: Bool { stated.odometry.positionDrift > 0 }

  private mutating func setStart(_ pass: EnginePass) {
    state = Array(repeating: 0, count: index(ofPeer: peers.count))
    var yaw = 0.0
    for (knot, index) in path.poses.enumerated() {
      let map = knot == 0 ? .identity : pass.mapFromWorld[index]
      let place = map.act(path.places[knot])
      let first = layout.blockSize * knot
      (state[first], state[first + 1], state[first + 2]) = (place.x, place.y, place.z)
      yaw += (2 * atan2(map.rotation.y, map.rotation.w) - yaw).wrappedAngle
      state[first + 3] = yaw
    }
    for (number, peer) in peers.enumerated() {
      guard let place = pass.places[peer] else { continue }
      let first = index(ofPeer: number)
      (state[first], state[first + 1], state[first + 2]) = (place.x, place.y, place.z)
    }
  }

  private var prior: MarginalPrior {
    var prior = MarginalPrior(holding: path.places[0])
    // The common error is zero at the first knot. The chain has the other variances apart.
    prior.append(mean: [0], variances: [0])
    prior.appendUnknowns(peers.count + (driftsAtAll ? 2 : 0))
    let antenna = Self.antennaSigma * Self.antennaSigma
    prior.append(
      mean: [clockPrior.mean - posedOffset, 0, 0, 0],
      variances: [clockPrior.sigma * clockPrior.sigma, antenna, antenna, antenna])
    prior.appendUnknowns(1 + ChainLayout.directionSize)
    let place = path.places[0]
    let height = stated.odometry.isPlanar ? 0 : Self.heightSigma
    let bias = max(Self.biasSigma, stated.ranging.rangeBiasSigma)
    for _ in peers {
      prior.append(
        mean: [place.x, place.y, place.z, 0, 0],
        variances: [
          Self.distanceSigma, height, Self.distanceSigma, bias, RangeErrorSizes.peerScaleSigma,
        ].map { $0 * $0 })
    }
    return prior
  }

  /// Takes the samples with their poses at the present offset of the clock.
  private mutating func setSamples() {
    let numbers = Dictionary(uniqueKeysWithValues: peers.enumerated().map { ($1, $0) })
    var byPeer = [[Sample]](repeating: [], count: peers.count)
    var reader = PathReader(data.poses, from: start)
    let (times, ranging) = (path.times, stated.ranging)
    var knot = 0
    for sample in data.samples {
      guard let peer = numbers[sample.peer] else { continue }
      let time = sample.timestamp.seconds(since: start) - posedOffset
      guard time >= times[0], time <= times[times.count - 1], let motion = reader.motion(at: time)
      else { continue }
      while knot + 2 < times.count, times[knot + 1] <= time { knot += 1 }
      let share = (time - times[knot]) / path.durations[knot]
      let pose = AntennaPose(motion.pose, antennaInDevice: ranging.antennaInDevice)
      byPeer[peer].append(
        Sample(
          cell: ChainProblem.Cell(
            pose: pose, knot: knot, share: min(max(share, 0), 1), seconds: time - times[knot],
            peer: peer, isObstructed: sample.isObstructed,
            rate: ChainProblem.Rate(
              velocity: motion.velocity
                + motion.turnRate.cross(pose.antenna - motion.pose.translation),
              turn: motion.turnRate)),
          values: PerKind { sample.values[$0]?.value },
          widenings: PerKind { kind in
            sample.values[kind].map { $0.sigma / ranging.sigma(of: kind) } ?? 1
          }))
    }
    samples = Array(byPeer.joined())
  }

  /// Makes the chain of the samples and the sizes.
  private mutating func setChain() {
    var ranging = stated.ranging
    // Faults look like what is far beyond the noise.
    ranging.rangeSigma = sizes.noise.range
    var odometry = stated.odometry
    if driftsAtAll {
      odometry.scaleSigma = max(odometry.scaleSigma, Self.scaleSigma)
      odometry.turnRateSigmaRadians = Self.turnRateSigma
    } else {
      ranging.rangeScaleSigma = max(ranging.rangeScaleSigma, Self.scaleSigma)
    }
    chain = ChainProblem(prior, layout, faults, ranging)
    for knot in path.times.indices {
      let interval = min(knot, path.lengths.count - 1)
      let variances = variances(ofDriftIn: interval)
      chain.addKnot(
        at: path.places[knot], step: path.places[interval + 1] - path.places[interval],
        horizontal: variances[0], vertical: variances[1], yaw: variances[3],
        seconds: path.durations[interval],
        errors: sizes.ranges.step(
          length: path.lengths[interval], seconds: path.durations[interval]))
    }
    chain.reserveCells(samples.count)
    for sample in samples {
      chain.addCell(
        sample.cell,
        PerKind { kind in
          guard let value = sample.values[kind] else { return nil }
          let variance = variance(of: kind, in: sample)
          return ChainProblem.Value(
            value: value, variance: variance,
            effectiveVariance: kind.isAngle ? variance / Self.anglePower : variance)
        })
    }
    sizes.ranges.findConstantVariances(
      &chain.constantVariances, layout.constants, odometry, ranging)
    chain.firstErrorVariances = Array(
      repeating: sizes.ranges.place * sizes.ranges.place, count: peers.count)
  }

  private var faults: FaultModel { FaultModel(stated) }

  /// The variance of a value's error, with what linear interpolation between two knots leaves of drift, slip and error by
  /// place.
  private func variance(of kind: MeasurementKind, in sample: Sample) -> Double {
    let sigma = sizes.noise[kind] * sample.widenings[kind]
    let cell = sample.cell
    guard kind == .range else { return sigma * sigma }
    let drift = steadyVariances(of: cell.knot).position + slippedSquares[cell.knot]
    return sigma * sigma + drift * cell.share * (1 - cell.share)
      + sizes.ranges.bridgeVariance(length: path.lengths[cell.knot], share: cell.share)
  }

  /// The variances of the drift in an interval without a slip, m² and rad².
  private func steadyVariances(of interval: Int) -> (position: Double, yaw: Double) {
    let length = path.lengths[interval]
    return (
      sizes.drift * sizes.drift * length + Self.leastVariance,
      sizes.yawDrift * sizes.yawDrift * length + ChainProblem.leastVariance
    )
  }

  private static let leastVariance = 1e-8

  /// The variances of an interval's innovations: three of the place, and yaw.
  private func variances(ofDriftIn interval: Int) -> InlineArray<4, Double> {
    let (drift, yaw) = steadyVariances(of: interval)
    let slip = slips[interval]
    let horizontal = drift + (slip?.horizontal ?? 0)
    return [
      horizontal, stated.odometry.isPlanar ? Self.leastVariance : drift + (slip?.vertical ?? 0),
      horizontal, yaw + (slip?.yaw ?? 0),
    ]
  }

  // MARK: The fixed point

  /// Finds mode and sizes with the drift as stated, from a start that may be far off.
  ///
  /// A wide drift would hide slips, and all errors of ranges.
  ///
  /// - Returns: Whether a mode was found.
  mutating func settle() -> Bool {
    startNoise()
    return advance(Self.firstSteps) && learnSizes(rounds: Self.mostRounds)
  }

  /// Whether the odometry has slipped: no drift is learnt then, which would explain the slip.
  var hasSlipped: Bool {
    slips.indices.contains { slips[$0]?.isLarge == true && !path.areFrozen[$0] }
  }

  /// Finds the sizes anew, and goes to their mode.
  private mutating func learnSizes(rounds: Int) -> Bool {
    setChain()
    for _ in 0..<rounds {
      guard advance(Self.steps), measure() else { return false }
      let before = sizes
      learn()
      refreshPoses()
      setChain()
      if sizes.isNear(before) { break }
    }
    // The last moments are those of the final sizes, at their mode.
    return advance(Self.mostLastSteps) && measure()
  }

  private static let firstSteps = 3
  private static let steps = 2
  private static let mostLastSteps = 8
  /// A step that lowers the cost by less is the last, nats.
  private static let leastGain = 0.3
  private static let mostRounds = 12
  private static let mostRoundsAgain = 8

  /// Goes towards the mode; whether the information is regular.
  private mutating func advance(_ steps: Int) -> Bool {
    var none: [Double] = []
    chain.setFaultPriors(at: state, faults, workspace: &workspace)
    return chain.fit(
      &state, iterations: steps, tolerance: Self.leastGain, covariance: &none,
      workspace: &workspace
    ).cost.isFinite
  }

  /// Finds the posterior of the innovations; whether the information is regular.
  private mutating func measure() -> Bool {
    chain.setFaultPriors(at: state, faults, workspace: &workspace)
    return chain.findInnovations(&found, at: state, workspace: &workspace)
  }

  /// Begins with noise that the residuals at the start agree with: a mode that is off must not be taken for
  /// outliers.
  private mutating func startNoise() {
    chain.findRangeResiduals(at: state, workspace: &workspace)
    for kind in kinds {
      let residuals = samples.indices.compactMap { outcome(of: kind, $0).map { abs($0.residual) } }
        .sorted()
      guard let middle = residuals.isEmpty ? nil : residuals[residuals.count / 2] else { continue }
      sizes.noise[kind] = max(sizes.noise[kind], min(1.5 * middle, Self.mostNoise[kind]))
    }
    setChain()
  }

  private static let mostNoise = PerKind<Double> { $0 == .range ? 3 : 0.5 }

  private mutating func refreshPoses() {
    guard let clock = index(of: .clockOffset) else { return }
    let offset = posedOffset + state[clock]
    // The last offset within which the prior holds it.
    guard abs(offset - posedOffset) > 1e-3, abs(offset) < 10 else { return }
    (posedOffset, state[clock]) = (offset, 0)
    setSamples()
  }

  /// The residual of a sample's value at the mode, and its probability of being an inlier; `nil` where the kind was not
  /// measured.
  func outcome(of kind: MeasurementKind, _ index: Int) -> Outcome? {
    let sample = samples[index]
    guard let value = sample.values[kind] else { return nil }
    if kind == .range {
      let (residual, inlier) = chain.rangeOutcome(ofCell: index, faults, workspace)
      return Outcome(residual: residual, inlier: inlier)
    }
    let predicted = PredictedMeasurement(
      kind, from: correctedPose(of: sample.cell), peer: place(ofPeer: sample.cell.peer),
      rangeBias: 0, rangeScale: 0)
    let residual = kind.wrapped(value - predicted.value)
    let variance = variance(of: kind, in: sample)
    let share = faults.outlierShare(of: kind)
    let inlier =
      (1 - share) * exp(-0.5 * residual * residual / variance) / (2 * .pi * variance).squareRoot()
    let fault = share * faults.outlierDensity(of: kind, innovation: residual, excess: 0)
    return Outcome(residual: residual, inlier: inlier / (inlier + fault))
  }

  func place(ofPeer peer: Int) -> Vector3 {
    let first = index(ofPeer: peer)
    return Vector3(state[first], state[first + 1], state[first + 2])
  }

  /// From where a sample was measured in the fixed world.
  private func correctedPose(of cell: ChainProblem.Cell) -> AntennaPose {
    func corrected(_ knot: Int) -> (antenna: Vector3, yaw: Double) {
      let first = layout.blockSize * knot
      let yaw = state[first + 3]
      return (
        Vector3(state[first], state[first + 1], state[first + 2])
          + YawTurn(yaw).act(cell.pose.antenna - path.places[knot]), yaw
      )
    }
    let (before, after) = (corrected(cell.knot), corrected(cell.knot + 1))
    let yaw = (1 - cell.share) * before.yaw + cell.share * after.yaw
    return cell.pose.turned(
      by: YawTurn(yaw).act, about: cell.pose.antenna,
      to: (1 - cell.share) * before.antenna + cell.share * after.antenna)
  }

  // MARK: Other explanations

  /// A copy that estimates the drift, at its mode; `nil` where the minimisation fails.
  func learningDrift() -> ErrorModel? {
    var other = self
    other.withholdsDrift = false
    other.sizes.drift = Self.startFactor * stated.odometry.positionDrift
    other.sizes.yawDrift = Self.startFactor * stated.odometry.yawDriftRadians
    return other.learnSizes(rounds: Self.mostRoundsAgain) ? other : nil
  }

  /// A copy without range errors that depend on place, time and direction, at its mode; `nil` where the minimisation
  /// fails.
  func withoutLastingErrors() -> ErrorModel? {
    var other = self
    other.withholdsLastingErrors = true
    other.sizes.ranges = .none
    return other.learnSizes(rounds: Self.mostRoundsAgain) ? other : nil
  }

  /// The model with the samples of some knots, at its mode under the same sizes.
  ///
  /// - Parameters:
  ///   - clockSigma: The prior sigma of the clock's offset: neither part is to be pulled to the stated one.
  ///   - isIncluded: Whether a knot's samples are.
  /// - Returns: It; `nil` where too few samples are left or the minimisation fails.
  func part(clockSigma: Double, _ isIncluded: (Int) -> Bool) -> ErrorModel? {
    var part = self
    // A slip could stand for what a constant does not explain.
    for index in part.slips.indices where !path.areFrozen[index] {
      (part.slips[index], part.slippedSquares[index]) = (nil, 0)
    }
    part.clockPrior.sigma = max(clockSigma, abs(posedOffset))
    for _ in 0..<Self.partRounds {
      part.samples.removeAll { !isIncluded($0.cell.knot) }
      guard part.samples.count >= Self.leastSamples else { return nil }
      part.setChain()
      guard part.advance(Self.steps) else { return nil }
      part.refreshPoses()
    }
    part.samples.removeAll { !isIncluded($0.cell.knot) }
    part.setChain()
    return part.advance(Self.steps) && part.measure() ? part : nil
  }

  private static let partRounds = 3

  // MARK: Sizes

  private mutating func learn() {
    var (drift, yaw) = (Sums(), Sums())
    for interval in path.lengths.indices {
      let (found, variances) = (moments(of: interval), chain.driftVariances(at: interval))
      defer { examineSlip(interval, found, variances) }
      // A slip begins and ends within the intervals beside it.
      if slips[interval] != nil || isBesideSlip(interval) { continue }
      for axis in 0..<3 where axis != 1 || !stated.odometry.isPlanar {
        drift.add(found[axis], variances[axis])
      }
      yaw.add(found[3], variances[3])
    }
    learnNoise(determined)
    (degrees.drift, degrees.yawDrift) = (drift.degrees, yaw.degrees)
    driftFactors = (drift.factor, yaw.factor)
    if !withholdsDrift { learnDrift(drift, yaw) }
    guard !withholdsLastingErrors else { return }
    sizes.ranges.learn(found, at: state, of: chain) { _ in false }
    if path.lengths.reduce(0, +) < Self.leastPath {
      sizes.ranges.place = RangeErrorSizes.none.place
    }
  }

  /// The posterior of the innovations of an interval's drift.
  private func moments(of interval: Int) -> InlineArray<4, ChainProblem.Moment> {
    let first = interval * (ChainLayout.driftSize + layout.errorCount)
    return InlineArray { found.moments[first + $0] }
  }

  /// How many unknowns the measurements determine.
  private var determined: Double {
    var sum = 0.0
    func add(_ variance: Double, of prior: Double) {
      if prior > 0 { sum += max(0, 1 - variance / prior) }
    }
    for interval in path.lengths.indices {
      let (drift, variances) = (moments(of: interval), chain.driftVariances(at: interval))
      for axis in 0..<4 { add(drift[axis].variance, of: variances[axis]) }
      let step = chain.errorStep(at: interval)
      let first =
        interval * (ChainLayout.driftSize + layout.errorCount) + ChainLayout.driftSize
      for error in 0..<layout.errorCount {
        add(
          found.moments[first + error].variance,
          of: error == 0 ? step.commonInnovation : step.placeInnovation)
      }
    }
    for (peer, variance) in chain.firstErrorVariances.enumerated() {
      add(found.first[peer], of: variance)
    }
    for index in layout.blockSize..<chain.denseCount {
      add(covariance(index, index), of: priorVariance(index))
    }
    return sum
  }

  /// The posterior covariance of two unknowns behind the knots, which count from a block on.
  func covariance(_ row: Int, _ column: Int) -> Double {
    found.dense[column * chain.denseCount + row]
  }

  /// The prior variance of an unknown behind the knots, which counts from a block on.
  func priorVariance(_ index: Int) -> Double {
    let constant = index - layout.blockSize
    let information = chain.prior.information[index * chain.prior.size + index]
    return information > 0
      ? 1 / information
      : constant < layout.constantCount ? chain.constantVariances[constant] : 0
  }

  /// Finds out whether an interval has a slip: the odds for it, by what its innovations would be without a prior.
  private mutating func examineSlip(
    _ interval: Int, _ found: InlineArray<4, ChainProblem.Moment>,
    _ variances: InlineArray<4, Double>
  ) {
    guard driftsAtAll else { return }
    let (drift, yaw) = steadyVariances(of: interval)
    slips[interval] =
      OdometrySlip.mostProbable(
        found, variances,
        steady: stated.odometry.isPlanar ? [drift, 0, drift, yaw] : [drift, drift, drift, yaw],
        isFrozen: path.areFrozen[interval], isBeside: isBesideSlip(interval),
        among: OdometrySlip.straight
      ).slip
    slippedSquares[interval] =
      slips[interval] == nil
      ? 0 : (0..<3).reduce(0) { $0 + found[$1].mean * found[$1].mean } / 3
  }

  /// Whether the interval before or after one has a slip.
  private func isBesideSlip(_ interval: Int) -> Bool {
    (interval > 0 && slips[interval - 1] != nil)
      || (interval + 1 < slips.count && slips[interval + 1] != nil)
  }

  private mutating func learnDrift(_ drift: Sums, _ yaw: Sums) {
    let odometry = stated.odometry
    // An odometry without drift is the truth.
    if odometry.positionDrift > 0 {
      sizes.drift = drift.size(
        after: sizes.drift, stated: odometry.positionDrift, Self.statedDriftDegrees)
    }
    if odometry.yawDriftRadians > 0 {
      sizes.yawDrift = yaw.size(
        after: sizes.yawDrift, stated: odometry.yawDriftRadians, Self.statedDriftDegrees)
    }
  }

  /// The least share of the values of a kind that determines no unknown.
  private static let leastFreeShare = 0.2

  /// Learns the noise.
  ///
  /// - Parameter determined: How many unknowns the measurements determine: each value as much as the next.
  private mutating func learnNoise(_ determined: Double) {
    let all = samples.reduce(0) { sum, sample in sum + kinds.count { sample.values[$0] != nil } }
    for kind in kinds {
      var (count, squares, total) = (0.0, 0.0, 0.0)
      for (index, sample) in samples.enumerated() {
        guard let outcome = outcome(of: kind, index) else { continue }
        let residual = outcome.residual / sample.widenings[kind]
        count += outcome.inlier
        total += 1
        squares += outcome.inlier * residual * residual
      }
      let used = determined * total / Double(max(all, 1))
      let free = max(count - used, Self.leastFreeShare * count)
      let stated = stated.ranging.sigma(of: kind)
      let variance =
        (Self.statedNoiseDegrees * stated * stated + squares) / (Self.statedNoiseDegrees + free)
      sizes.noise[kind] = min(max(variance.squareRoot(), 1e-4), 1e3)
      outliers[kind] = 1 - count / max(total, 1)
      degrees.noise[kind] = kind.isAngle ? Self.anglePower * free : free
    }
  }
}

/// The sums of the evidence's fixed point for one size.
private struct Sums {
  private var squares = 0.0
  /// How many innovations the measurements determine.
  private(set) var degrees = 0.0

  mutating func add(_ moment: ChainProblem.Moment, _ variance: Double) {
    squares += moment.mean * moment.mean / variance
    degrees += max(1 - moment.variance / variance, 0)
  }

  /// By what the variance would be multiplied.
  var factor: Double { degrees > 0 ? squares / degrees : 1 }

  /// The next size where some innovations' worth say what is stated.
  ///
  /// The fixed point overshoots, so a step is limited.
  func size(after size: Double, stated: Double, _ count: Double) -> Double {
    let factor = (count * stated * stated / (size * size) + squares) / (count + degrees)
    return size * min(max(factor, 0.2), 6).squareRoot()
  }
}
