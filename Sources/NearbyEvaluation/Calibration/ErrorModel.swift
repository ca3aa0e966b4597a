// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// The posterior of a recording's constants, under one model of all errors of radio and odometry.
///
/// The model is an ``ErrorChain``. Its unknowns are the device's path, the peers at rest, and the constants. The
/// size of each error is learnt from the same recording: the white noise of each kind, the odometry's drift, and
/// of ranges the errors that depend on the place, on time and on the direction in the device. Each of these
/// can explain a residual, and the most probable sizes share the residuals out between them: what depends on the
/// place is not taken for drift, nor is a body beside the device taken for a clock.
///
/// The sizes are found by the fixed point of the evidence (MacKay 1992): with innovations w of prior variance
/// θ² q and posterior variance v,
///
///     θ² ← Σ w²/q / Σ (1 - v/(θ² q)).
///
/// An interval of the path may have a slip of the odometry, of two kinds with variances and prior odds of their own, so
/// that a slip is not taken for drift.
struct ErrorModel: Sendable {
  /// The sizes of the errors.
  struct Sizes: Hashable, Sendable {
    /// White noise of ranges, m, of azimuths and elevations, rad.
    var noise: PerKind<Double>
    var outliers = PerKind(repeating: 0.03)
    /// Drift of position, m/√m, and of yaw, rad/√m.
    var drift: Double
    var yawDrift: Double
    /// Errors of ranges that depend on the device's place, m; all ranges' common walk, m/√min; errors that depend on
    /// the direction in the device, m.
    var place = 0.1
    var common = 0.2
    var direction = 0.1

    /// One sigma of the errors of ranges that depend on place and direction together, metres.
    var lastingRangeError: Double { (place * place + direction * direction).squareRoot() }

    /// Whether none differs by more than 2 %, or by what is too little to matter.
    func isNear(_ other: Sizes) -> Bool {
      func near(_ a: Double, _ b: Double, _ least: Double) -> Bool { abs(a - b) < 0.02 * b + least }
      return near(drift, other.drift, 1e-5) && near(yawDrift, other.yawDrift, 1e-5)
        && near(noise.range, other.noise.range, 1e-4) && near(place, other.place, 2e-3)
        && near(common, other.common, 2e-3) && near(direction, other.direction, 2e-3)
    }
  }

  /// The degrees of freedom of each size.
  struct Degrees: Hashable, Sendable {
    var noise = PerKind(repeating: 0.0)
    var drift = 0.0
    var yawDrift = 0.0
  }

  private(set) var sizes: Sizes
  private(set) var degrees = Degrees()
  private var chain: ErrorChain
  private(set) var state: [Double]
  private var moments: ErrorChain.Moments
  private var workspace: [Double] = []
  /// The slip of each interval, if it has one.
  private var slips: [OdometrySlip?]
  /// Of each interval with a slip the square of how far it goes, m².
  private var slippedSquares: [Double]
  /// Whether an interval has a gap in the poses: a slip is as probable as none.
  private let isFrozen: [Bool]
  /// Of each interval the path, metres.
  private let lengths: [Double]
  private let seconds: [Double]
  private let data: CalibrationData
  private let peers: [Int]
  private let start: Timestamp
  private let knotTimes: [Double]
  /// Of each cell how much wider than stated for its kind a value's error is.
  private var widenings: [PerKind<Double>] = []
  /// Whether the drift is as stated, and whether ranges have no lasting errors.
  private var withholdsDrift = true
  private var withholdsLastingErrors = false
  /// By what factors the fixed point would change the variances of drift and drift of yaw.
  private(set) var driftFactors = (position: 1.0, yaw: 1.0)
  /// The offset of the clock at which the cells have their poses.
  private var posedOffset = 0.0
  let stated: FusionConfiguration
  /// The kinds that were measured.
  let kinds: [MeasurementKind]

  // MARK: Priors

  private static let scaleSigma = 0.05
  private static let biasSigma = 0.3
  private static let angleBiasSigma = 3.0.degreesAsRadians
  private static let clockSigma = 0.2
  private static let antennaSigma = 0.15
  private static let turnRateSigma = 0.02.degreesAsRadians
  private static let distanceSigma = 20.0
  private static let heightSigma = 3.0
  /// The path over which errors by place are alike, metres.
  private static let placeLength = 3.0
  private static let leastPath = 30.0
  /// The priors of sizes fall exponentially, at these rates: 1/m, √min/m, 1/m.
  private static let rates = (place: 20.0, common: 20.0, direction: 10.0)
  private static let least = (place: 0.005, common: 0.02, direction: 0.005)
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
    guard end > 2 else { return nil }
    guard let spacing = PathKnots(data.poses, from: start, until: end) else { return nil }
    (lengths, seconds, knotTimes) = (spacing.lengths, spacing.durations, spacing.times)
    chain = ErrorChain(knots: spacing.knots, cells: [], peerCount: peers.count)
    slips = spacing.areFrozen.map { $0 ? .large : nil }
    slippedSquares = Array(repeating: 0, count: spacing.lengths.count)
    isFrozen = spacing.areFrozen
    state = Array(repeating: 0, count: chain.layout.stateCount)
    moments = chain.noMoments
    let ranging = stated.ranging
    sizes = Sizes(
      noise: PerKind { max(ranging.sigma(of: $0), 1e-4) },
      drift: stated.odometry.positionDrift, yawDrift: stated.odometry.yawDriftRadians)
    posedOffset = clockOffset
    // On a short path an error by place is like a constant one.
    if lengths.reduce(0, +) < Self.leastPath { sizes.place = Self.least.place }
    setStart(pass, spacing)
    setPriors()
    setCells()
    guard chain.cells.count >= 30 else { return nil }
  }

  private mutating func setStart(_ pass: EnginePass, _ spacing: PathKnots) {
    let layout = chain.layout
    var yaw = 0.0
    for (knot, index) in spacing.poses.enumerated() {
      let map = knot == 0 ? .identity : pass.mapFromWorld[index]
      let place = map.act(chain.knots[knot].place)
      let first = layout.blockSize * knot
      (state[first], state[first + 1], state[first + 2]) = (place.x, place.y, place.z)
      let turn = 2 * atan2(map.rotation.y, map.rotation.w)
      yaw += (turn - yaw).wrappedAngle
      state[first + 3] = yaw
    }
    for (number, peer) in peers.enumerated() {
      guard let place = pass.places[peer] else { continue }
      let first = layout.border + layout.peer(number)
      (state[first], state[first + 1], state[first + 2]) = (place.x, place.y, place.z)
    }
    let antenna = stated.ranging.antennaInDevice
    let first = layout.border + layout.antenna
    (state[first], state[first + 1], state[first + 2]) = (antenna.x, antenna.y, antenna.z)
    state[layout.border + layout.clockOffset] = posedOffset
  }

  private mutating func setPriors() {
    let layout = chain.layout
    let place = chain.knots[0].place
    let isPlanar = stated.odometry.isPlanar
    for number in peers.indices {
      let first = layout.peer(number)
      chain.priors[first] = .init(mean: place.x, sigma: Self.distanceSigma)
      chain.priors[first + 1] = .init(
        mean: place.y, sigma: isPlanar ? 1e-3 : Self.heightSigma)
      chain.priors[first + 2] = .init(mean: place.z, sigma: Self.distanceSigma)
      chain.priors[first + 3] = .init(sigma: max(Self.biasSigma, stated.ranging.rangeBiasSigma))
      chain.priors[first + 4] = .init(sigma: Self.angleBiasSigma)
      chain.priors[first + 5] = .init(sigma: Self.angleBiasSigma)
    }
    let antenna = stated.ranging.antennaInDevice
    chain.priors[layout.rangeScale] = .init(sigma: Self.scaleSigma)
    chain.priors[layout.clockOffset] = .init(
      mean: stated.ranging.clockOffset,
      sigma: max(Self.clockSigma, abs(posedOffset - stated.ranging.clockOffset)))
    for (axis, value) in [antenna.x, antenna.y, antenna.z].enumerated() {
      chain.priors[layout.antenna + axis] = .init(mean: value, sigma: Self.antennaSigma)
    }
    chain.priors[layout.turnRate] = .init(
      sigma: stated.odometry.positionDrift > 0 ? Self.turnRateSigma : 1e-9)
  }

  /// Takes the samples with their poses at the state's offset of the clock.
  private mutating func setCells() {
    let numbers = Dictionary(uniqueKeysWithValues: peers.enumerated().map { ($1, $0) })
    var path = PathReader(data.poses, from: start)
    var knot = 0
    chain.cells.removeAll(keepingCapacity: true)
    widenings.removeAll(keepingCapacity: true)
    for sample in data.samples {
      guard let peer = numbers[sample.peer] else { continue }
      let time = sample.timestamp.seconds(since: start) - posedOffset
      guard time >= knotTimes[0], time <= knotTimes[knotTimes.count - 1],
        let motion = path.motion(at: time)
      else { continue }
      while knot + 2 < knotTimes.count, knotTimes[knot + 1] <= time { knot += 1 }
      func value(_ kind: MeasurementKind) -> Double? { sample.values[kind]?.value }
      let share = (time - knotTimes[knot]) / (knotTimes[knot + 1] - knotTimes[knot])
      chain.cells.append(
        ErrorChain.Cell(
          worldFromDevice: motion.pose, velocity: motion.velocity, turnRate: motion.turnRate,
          values: (value(.range), value(.azimuth), value(.elevation)), variances: (1, 1, 1),
          knot: knot, share: min(max(share, 0), 1), peer: peer))
      let ranging = stated.ranging
      widenings.append(
        PerKind { kind in
          sample.values[kind].map { $0.sigma / ranging.sigma(of: kind) } ?? 1
        })
    }
    moments = chain.noMoments
  }

  // MARK: The fixed point

  /// Finds mode and sizes with the drift as stated, from a start that may be far off.
  ///
  /// A wide drift would hide slips, and all errors of ranges.
  ///
  /// - Returns: Whether a mode was found.
  mutating func settle() -> Bool {
    setVariances()
    startNoise()
    for _ in 0..<Self.firstSteps where advance(measuring: false) == nil { return false }
    return learnSizes(rounds: Self.mostRounds)
  }

  /// Finds the sizes anew, and goes to their mode.
  private mutating func learnSizes(rounds: Int) -> Bool {
    for _ in 0..<rounds {
      guard advance(measuring: true) != nil else { return false }
      let before = sizes
      learn()
      refreshPoses()
      if sizes.isNear(before) { break }
    }
    // The last moments are those of the final sizes, at their mode.
    for _ in 0..<Self.mostLastSteps {
      guard let gain = advance(measuring: true) else { return false }
      if gain < Self.leastGain { return true }
    }
    return true
  }

  private static let mostLastSteps = 8
  /// A step that lowers the cost by less is the last, nats.
  private static let leastGain = 0.3

  private static let mostRounds = 12
  private static let mostRoundsAgain = 8

  // MARK: Other explanations

  /// Whether the estimated variance of the drift's innovations exceeds the stated one by
  /// ``RecordingCalibration/leastFactor``.
  var suggestsDrift: Bool {
    let least = RecordingCalibration.leastFactor
    return stated.odometry.positionDrift > 0 && driftFactors.position > least
      || stated.odometry.yawDriftRadians > 0 && driftFactors.yaw > least
  }

  /// A copy that estimates the drift, at its mode; `nil` where the minimisation fails.
  func learningDrift() -> ErrorModel? {
    var other = self
    other.withholdsDrift = false
    other.sizes.drift = Self.startFactor * stated.odometry.positionDrift
    other.sizes.yawDrift = Self.startFactor * stated.odometry.yawDriftRadians
    other.setVariances()
    return other.learnSizes(rounds: Self.mostRoundsAgain) ? other : nil
  }

  /// A copy without range errors that depend on place, time and direction, at its mode; `nil` where the minimisation
  /// fails.
  func withoutLastingErrors() -> ErrorModel? {
    var other = self
    other.withholdsLastingErrors = true
    (other.sizes.place, other.sizes.common) = (Self.least.place, Self.least.common)
    other.sizes.direction = Self.least.direction
    other.setVariances()
    return other.learnSizes(rounds: Self.mostRoundsAgain) ? other : nil
  }

  /// The logarithm of the evidence at the mode, with the priors of the sizes, up to a constant.
  var logEvidence: Double {
    let slipped = slips.indices.reduce(0.0) { sum, index in
      sum + (slips[index]?.logOdds(isFrozen: isFrozen[index]) ?? 0)
    }
    return moments.logEvidence + slipped - Self.rates.place * sizes.place - Self.rates.common
      * sizes.common
      - Self.rates.direction * sizes.direction
  }

  /// The log odds that the clock's offset or the scale differs between the first and the second half of the recording.
  var logOddsOfChange: Double {
    guard chain.cells.count >= 2 * Self.leastCells else { return 0 }
    let middle = chain.cells[chain.cells.count / 2].knot
    guard let first = part({ $0 < middle }), let second = part({ $0 >= middle }) else { return 0 }
    return [ConstantName.clockOffset, .rangeScale].map { name in
      let (a, b) = (first.constant(name), second.constant(name))
      let variance = a.sigma * a.sigma + b.sigma * b.sigma
      let away = a.mean - b.mean
      return 0.5 * away * away / variance - 0.5 * log(2 * a.priorSigma * a.priorSigma / variance)
    }.max() ?? 0
  }

  private static let leastCells = 60

  /// Whether the noise of ranges is white: its sigma is at most 1.5 times that of the differences of successive
  /// residuals of a peer.
  var hasWhiteNoise: Bool {
    guard kinds.contains(.range) else { return true }
    var last = [Int: (residual: Double, seconds: Double)]()
    var steps: [Double] = []
    for (index, cell) in chain.cells.enumerated() where cell.has(0) {
      let residual = moments.residuals[3 * index].value
      let seconds = knotTimes[cell.knot] + cell.share * self.seconds[cell.knot]
      if let before = last[cell.peer], seconds - before.seconds < Self.nextSeconds {
        steps.append(abs(residual - before.residual))
      }
      last[cell.peer] = (residual, seconds)
    }
    guard steps.count >= Self.leastCells / 2 else { return true }
    steps.sort()
    // The median of the difference of two normal values is 0.954 of their sigma.
    return sizes.noise.range < Self.mostColour * steps[steps.count / 2] / 0.954
  }

  private static let mostColour = 1.5
  private static let nextSeconds = 3.0
  private static let wideClockSigma = 1.0
  private static let partSteps = 5

  /// The model with the cells of some knots, at its mode under the same sizes.
  private func part(_ isIncluded: @escaping (Int) -> Bool) -> ErrorModel? {
    var part = self
    guard chain.cells.count(where: { isIncluded($0.knot) }) >= Self.leastCells / 2 else {
      return nil
    }
    part.keepCells(isIncluded)
    // A slip could stand for what the constant does not explain.
    for index in part.slips.indices where !isFrozen[index] { part.slips[index] = nil }
    part.setVariances()
    // A wide prior: neither half is to be pulled to the stated offset.
    part.chain.priors[chain.layout.clockOffset] = .init(
      mean: stated.ranging.clockOffset, sigma: max(Self.wideClockSigma, abs(posedOffset)))
    for _ in 0..<Self.partSteps {
      guard part.advance(measuring: false) != nil else { return nil }
      part.refreshPoses(isIncluded)
    }
    return part.advance(measuring: true) == nil ? nil : part
  }

  /// Begins with noise that the residuals at the start agree with: a mode that is off must not be taken for
  /// outliers.
  private mutating func startNoise() {
    var found: ErrorChain.Moments? = moments
    guard chain.step(from: state, moments: &found, &workspace) != nil, let found else { return }
    for kind in kinds {
      let index = kind.number
      let cells = chain.cells
      let residuals = cells.indices.filter { cells[$0].has(index) }
        .map { abs(found.residuals[3 * $0 + index].value) }.sorted()
      guard let middle = residuals.isEmpty ? nil : residuals[residuals.count / 2] else { continue }
      sizes.noise[kind] = max(sizes.noise[kind], min(1.5 * middle, Self.mostNoise[kind]))
    }
    setVariances()
  }

  private static let mostNoise = PerKind<Double> { $0 == .range ? 3 : 0.5 }

  /// Goes a step towards the mode.
  ///
  /// - Parameter measuring: Whether the moments are taken there.
  /// - Returns: By how much that lowers the cost; `nil` where the information is singular.
  private mutating func advance(measuring: Bool) -> Double? {
    var found: ErrorChain.Moments? = measuring ? moments : nil
    guard let (step, cost) = chain.step(from: state, moments: &found, &workspace) else {
      return nil
    }
    if let found { moments = found }
    var share = 1.0
    for _ in 0..<Self.mostHalvings {
      var next = state
      for index in next.indices { next[index] += share * step[index] }
      let reached = chain.cost(at: next, &workspace)
      if reached <= cost + 1e-6 {
        state = next
        return cost - reached
      }
      share *= 0.5
    }
    return 0
  }

  private static let firstSteps = 3
  private static let mostHalvings = 5

  /// Leaves out the cells of all other knots.
  private mutating func keepCells(_ isIncluded: (Int) -> Bool) {
    let kept = chain.cells.indices.filter { isIncluded(chain.cells[$0].knot) }
    widenings = kept.map { widenings[$0] }
    chain.cells = kept.map { chain.cells[$0] }
    moments = chain.noMoments
  }

  private mutating func refreshPoses(_ isIncluded: ((Int) -> Bool)? = nil) {
    let offset = state[chain.layout.border + chain.layout.clockOffset]
    // The last offset within which the prior holds it.
    guard abs(offset - posedOffset) > 1e-3, abs(offset) < 10 else { return }
    posedOffset = offset
    setCells()
    if let isIncluded { keepCells(isIncluded) }
    setVariances()
  }

  private mutating func setVariances() {
    let isPlanar = stated.odometry.isPlanar
    for index in lengths.indices {
      let (drift, yaw) = driftVariances(index)
      let slip = slips[index]
      chain.knots[index].horizontalVariance = drift + (slip?.horizontal ?? 0)
      chain.knots[index].verticalVariance =
        isPlanar ? Self.leastVariance : drift + (slip?.vertical ?? 0)
      chain.knots[index].yawVariance = yaw + (slip?.yaw ?? 0)
      let correlation = exp(-lengths[index] / Self.placeLength)
      chain.knots[index].placeCorrelation = correlation
      chain.knots[index].placeInnovation =
        sizes.place * sizes.place * (1 - correlation * correlation) + Self.leastVariance
      chain.knots[index].commonVariance =
        sizes.common * sizes.common * seconds[index] / 60 + Self.leastVariance
    }
    chain.firstPlaceVariance = sizes.place * sizes.place
    for index in chain.layout.harmonics {
      chain.priors[index].variance = harmonicVariance(index)
    }
    let noise = sizes.noise
    for index in chain.cells.indices {
      let (knot, share) = (chain.cells[index].knot, chain.cells[index].share)
      // What linear interpolation between two knots leaves of drift and slip.
      let bridge = (driftVariances(knot).position + slippedSquares[knot]) * share * (1 - share)
      func variance(_ kind: MeasurementKind) -> Double {
        let sigma = noise[kind] * widenings[index][kind]
        return sigma * sigma
      }
      chain.cells[index].variances = (
        variance(.range) + bridge, variance(.azimuth) / Self.anglePower,
        variance(.elevation) / Self.anglePower
      )
    }
    chain.outlierShares = (
      sizes.outliers.range, sizes.outliers.azimuth, sizes.outliers.elevation
    )
    chain.outlierDensities = (1 / max(10, 20 * noise.range), 1 / .pi, 1 / .pi)
  }

  private static let leastVariance = 1e-8
  private static let leastYawVariance = 1e-10

  /// The variances of the drift in an interval, m² and rad².
  private func driftVariances(_ interval: Int) -> (position: Double, yaw: Double) {
    (
      sizes.drift * sizes.drift * lengths[interval] + Self.leastVariance,
      sizes.yawDrift * sizes.yawDrift * lengths[interval] + Self.leastYawVariance
    )
  }

  /// The m-th harmonic of the azimuth has 1/m of the size.
  private func harmonicVariance(_ index: Int) -> Double {
    let order = Double((index - chain.layout.harmonics.lowerBound) / 2 + 1)
    return sizes.direction * sizes.direction / (order * order) / Self.harmonicSum
  }

  /// 1 + 1/4 + 1/9 + 1/16: a direction error of size one has variance one half from cosine and sine each.
  private static let harmonicSum = 1.42

  // MARK: The posterior

  /// A constant that is unknown.
  struct Constant: Sendable {
    var mean: Double
    var sigma: Double
    fileprivate var priorSigma: Double

    /// The logarithm of the odds against a value, the prior's mean: of its density in the prior to that in the
    /// posterior (Savage and Dickey).
    func logOdds(against value: Double) -> Double {
      let away = (mean - value) / sigma
      return 0.5 * away * away - log(priorSigma / sigma)
    }
  }

  /// The constants by name.
  enum ConstantName { case rangeScale, clockOffset, turnRate }

  /// The posterior of a constant.
  func constant(_ name: ConstantName) -> Constant {
    let layout = chain.layout
    let index =
      switch name {
      case .rangeScale: layout.rangeScale
      case .clockOffset: layout.clockOffset
      case .turnRate: layout.turnRate
      }
    return Constant(
      mean: state[layout.border + index], sigma: variance(index, index).squareRoot(),
      priorSigma: chain.priors[index].variance.squareRoot())
  }

  /// The constant errors of the ranges to the peers, each with one standard deviation, metres.
  var rangeBiases: [(mean: Double, sigma: Double)] {
    peers.indices.map { number in
      let index = chain.layout.peer(number) + 3
      return (state[chain.layout.border + index], variance(index, index).squareRoot())
    }
  }

  /// The posterior of the antenna's place, and the odds against what is stated.
  var antenna: (mean: Vector3, sigmas: [Double], logOdds: Double) {
    let first = chain.layout.antenna
    func element(_ row: Int, _ column: Int) -> Double { variance(first + row, first + column) }
    let covariance = SymmetricMatrix3(
      xx: element(0, 0), xy: element(0, 1), xz: element(0, 2), yy: element(1, 1),
      yz: element(1, 2), zz: element(2, 2))
    let mean = Vector3(
      state[chain.layout.border + first], state[chain.layout.border + first + 1],
      state[chain.layout.border + first + 2])
    let sigmas = (0..<3).map { element($0, $0).squareRoot() }
    guard let information = covariance.positiveDefiniteInverse else { return (mean, sigmas, 0) }
    let square = information.quadraticForm(mean - stated.ranging.antennaInDevice)
    // Independent sigmas would be a bound: the determinant is less than their product.
    let determinant = covariance.determinant
    let logOdds = 0.5 * square - 3 * log(Self.antennaSigma) + 0.5 * log(max(determinant, 1e-30))
    return (mean, sigmas, logOdds)
  }

  private func variance(_ row: Int, _ column: Int) -> Double {
    max(moments.covariance[column * chain.layout.borderSize + row], row == column ? 1e-18 : -1e9)
  }

  /// The peers whose ranges contradict the model, by how much, metres, and along how much of the walk, metres.
  ///
  /// What contradicts it are outliers, and errors by place of more than twice the white noise.
  var misfits: [(peer: Int, metres: Double, along: Double)] {
    guard kinds.contains(.range) else { return [] }
    let layout = chain.layout
    return peers.indices.compactMap { number in
      var (squares, count) = (0.0, 0.0)
      var intervals: Set<Int> = []
      for (index, cell) in chain.cells.enumerated() where cell.peer == number && cell.has(0) {
        let found = moments.residuals[3 * index]
        let error = layout.blockSize * cell.knot + layout.placeError(number)
        let next = error + layout.blockSize
        let lasting = (1 - cell.share) * state[error] + cell.share * state[next]
        let off = abs(found.value + lasting)
        guard found.certainty < 0.5 || abs(lasting) > 2 * sizes.noise.range else { continue }
        squares += off * off
        count += 1
        intervals.insert(cell.knot)
      }
      let along = intervals.reduce(0) { $0 + lengths[$1] }
      guard along > Self.leastMisfit, count > 0 else { return nil }
      return (peers[number], (squares / count).squareRoot(), along)
    }
  }

  /// A contradiction along less of the walk is one of the outliers that a model allows for, metres.
  private static let leastMisfit = 20.0

  // MARK: Sizes

  private mutating func learn() {
    let layout = chain.layout
    // How many unknowns the measurements determine, of all kinds of prior.
    var determined = 0.0
    func moment(_ interval: Int, _ index: Int) -> ErrorChain.Moment {
      moments.innovations[interval * layout.blockSize + index]
    }
    var (drift, yaw) = (Sums(), Sums())
    var (place, common, direction) = (Sums(), Sums(), Sums())
    for interval in lengths.indices {
      let knot = chain.knots[interval]
      let variances = [
        knot.horizontalVariance, knot.verticalVariance, knot.horizontalVariance, knot.yawVariance,
      ]
      let drifts = (0..<4).map { moment(interval, $0) }
      for (axis, variance) in variances.enumerated() {
        determined += 1 - drifts[axis].variance / variance
        // A slip begins and ends within the intervals beside it.
        if slips[interval] != nil || isBesideSlip(interval) { continue }
        if axis == 1 && stated.odometry.isPlanar { continue }
        if axis < 3 { drift.add(drifts[axis], variance) } else { yaw.add(drifts[axis], variance) }
      }
      examineSlip(interval, drifts, variances)
      for peer in peers.indices {
        let found = moment(interval, layout.placeError(peer))
        place.add(found, knot.placeInnovation)
        determined += 1 - found.variance / knot.placeInnovation
      }
      let found = moment(interval, layout.commonError)
      common.add(found, knot.commonVariance)
      determined += 1 - found.variance / knot.commonVariance
    }
    for peer in peers.indices {
      let index = layout.placeError(peer)
      let found = ErrorChain.Moment(value: state[index], variance: moments.firstVariances[index])
      place.add(found, chain.firstPlaceVariance)
      determined += 1 - found.variance / chain.firstPlaceVariance
    }
    for index in 0..<layout.borderSize {
      let variance = moments.covariance[index * layout.borderSize + index]
      determined += 1 - variance / chain.priors[index].variance
      guard layout.harmonics.contains(index) else { continue }
      let value = state[layout.border + index]
      direction.add(.init(value: value, variance: variance), chain.priors[index].variance)
    }
    learnNoise(determined)
    (degrees.drift, degrees.yawDrift) = (drift.degrees, yaw.degrees)
    driftFactors = (drift.factor, yaw.factor)
    if !withholdsDrift { learnDrift(drift, yaw) }
    guard !withholdsLastingErrors else { return setVariances() }
    if lengths.reduce(0, +) >= Self.leastPath {
      sizes.place = place.size(after: sizes.place, rate: Self.rates.place, least: Self.least.place)
    }
    sizes.common = common.size(
      after: sizes.common, rate: Self.rates.common, least: Self.least.common)
    sizes.direction = direction.size(
      after: sizes.direction, rate: Self.rates.direction, least: Self.least.direction)
    setVariances()
  }

  /// Finds out whether an interval has a slip: the odds for it, by what its innovations would be without a prior.
  ///
  /// - Parameters:
  ///   - interval: The interval.
  ///   - found: The innovations of its drift.
  ///   - variances: Their prior variances.
  private mutating func examineSlip(
    _ interval: Int, _ found: [ErrorChain.Moment], _ variances: [Double]
  ) {
    // An odometry without drift is the truth.
    guard stated.odometry.positionDrift > 0 else { return }
    let (drift, yaw) = driftVariances(interval)
    slips[interval] =
      OdometrySlip.mostProbable(
        InlineArray { ChainProblem.Moment(mean: found[$0].value, variance: found[$0].variance) },
        InlineArray { variances[$0] },
        steady: stated.odometry.isPlanar ? [drift, 0, drift, yaw] : [drift, drift, drift, yaw],
        isFrozen: isFrozen[interval], isBeside: isBesideSlip(interval),
        among: OdometrySlip.straight
      ).slip
    slippedSquares[interval] =
      slips[interval] == nil ? 0 : found[..<3].reduce(0) { $0 + $1.value * $1.value } / 3
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

  private mutating func learnNoise(_ determined: Double) {
    // What is determined by angles follows from their own variances; the rest is determined by ranges.
    var left = determined
    for kind in kinds.reversed() {
      let index = kind.number
      var (count, squares, used, total) = (0.0, 0.0, 0.0, 0.0)
      for cell in chain.cells.indices where chain.cells[cell].has(index) {
        let found = moments.residuals[3 * cell + index]
        let residual = found.value / widenings[cell][kind]
        count += found.certainty
        total += 1
        squares += found.certainty * residual * residual
        used += found.certainty * found.variance / chain.cells[cell].variance(index)
      }
      if kind == .range { used = max(left, 0) }
      left -= used
      let free = max(count - used, Self.leastFreeShare * count)
      let stated = stated.ranging.sigma(of: kind)
      let variance =
        (Self.statedNoiseDegrees * stated * stated + squares) / (Self.statedNoiseDegrees + free)
      sizes.noise[kind] = min(max(variance.squareRoot(), 1e-4), 1e3)
      sizes.outliers[kind] = min(max((1 + total - count) / (20 + total), 0.005), 0.3)
      degrees.noise[kind] = kind.isAngle ? Self.anglePower * free : free
    }
  }
}

/// The sums of the evidence's fixed point for one size.
private struct Sums {
  private var squares = 0.0
  /// How many innovations the measurements determine.
  private(set) var degrees = 0.0

  mutating func add(_ moment: ErrorChain.Moment, _ variance: Double) {
    squares += moment.value * moment.value / variance
    degrees += max(1 - moment.variance / variance, 0)
  }

  /// By what the variance would be multiplied.
  var factor: Double { degrees > 0 ? squares / degrees : 1 }

  /// The next size under an exponential prior.
  func size(after size: Double, rate: Double, least: Double) -> Double {
    let factor = squares / max(degrees + rate * size, 1e-9)
    return max(size * Self.limited(factor).squareRoot(), least)
  }

  /// The next size where some innovations' worth say what is stated.
  func size(after size: Double, stated: Double, _ count: Double) -> Double {
    let factor = (count * stated * stated / (size * size) + squares) / (count + degrees)
    return size * Self.limited(factor).squareRoot()
  }

  /// A step of a size is limited: the fixed point overshoots.
  private static func limited(_ factor: Double) -> Double { min(max(factor, 0.2), 6) }
}

extension ErrorChain.Cell {
  fileprivate func has(_ kind: Int) -> Bool {
    switch kind {
    case 0: values.0 != nil
    case 1: values.1 != nil
    default: values.2 != nil
    }
  }

  fileprivate func variance(_ kind: Int) -> Double {
    switch kind {
    case 0: variances.0
    case 1: variances.1
    default: variances.2
    }
  }
}

extension MeasurementKind {
  /// Its place among the kinds of a chain.
  fileprivate var number: Int {
    switch self {
    case .range, .heightDifference: 0
    case .azimuth: 1
    case .elevation: 2
    }
  }
}
