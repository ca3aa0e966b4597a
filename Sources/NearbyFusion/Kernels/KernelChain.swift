// SPDX-License-Identifier: Apache-2.0
internal import CNearbyKernels
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Memory that is kept from fit to fit, and what a fit leaves in it.
package struct ChainWorkspace: Sendable {
  /// What the kernels work in.
  fileprivate var kernel: [Double] = []
  /// Of each peer of the newest fit the mean probability that a value is no outlier.
  package fileprivate(set) var inlierShares: [Double] = []
  /// Of each cell measured minus predicted of its range, by ``ChainProblem/findRangeResiduals(at:workspace:)``.
  fileprivate var residuals: [Double] = []
  /// The times of the knots, and the forward messages along the cells of a peer, by
  /// ``ChainProblem/setFaultPriors(at:_:workspace:)``.
  fileprivate var times: [Double] = []
  fileprivate var messages: [FaultMessage] = []

  /// The forward message at one range of a peer.
  fileprivate struct FaultMessage: Sendable {
    var cell: Int
    /// The correlation of the state, inlier or fault, with that at the range before.
    var lasting: Double
    /// The likelihood ratios of a new fault and of the fault of the range before, each over an inlier.
    var begun: Double
    var continued: Double
    /// The odds of a fault given this range and all before it.
    var odds: Double
  }

  /// Makes one that grows as is needed.
  package init() {}
}

/// A chain: the odometry's drift from knot to knot, peers that rest or move, and what was measured, as
/// the kernels have it.
///
/// The engine's joint fit, the smoother and the corrected trajectory are fits of chains.
///
/// The cost at a state, up to a constant, is that of the prior, of the odometry between knots and of
/// each cell's values. With s the odometry's scale error and ω its steady turn, over a time t,
///
///     (c' - c) / (1 + s) = R(ψ + ω t / 2) Δ,    ψ' = ψ + ω t,
///
/// each with its variance, where Δ is the odometry's step from d to d'. The first is a length of the odometry: as
/// one of the fixed world its cost would fall as that world shrinks. For a cell at a share f between two knots the antenna a of the odometry's
/// world stands at
///
///     (1 - f) (c + R(ψ) (a - d)) + f (c' + R(ψ') (a - d'))
///
/// in the fixed world, with d and d' the device in the odometry's world at the knots. With an offset b
/// of the radio's clock and a lever arm l, if they are unknown, it is the antenna at a - b v + R l, where v
/// is its velocity and R the device's rotation. A value counts
/// as an inlier or an outlier by its mixture's density, to the power that it holds of an independent
/// draw of its errors. The velocity of a peer that moves is an Ornstein-Uhlenbeck process
/// (``MotionModel``); the rate of a clock walks at random.
package struct ChainProblem: Sendable {
  private var knots: [nearby_chain_knot] = []
  private var motions: [nearby_chain_motion] = []
  private var cells: [nearby_chain_cell] = []
  private var rates: [nearby_chain_rate] = []
  /// Of each cell whether the radio itself calls the range obstructed.
  private var isObstructed: [Bool] = []
  private var differences: [nearby_chain_difference] = []
  private let model: Model
  package private(set) var prior: MarginalPrior
  package private(set) var layout: ChainLayout
  /// The prior variances about zero of the constants of the device, and of each peer's place error at the
  /// first knot, beside ``prior``; none where zero.
  package var constantVariances: [Double] = []
  package var firstErrorVariances: [Double] = []
  /// By what factor the variances of values are taken too large.
  package var widening = 1.0
  /// The random walk of the rate of a clock, as a length: variance per second, m²/s³.
  package var clockWalk = 0.0
  /// The negative log-likelihood of the Markov chain of faults minus that of independent faults with the
  /// probabilities that ``setFaultPriors(at:_:workspace:)`` has set, nats.
  ///
  /// These probabilities are posterior ones, so that the cost alone favours the state at which they were set. Costs of
  /// different states are compared with this added.
  package private(set) var faultCost = 0.0
  /// Whether range differences may be outliers; from a start that is far off all would be.
  package var doubtsDifferences = true

  /// What is assumed of outliers and of peers that move.
  private struct Model {
    var shares: PerKind<Double>
    var rangeExcess: Double
    var fieldOfViewRadians: Double
    var speedVariances: (Double, Double, Double)
  }

  /// How a fit has ended.
  package struct Result {
    package var cost: Double
    package var hasConverged: Bool
  }

  /// A peer that is held along a direction: n·x is what it is held at.
  package struct Hold {
    package var member: Int
    /// A unit vector n of the fixed world.
    package var direction: Vector3
    /// n·x, metres.
    package var place: Double

    package init(member: Int, direction: Vector3, place: Double) {
      (self.member, self.direction, self.place) = (member, direction, place)
    }
  }

  /// Speeds are never taken for surer than this, m²/s².
  package static let leastSpeedVariance = 1e-8
  /// Drift between two knots is never taken for surer than this: 10 µm and 10 µrad.
  package static let leastVariance = 1e-10

  /// Makes a chain without knots.
  ///
  /// - Parameters:
  ///   - prior: What is known from before of the first knot and of the border.
  ///   - layout: Where the unknowns stand.
  ///   - faults: How outliers arise.
  ///   - ranging: The radio.
  ///   - motion: How peers move; none does without it.
  package init(
    _ prior: MarginalPrior, _ layout: ChainLayout, _ faults: FaultModel,
    _ ranging: RangingConfiguration, _ motion: MotionModel? = nil
  ) {
    (self.prior, self.layout) = (prior, layout)
    let speeds = motion?.speedVariances ?? [1, 1, 1]
    func least(_ axis: Int) -> Double { max(speeds[axis], Self.leastSpeedVariance) }
    model = Model(
      shares: PerKind { faults.outlierShare(of: $0) },
      rangeExcess: faults.rangeExcess(sigma: ranging.rangeSigma),
      fieldOfViewRadians: ranging.fieldOfViewRadians,
      speedVariances: (least(0), least(1), least(2)))
  }

  /// Removes all knots and cells, and keeps their memory.
  mutating func restart(_ prior: MarginalPrior, _ layout: ChainLayout) {
    (self.prior, self.layout) = (prior, layout)
    constantVariances.removeAll(keepingCapacity: true)
    firstErrorVariances.removeAll(keepingCapacity: true)
    knots.removeAll(keepingCapacity: true)
    motions.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    rates.removeAll(keepingCapacity: true)
    isObstructed.removeAll(keepingCapacity: true)
    faultCost = 0
    differences.removeAll(keepingCapacity: true)
  }

  package var knotCount: Int { knots.count }
  var cellCount: Int { cells.count }
  package var memberCount: Int {
    (prior.size - layout.peer(0, knots: 1)) / ChainLayout.peerSize
  }
  /// The number of unknowns.
  package var stateCount: Int { layout.peer(memberCount, knots: knotCount) }
  /// The number of unknowns of the last knot and the border.
  package var denseCount: Int { layout.peer(memberCount, knots: 1) }

  /// Adds a knot.
  ///
  /// - Parameters:
  ///   - place: The device there, in the odometry's world.
  ///   - step: How far the odometry says that it is to the next knot.
  ///   - horizontal: The variance of the drift to the next knot per horizontal axis, m².
  ///   - vertical: The same along gravity.
  ///   - yaw: That of yaw, rad².
  ///   - seconds: How long it is to the next knot.
  ///   - errors: How the errors of ranges change until the next knot; read only if they are unknown.
  package mutating func addKnot(
    at place: Vector3, step: Vector3, horizontal: Double, vertical: Double, yaw: Double,
    seconds: Double, errors: RangeErrorStep = RangeErrorStep()
  ) {
    knots.append(
      nearby_chain_knot(
        place: (place.x, place.y, place.z), step: (step.x, step.y, step.z),
        horizontal_variance: max(horizontal, Self.leastVariance),
        vertical_variance: max(vertical, Self.leastVariance),
        yaw_variance: max(yaw, Self.leastVariance), seconds: seconds,
        place_correlation: errors.placeCorrelation,
        place_innovation: max(errors.placeInnovation, Self.leastVariance),
        common_innovation: max(errors.commonInnovation, Self.leastVariance)))
  }

  /// The variances of the drift from a knot to the next: of the place per axis, m², and of yaw, rad².
  package func driftVariances(at knot: Int) -> InlineArray<4, Double> {
    let step = knots[knot]
    return [
      step.horizontal_variance, step.vertical_variance, step.horizontal_variance, step.yaw_variance,
    ]
  }

  /// Changes the variances of the drift from a knot to the next.
  package mutating func setDrift(at knot: Int, horizontal: Double, vertical: Double, yaw: Double) {
    knots[knot].horizontal_variance = max(horizontal, Self.leastVariance)
    knots[knot].vertical_variance = max(vertical, Self.leastVariance)
    knots[knot].yaw_variance = max(yaw, Self.leastVariance)
  }

  /// Finds how far each range is from what a state predicts.
  package func findRangeResiduals(at state: [Double], workspace: inout ChainWorkspace) {
    check(state)
    var residuals: [Double] = []
    swap(&residuals, &workspace.residuals)
    defer { swap(&residuals, &workspace.residuals) }
    if residuals.count < cells.count {
      residuals = [Double](repeating: 0, count: cells.capacity)
    }
    unsafe withKernel(&workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe residuals.withUnsafeMutableBufferPointer { residuals in
          unsafe nearby_chain_range_residuals(
            problem, state.baseAddress, workspace, residuals.baseAddress)
        }
      }
    }
  }

  /// Counts a peer's newest ranges, and those of them that contradict the state whose residuals were found last.
  ///
  /// - Parameters:
  ///   - most: The number of ranges that are asked, at most.
  ///   - member: The peer.
  ///   - knot: The knot from which on its cells are asked.
  ///   - sigmas: The gate, in standard deviations of the white noise.
  ///   - workspace: The residuals.
  /// - Returns: Both numbers.
  func newestRanges(
    _ most: Int, of member: Int, since knot: Int, beyond sigmas: Double, _ workspace: ChainWorkspace
  ) -> (count: Int, contradicting: Int) {
    var (count, contradicting) = (0, 0)
    for index in cells.indices.reversed()
    where cells[index].peer == Int32(member) && cells[index].hasRange {
      guard cells[index].knot >= knot, count < most else { break }
      count += 1
      let residual = workspace.residuals[index]
      if residual * residual > sigmas * sigmas * cells[index].variance.0 { contradicting += 1 }
    }
    return (count, contradicting)
  }

  /// Gives each range the probability of a fault that the other ranges of its peer leave, at a state.
  ///
  /// The cells of a peer are in the order of time and follow each other.
  ///
  /// Faults last (``FaultModel``): a Markov chain along the cells of a peer, with states inlier and fault. The
  /// messages of the cells before and behind a cell, by the forward and the backward recursion, are its prior.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - faults: How faults begin and last.
  ///   - workspace: Grows as is needed.
  package mutating func setFaultPriors(
    at state: [Double], _ faults: FaultModel, workspace: inout ChainWorkspace
  ) {
    findRangeResiduals(at: state, workspace: &workspace)
    workspace.times.removeAll(keepingCapacity: true)
    var time = 0.0
    for knot in knots {
      workspace.times.append(time)
      time += knot.seconds
    }
    var first = 0
    faultCost = 0
    while first < cells.count {
      var end = first
      while end < cells.count, cells[end].peer == cells[first].peer { end += 1 }
      faultCost += setFaultPriors(of: first..<end, faults, &workspace)
      first = end
    }
  }

  /// A range at the state at which residuals were found last.
  ///
  /// - Parameters:
  ///   - index: The number of its cell.
  ///   - faults: How faults look.
  ///   - workspace: The residuals.
  /// - Returns: Measured minus predicted, metres, and the probability that it is no fault.
  package func rangeOutcome(
    ofCell index: Int, _ faults: FaultModel, _ workspace: ChainWorkspace
  ) -> (residual: Double, inlier: Double) {
    let (residual, share) = (workspace.residuals[index], cells[index].range_outlier_share)
    let inlier = (1 - share) * Self.density(residual, cells[index].variance.0)
    let fault =
      share
      * faults.outlierDensity(of: .range, innovation: residual, excess: model.rangeExcess)
    return (residual, inlier / (inlier + fault))
  }

  /// The odds of a fault at least and at most.
  private static let faultOdds = 1e-4...50.0

  /// Sets the probabilities of one peer's faults.
  ///
  /// - Returns: The peer's part of ``faultCost``.
  private mutating func setFaultPriors(
    of chosen: Range<Int>, _ faults: FaultModel, _ workspace: inout ChainWorkspace
  ) -> Double {
    let share = model.shares.range
    workspace.messages.removeAll(keepingCapacity: true)
    var (last, lastTime) = (chosen.lowerBound, -Double.infinity)
    var cost = 0.0
    var probability = share
    for index in chosen where cells[index].hasRange {
      let cell = cells[index]
      let residual = workspace.residuals[index]
      let inlier = max(Self.density(residual, cell.variance.0), 1e-300)
      let fault = faults.outlierDensity(
        of: .range, innovation: residual, excess: model.rangeExcess)
      let obstructed =
        isObstructed[index]
        ? FaultModel.obstructedOnset / (1 - FaultModel.obstructedOnset) * (1 - share) / share : 1
      let time = workspace.times[Int(cell.knot)] + cell.seconds
      let seconds = max(0, time - lastTime)
      let lasting = faults.correlationOfCells(seconds: seconds)
      let same =
        lasting > 0
        ? faults.sameFaultDensity(
          residual - workspace.residuals[last], variance: cell.variance.0 + cells[last].variance.0,
          seconds: seconds, other: fault) : fault
      (last, lastTime) = (index, time)
      // A value whose errors are correlated with its neighbours' is a fraction of an independent draw, as in the cost.
      let power = cell.power.0
      let (begun, continued) = (
        pow(obstructed * fault / inlier, power), pow(obstructed * same / inlier, power)
      )
      let change = 1 - lasting
      let asFault = lasting * probability * continued + change * share * begun
      let asInlier = lasting * (1 - probability) + change * (1 - share)
      workspace.messages.append(
        ChainWorkspace.FaultMessage(
          cell: index, lasting: lasting, begun: begun, continued: continued,
          odds: asFault / asInlier))
      cost -= log(asFault + asInlier)
      probability = asFault / (asFault + asInlier)
    }
    // The backward message: the likelihood ratio of a fault over an inlier for all later ranges.
    var behind = 1.0
    for message in workspace.messages.reversed() {
      // Without the cell's own likelihood ratio, which the kernel adds.
      let odds = message.odds * behind / message.begun
      let bounded = min(max(odds, Self.faultOdds.lowerBound), Self.faultOdds.upperBound)
      let outliers =
        isObstructed[message.cell]
        ? max(bounded / (1 + bounded), FaultModel.obstructedOnset) : bounded / (1 + bounded)
      cells[message.cell].range_outlier_share = outliers
      let power = cells[message.cell].power.0
      cost += power * log(1 - outliers + outliers * pow(message.begun, 1 / power))
      let (stay, change) = (message.lasting, 1 - message.lasting)
      let anew = change * (share * message.begun * behind + 1 - share)
      behind = min((stay * message.continued * behind + anew) / (stay + anew), 1e12)
    }
    return cost
  }

  private static func density(_ residual: Double, _ variance: Double) -> Double {
    exp(-0.5 * residual * residual / variance) / (2 * .pi * variance).squareRoot()
  }

  /// Changes how the errors of ranges change between knots.
  ///
  /// - Parameter step: The step after a knot, by its number.
  package mutating func setErrorSteps(_ step: (Int) -> RangeErrorStep) {
    for index in knots.indices {
      let errors = step(index)
      knots[index].place_correlation = errors.placeCorrelation
      knots[index].place_innovation = max(errors.placeInnovation, Self.leastVariance)
      knots[index].common_innovation = max(errors.commonInnovation, Self.leastVariance)
    }
  }

  /// How the errors of ranges change from a knot to the next.
  package func errorStep(at knot: Int) -> RangeErrorStep {
    RangeErrorStep(
      placeCorrelation: knots[knot].place_correlation,
      placeInnovation: knots[knot].place_innovation,
      commonInnovation: knots[knot].common_innovation)
  }

  /// How the errors of ranges change from a knot to the next.
  package struct RangeErrorStep: Hashable, Sendable {
    /// Of the errors that depend on the place the correlation, and the variance of the innovation, m².
    package var placeCorrelation = 0.0
    package var placeInnovation = 0.0
    /// The variance of the walk of the error that all ranges share, m².
    package var commonInnovation = 0.0

    package init(
      placeCorrelation: Double = 0, placeInnovation: Double = 0, commonInnovation: Double = 0
    ) {
      (self.placeCorrelation, self.placeInnovation) = (placeCorrelation, placeInnovation)
      self.commonInnovation = commonInnovation
    }
  }

  /// Says how peers that move go from the next knot for which nothing was said to the one after it.
  package mutating func addMotion(_ step: MotionModel.Step) {
    let share = step.crossVariance / step.velocityVariance
    motions.append(
      nearby_chain_motion(
        correlation: step.correlation, reach: step.reach, coupling: share,
        position_variance: step.positionVariance - share * step.crossVariance,
        velocity_variance: step.velocityVariance))
  }

  package mutating func reserveCells(_ count: Int) { cells.reserveCapacity(count) }

  /// One kind's value in a cell.
  package struct Value {
    package var value: Double
    /// The variance of all its errors together.
    package var variance: Double
    /// The variance of an independent value of equal Fisher information.
    package var effectiveVariance: Double

    package init(value: Double, variance: Double, effectiveVariance: Double) {
      self.value = value
      self.variance = variance
      self.effectiveVariance = effectiveVariance
    }
  }

  /// How the device moves at a cell, in the odometry's world.
  package struct Rate: Hashable, Sendable {
    /// The antenna's velocity, m/s, and the device's turn rate, rad/s.
    package var velocity: Vector3
    package var turn: Vector3

    package init(velocity: Vector3 = .zero, turn: Vector3 = .zero) {
      (self.velocity, self.turn) = (velocity, turn)
    }
  }

  /// From where and when values of one peer were measured: all of a cell but the values.
  package struct Cell: Sendable {
    /// From where, in the odometry's world as it was then.
    package var pose: AntennaPose
    /// The knot before it.
    package var knot: Int
    /// Its share of the drift from there to the next knot.
    package var share: Double
    /// How long after the knot.
    package var seconds: Double
    /// The peer's number among those of the chain.
    package var peer: Int
    /// Whether the radio itself calls the range obstructed.
    package var isObstructed: Bool
    /// How the device moves; read only if the clock's offset is unknown.
    package var rate: Rate

    package init(
      pose: AntennaPose, knot: Int, share: Double, seconds: Double = 0, peer: Int,
      isObstructed: Bool = false, rate: Rate = Rate()
    ) {
      (self.pose, self.knot, self.share, self.seconds) = (pose, knot, share, seconds)
      (self.peer, self.isObstructed, self.rate) = (peer, isObstructed, rate)
    }
  }

  /// Adds a cell.
  ///
  /// - Parameters:
  ///   - place: From where and when it is.
  ///   - mover: The peer's number among those that move; `nil` for one at rest.
  ///   - values: The values by kind.
  package mutating func addCell(_ place: Cell, mover: Int? = nil, _ values: PerKind<Value?>) {
    let pose = place.pose
    var cell = nearby_chain_cell()
    cell.from = nearby_antenna_pose(
      antenna_in_world: (pose.antenna.x, pose.antenna.y, pose.antenna.z),
      device_from_world: pose.deviceFromWorld)
    cell.value = PerKind { values[$0]?.value ?? 0 }.tuple
    cell.variance = PerKind { values[$0]?.variance ?? 1 }.tuple
    cell.power =
      PerKind { kind in values[kind].map { $0.variance / $0.effectiveVariance } ?? 0 }.tuple
    cell.range_outlier_share = place.isObstructed ? FaultModel.obstructedOnset : model.shares.range
    cell.share = place.share
    cell.seconds = place.seconds
    cell.knot = Int32(place.knot)
    cell.peer = Int32(place.peer)
    cell.mover = Int32(mover ?? -1)
    for kind in MeasurementKind.allCases where values[kind] != nil {
      cell.present |= kind.bit
    }
    cells.append(cell)
    isObstructed.append(place.isObstructed)
    guard layout.constants.contains(.clockOffset) else { return }
    let (velocity, turn) = (place.rate.velocity, place.rate.turn)
    rates.append(
      nearby_chain_rate(
        velocity: (velocity.x, velocity.y, velocity.z), turn: (turn.x, turn.y, turn.z)))
  }

  /// A member, and the number of its clock; `nil` for a clock that does not wander.
  package struct Sender {
    package var member: Int
    package var clock: Int?

    package init(member: Int, clock: Int? = nil) { (self.member, self.clock) = (member, clock) }
  }

  /// Adds how much longer the range to one peer at rest is than that to another.
  ///
  /// - Parameters:
  ///   - antenna: From where, in the odometry's world as it was then.
  ///   - knot: The knot before it.
  ///   - share: Its share of the drift from there to the next knot.
  ///   - elapsed: Its share of the time from there to the next knot.
  ///   - near: The peer whose range is taken off.
  ///   - far: The peer whose range it is taken off from.
  ///   - difference: The difference, metres.
  ///   - variance: Its variance, m².
  package mutating func addDifference(
    from antenna: Vector3, knot: Int, share: Double, elapsed: Double, from near: Sender,
    to far: Sender, _ difference: Double, variance: Double
  ) {
    differences.append(
      nearby_chain_difference(
        antenna_in_world: (antenna.x, antenna.y, antenna.z), value: difference,
        variance: variance, share: share, elapsed: elapsed, knot: Int32(knot),
        peer: Int32(far.member), other: Int32(near.member), clock: Int32(far.clock ?? -1),
        other_clock: Int32(near.clock ?? -1)))
  }

  /// How the antenna has moved in the fixed world, by the cells of a peer, at a state.
  func walkShape(of member: Int, at state: [Double]) -> WalkShape {
    WalkShape(
      of: cells.lazy.filter { $0.peer == Int32(member) }.map {
        correctedAntenna(of: $0, at: state)
      },
      isAlone: memberCount == 1)
  }

  /// A range without the errors that all ranges of its peer have.
  struct CorrectedRange {
    /// The peer, and the antenna, in the fixed world.
    var peer: Vector3
    var antenna: Vector3
    var distance: Double
    /// The time since a knot.
    var seconds: Double
  }

  /// The ranges from a knot on, at a state.
  ///
  /// - Parameters:
  ///   - knot: The knot.
  ///   - state: The state.
  /// - Returns: Without their constant and scale errors, and without the common error at that knot.
  func correctedRanges(since knot: Int, at state: [Double]) -> [CorrectedRange] {
    let constants = layout.blockSize * knotCount
    let scale = layout.constants.first(of: .rangeScale).map { state[constants + $0] } ?? 0
    let common =
      layout.errorCount > 0 ? state[layout.blockSize * knot + layout.commonError] : 0
    var times: [Double] = []
    var time = 0.0
    for later in knots[knot...] {
      times.append(time)
      time += later.seconds
    }
    return cells.compactMap { cell in
      guard cell.knot >= knot, cell.present & MeasurementKind.range.bit != 0 else { return nil }
      let peer = layout.peer(Int(cell.peer), knots: knotCount)
      return CorrectedRange(
        peer: Vector3(state[peer], state[peer + 1], state[peer + 2]),
        antenna: correctedAntenna(of: cell, at: state),
        distance: (cell.value.0 - state[peer + 3] - common) / (1 + scale + state[peer + 4]),
        seconds: times[Int(cell.knot) - knot] + cell.seconds)
    }
  }

  /// The antenna's place at a cell in the fixed world, at a state.
  private func correctedAntenna(of cell: nearby_chain_cell, at state: [Double]) -> Vector3 {
    let antenna = cell.from.antenna_in_world
    let (before, after) = (Int(cell.knot), Int(cell.knot) + 1)
    func corrected(_ knot: Int) -> Vector3 {
      let first = layout.blockSize * knot
      let place = knots[knot].place
      let away = Vector3(antenna.0 - place.0, antenna.1 - place.1, antenna.2 - place.2)
      return Vector3(state[first], state[first + 1], state[first + 2])
        + YawTurn(state[first + 3]).act(away)
    }
    return (1 - cell.share) * corrected(before) + cell.share * corrected(after)
  }

  // MARK: Kernels

  /// Minimises the cost.
  ///
  /// - Parameters:
  ///   - state: The start; becomes the minimum.
  ///   - held: A peer that is held along a direction, and where.
  ///   - live: The only peer whose cells are linearised anew; those of all others are as they were when
  ///     they were frozen. `nil` where none are.
  ///   - iterations: How many at most.
  ///   - tolerance: A step that lowers the cost by less is the last.
  ///   - covariance: Becomes that of the last knot and of the border, column by column, if it has room.
  ///   - workspace: Grows as is needed; gets the shares of inliers.
  /// - Returns: How it has ended.
  package func fit(
    _ state: inout [Double], held: Hold? = nil, live: Int? = nil, iterations: Int,
    tolerance: Double, covariance: inout [Double], workspace: inout ChainWorkspace
  ) -> Result {
    check(state)
    precondition(covariance.isEmpty || covariance.count == denseCount * denseCount)
    let memberCount = memberCount
    if workspace.inlierShares.count != memberCount {
      workspace.inlierShares = [Double](repeating: 1, count: memberCount)
    }
    for member in 0..<memberCount { workspace.inlierShares[member] = 1 }
    var inlierShares: [Double] = []
    swap(&inlierShares, &workspace.inlierShares)
    defer { swap(&inlierShares, &workspace.inlierShares) }
    let result = unsafe withKernel(&workspace, holding: held, live: live) { problem, workspace in
      unsafe state.withUnsafeMutableBufferPointer { state in
        unsafe covariance.withUnsafeMutableBufferPointer { covariance in
          unsafe inlierShares.withUnsafeMutableBufferPointer { shares in
            unsafe nearby_chain_fit(
              problem, state.baseAddress, Int32(iterations), tolerance, workspace,
              covariance.isEmpty ? nil : covariance.baseAddress, shares.baseAddress)
          }
        }
      }
    }
    return Result(cost: result.cost, hasConverged: result.has_converged != 0)
  }

  /// Linearises the prior and the cells of all peers but one at a state, and keeps that in the workspace
  /// for the fits in which that peer is the live one.
  ///
  /// Performance: where one peer's place is examined, the others' cells are hardly seen from elsewhere.
  func freeze(
    except live: Int, at state: [Double], workspace: inout ChainWorkspace
  ) {
    check(state)
    unsafe withKernel(&workspace, live: live) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe nearby_chain_freeze(problem, state.baseAddress, workspace)
      }
    }
  }

  private func check(_ state: [Double]) {
    precondition(state.count == stateCount && knotCount > 1, "a state of another problem")
    precondition(
      layout.moverCount == 0 || motions.count == knotCount - 1, "a step for each pair of knots")
  }

  /// The cost at a state, and its gradient.
  package func cost(
    at state: [Double], workspace: inout ChainWorkspace
  ) -> (cost: Double, gradient: [Double]) {
    check(state)
    var gradient = [Double](repeating: 0, count: stateCount)
    let cost = unsafe withKernel(&workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe gradient.withUnsafeMutableBufferPointer { gradient in
          unsafe nearby_chain_cost(
            problem, state.baseAddress, workspace, gradient.baseAddress)
        }
      }
    }
    return (cost, gradient)
  }

  /// The Schur complement onto the last knot and the border: all other knots are marginalised.
  ///
  /// - Parameters:
  ///   - state: Where it is linearised.
  ///   - marginal: Becomes the same as a prior.
  ///   - workspace: Grows as is needed.
  /// - Returns: Whether it is regular.
  package func marginalize(
    at state: [Double], into marginal: inout MarginalPrior, workspace: inout ChainWorkspace
  ) -> Bool {
    check(state)
    let last = layout.blockSize * (knotCount - 1)
    marginal.reset(origin: state[last...])
    let isRegular = unsafe withKernel(&workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe marginal.information.withUnsafeMutableBufferPointer { information in
          unsafe marginal.gradient.withUnsafeMutableBufferPointer { gradient in
            unsafe nearby_chain_marginalize(
              problem, state.baseAddress, workspace, information.baseAddress,
              gradient.baseAddress)
          }
        }
      }
    }
    return isRegular != 0
  }

  /// The logarithm of the determinant of what is assumed of the unknowns' changes from knot to knot.
  ///
  /// Together with that of the prior it makes evidences of chains of different unknowns comparable.
  package var logProcessInformation: Double {
    var sum = 0.0
    for knot in knots.dropLast() {
      sum -= 2 * log(knot.horizontal_variance)
      sum -= log(knot.vertical_variance) + log(knot.yaw_variance)
      guard layout.errorCount > 0 else { continue }
      sum -= log(knot.common_innovation)
      sum -= Double(layout.errorCount - 1) * log(knot.place_innovation)
    }
    let speeds = model.speedVariances
    let logSpeeds = log(speeds.0) + log(speeds.1) + log(speeds.2)
    for motion in motions where layout.moverCount > 0 {
      let step = 3 * (log(motion.position_variance) + log(motion.velocity_variance))
      sum -= Double(layout.moverCount) * (step + 2 * logSpeeds)
    }
    return sum
  }

  /// The logarithm of the determinant of what is assumed beforehand of all unknowns, where the prior of each is
  /// independent of the others.
  package var logPriorInformation: Double {
    let apart = (constantVariances + firstErrorVariances).reduce(0) { $1 > 0 ? $0 - log($1) : $0 }
    return (0..<prior.size).reduce(logProcessInformation + apart) { sum, index in
      let information = prior.information[index * prior.size + index]
      return information > 0 ? sum + log(information) : sum
    }
  }

  /// The covariances at a state.
  package struct Covariances: Sendable {
    /// Minus the logarithm of the posterior density, up to a constant, and the logarithm of the
    /// determinant of the information.
    package fileprivate(set) var cost = 0.0
    package fileprivate(set) var logDeterminant = 0.0
    /// Those of the last knot and the border, column by column; of the first knot if the knots were
    /// asked for.
    package fileprivate(set) var dense: [Double]
    /// Of each knot those of its unknowns with themselves and with the border, row by row: as many
    /// rows as a block has unknowns, and as many columns as ``ChainProblem/denseCount``.
    package fileprivate(set) var knots: [Double] = []
  }

  /// The covariances at a state; `nil` where the information is singular.
  ///
  /// - Parameters:
  ///   - state: Where the problem is linearised.
  ///   - includesKnots: Whether those of all knots are wanted, which takes O(knots × border²).
  ///   - workspace: Grows as is needed.
  /// - Returns: The covariances.
  package func covariances(
    at state: [Double], includingKnots includesKnots: Bool, workspace: inout ChainWorkspace
  ) -> Covariances? {
    check(state)
    let size = denseCount
    var found = Covariances(dense: [Double](repeating: 0, count: size * size))
    if includesKnots {
      found.knots = [Double](repeating: 0, count: knotCount * layout.blockSize * size)
    }
    let evidence = unsafe withKernel(&workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe found.dense.withUnsafeMutableBufferPointer { dense in
          unsafe found.knots.withUnsafeMutableBufferPointer { knots in
            unsafe nearby_chain_covariances(
              problem, state.baseAddress, workspace, dense.baseAddress,
              knots.isEmpty ? nil : knots.baseAddress)
          }
        }
      }
    }
    (found.cost, found.logDeterminant) = (evidence.cost, evidence.log_determinant)
    return evidence.is_regular == 0 ? nil : found
  }

  /// What the measurements say of the innovations between knots.
  package struct Innovations: Sendable {
    /// Of each knot but the last the posterior mean and variance of the innovations: of the odometry (3 of
    /// place, yaw), the common error of ranges, and each peer's place error.
    package fileprivate(set) var moments: [Moment] = []
    /// Minus the logarithm of the posterior density, up to a constant, and the logarithm of the
    /// determinant of the information.
    package fileprivate(set) var cost = 0.0
    package fileprivate(set) var logDeterminant = 0.0
    /// The covariance of the first knot and the border, column by column.
    package fileprivate(set) var dense: [Double] = []
    /// Of each peer's place error at the first knot the variance, m².
    package fileprivate(set) var first: [Double] = []

    /// Makes room for none.
    package init() {}
  }

  /// A posterior mean and variance.
  package struct Moment: Hashable, Sendable {
    package var mean: Double
    package var variance: Double

    package init(mean: Double, variance: Double) { (self.mean, self.variance) = (mean, variance) }
  }

  /// Finds the posterior of the innovations between knots at a minimum.
  ///
  /// - Parameters:
  ///   - found: Becomes their moments.
  ///   - state: The minimum.
  ///   - workspace: Grows as is needed.
  /// - Returns: Whether the information is regular. O(knots × (block + border)²).
  package func findInnovations(
    _ found: inout Innovations, at state: [Double], workspace: inout ChainWorkspace
  ) -> Bool {
    check(state)
    let count = (knotCount - 1) * (ChainLayout.driftSize + layout.errorCount)
    found.moments.resize(to: count, filling: Moment(mean: 0, variance: 0))
    found.dense.resize(to: denseCount * denseCount, filling: 0)
    found.first.resize(to: max(layout.errorCount - 1, 0), filling: 0)
    let evidence = unsafe withKernel(&workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe found.dense.withUnsafeMutableBufferPointer { dense in
          unsafe found.moments.withUnsafeMutableBytes { moments in
            unsafe found.first.withUnsafeMutableBufferPointer { first in
              unsafe nearby_chain_innovations(
                problem, state.baseAddress, workspace, dense.baseAddress,
                moments.baseAddress?.assumingMemoryBound(to: Double.self), first.baseAddress)
            }
          }
        }
      }
    }
    (found.cost, found.logDeterminant) = (evidence.cost, evidence.log_determinant)
    return evidence.is_regular != 0
  }

  private func withKernel<Result>(
    _ workspace: inout ChainWorkspace, holding held: Hold? = nil, live: Int? = nil,
    _ body: (UnsafePointer<nearby_chain_problem>, UnsafeMutablePointer<Double>?) -> Result
  ) -> Result {
    unsafe knots.withUnsafeBufferPointer { knots in
      unsafe motions.withUnsafeBufferPointer { motions in
        unsafe cells.withUnsafeBufferPointer { cells in
          unsafe rates.withUnsafeBufferPointer { rates in
            unsafe differences.withUnsafeBufferPointer { differences in
              unsafe withVariances { constants, errors in
                unsafe prior.information.withUnsafeBufferPointer { information in
                  unsafe prior.gradient.withUnsafeBufferPointer { gradient in
                    unsafe prior.origin.withUnsafeBufferPointer { origin in
                      var problem = unsafe nearby_chain_problem(
                        knots: knots.baseAddress, motions: motions.baseAddress,
                        cells: cells.baseAddress, rates: rates.baseAddress,
                        differences: differences.baseAddress, knot_count: Int32(knots.count),
                        cell_count: Int32(cells.count), peer_count: Int32(memberCount),
                        mover_count: Int32(layout.moverCount),
                        difference_count: Int32(differences.count),
                        clock_count: Int32(layout.clockCount), clock_walk: clockWalk,
                        difference_outlier_share: doubtsDifferences ? model.shares.range : 0,
                        constants: layout.constants.rawValue,
                        has_range_errors: layout.errorCount > 0 ? 1 : 0,
                        constant_variance: constants, first_error_variance: errors,
                        information: information.baseAddress, gradient: gradient.baseAddress,
                        origin: origin.baseAddress, outlier_share: model.shares.tuple,
                        range_excess: model.rangeExcess, field_of_view: model.fieldOfViewRadians,
                        speed_variance: model.speedVariances, widening: widening,
                        held_peer: Int32(held?.member ?? -1),
                        held_direction: held.map {
                          ($0.direction.x, $0.direction.y, $0.direction.z)
                        }
                          ?? (0, 0, 0), held_place: held?.place ?? 0,
                        live_peer: Int32(live ?? -1))
                      let needed = unsafe Int(nearby_chain_workspace(&problem))
                      if workspace.kernel.count < needed {
                        // Performance: with room for the next fits, which have more cells.
                        workspace.kernel = [Double](repeating: 0, count: needed + needed / 2)
                      }
                      return unsafe workspace.kernel.withUnsafeMutableBufferPointer { workspace in
                        unsafe body(&problem, workspace.baseAddress)
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

extension ChainProblem {
  /// The prior variances that are given apart, as the kernels take them.
  private func withVariances<Result>(
    _ body: (UnsafePointer<Double>?, UnsafePointer<Double>?) -> Result
  ) -> Result {
    precondition(
      (constantVariances.isEmpty || constantVariances.count == layout.constantCount)
        && (firstErrorVariances.isEmpty || firstErrorVariances.count == memberCount),
      "a variance for each")
    return unsafe constantVariances.withUnsafeBufferPointer { constants in
      unsafe firstErrorVariances.withUnsafeBufferPointer { errors in
        unsafe body(
          constants.isEmpty ? nil : constants.baseAddress,
          errors.isEmpty ? nil : errors.baseAddress)
      }
    }
  }
}

extension Array {
  /// Makes it as long as asked, and keeps its memory.
  fileprivate mutating func resize(to count: Int, filling value: Element) {
    if self.count > count { removeLast(self.count - count) }
    while self.count < count { append(value) }
  }
}

/// Whether a symmetric matrix is positive definite.
///
/// - Parameters:
///   - matrix: n × n numbers.
///   - size: n.
/// - Returns: Whether it has a Cholesky factor. O(n³).
func isPositiveDefinite(_ matrix: [Double], size: Int) -> Bool {
  if matrix.isEmpty { return true }
  return unsafe matrix.withUnsafeBufferPointer {
    unsafe nearby_is_positive_definite(Int32(size), $0.baseAddress) != 0
  }
}

// MARK: - Saving

/// A problem of the engine's joint fit, in which all peers rest and every clock is known.
extension ChainProblem: Codable {
  private enum CodingKeys: CodingKey {
    case knots, cells, shares, rangeExcess, fieldOfViewRadians, speedVariances, prior, layout
    case widening, clockWalk, doubtsDifferences, constantVariances, firstErrorVariances
    case isObstructed, faultCost
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(knots.flatMap(\.numbers), forKey: .knots)
    try container.encode(cells.flatMap(\.numbers), forKey: .cells)
    try container.encode(model.shares, forKey: .shares)
    try container.encode(model.rangeExcess, forKey: .rangeExcess)
    try container.encode(model.fieldOfViewRadians, forKey: .fieldOfViewRadians)
    let speeds = model.speedVariances
    try container.encode([speeds.0, speeds.1, speeds.2], forKey: .speedVariances)
    try container.encode(prior, forKey: .prior)
    try container.encode(layout, forKey: .layout)
    try container.encode(widening, forKey: .widening)
    try container.encode(clockWalk, forKey: .clockWalk)
    try container.encode(doubtsDifferences, forKey: .doubtsDifferences)
    try container.encode(constantVariances, forKey: .constantVariances)
    try container.encode(firstErrorVariances, forKey: .firstErrorVariances)
    try container.encode(isObstructed, forKey: .isObstructed)
    try container.encode(faultCost, forKey: .faultCost)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func numbers(_ key: CodingKeys, by size: Int) throws -> [ArraySlice<Double>] {
      let all = try container.decode([Double].self, forKey: key)
      guard all.count % size == 0 else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "\(all.count) numbers")
      }
      return stride(from: 0, to: all.count, by: size).map { all[$0..<$0 + size] }
    }
    knots = try numbers(.knots, by: nearby_chain_knot.numberCount).map(nearby_chain_knot.init)
    cells = try numbers(.cells, by: nearby_chain_cell.numberCount).map(nearby_chain_cell.init)
    let shares = try container.decode(PerKind<Double>.self, forKey: .shares)
    let excess = try container.decode(Double.self, forKey: .rangeExcess)
    let fieldOfView = try container.decode(Double.self, forKey: .fieldOfViewRadians)
    guard let speeds = try numbers(.speedVariances, by: 3).first else {
      throw DecodingError.dataCorruptedError(
        forKey: .speedVariances, in: container, debugDescription: "must be three")
    }
    model = Model(
      shares: shares, rangeExcess: excess, fieldOfViewRadians: fieldOfView,
      speedVariances: (speeds[0], speeds[1], speeds[2]))
    prior = try container.decode(MarginalPrior.self, forKey: .prior)
    layout = try container.decode(ChainLayout.self, forKey: .layout)
    widening = try container.decode(Double.self, forKey: .widening)
    clockWalk = try container.decode(Double.self, forKey: .clockWalk)
    doubtsDifferences = try container.decode(Bool.self, forKey: .doubtsDifferences)
    constantVariances = try container.decode([Double].self, forKey: .constantVariances)
    firstErrorVariances = try container.decode([Double].self, forKey: .firstErrorVariances)
    isObstructed = try container.decode([Bool].self, forKey: .isObstructed)
    faultCost = try container.decode(Double.self, forKey: .faultCost)
  }

  /// Removes all knots and cells; what is known from before stays.
  mutating func removeCells() {
    knots = []
    cells = []
    isObstructed = []
  }

  /// Whether its prior is one of whole peers at rest.
  var isPriorConsistent: Bool {
    layout.isOfPeersAtRest && prior.isConsistent && memberCount >= 0
      && (layout.errorCount == 0 || layout.errorCount == 1 + memberCount)
      && prior.size == layout.peer(memberCount, knots: 1)
  }

  /// Whether the kernels may work on it: knots, peers and the prior are as many as the cells name.
  var isConsistent: Bool {
    guard isPriorConsistent, knotCount > 1, isObstructed.count == cells.count,
      constantVariances.isEmpty || constantVariances.count == layout.constantCount,
      firstErrorVariances.isEmpty || firstErrorVariances.count == memberCount
    else { return false }
    let (knots, members) = (0..<Int32(knotCount - 1), 0..<Int32(memberCount))
    return cells.allSatisfy {
      knots.contains($0.knot) && members.contains($0.peer) && $0.mover == -1
        && $0.present & ~MeasurementKind.allBits == 0
    }
  }
}

extension nearby_chain_knot {
  fileprivate static let numberCount = 13

  fileprivate var numbers: [Double] {
    [
      place.0, place.1, place.2, step.0, step.1, step.2, horizontal_variance, vertical_variance,
      yaw_variance, seconds, place_correlation, place_innovation, common_innovation,
    ]
  }

  fileprivate init(_ numbers: ArraySlice<Double>) {
    let (n, i) = (numbers, numbers.startIndex)
    self.init(
      place: (n[i], n[i + 1], n[i + 2]), step: (n[i + 3], n[i + 4], n[i + 5]),
      horizontal_variance: n[i + 6], vertical_variance: n[i + 7], yaw_variance: n[i + 8],
      seconds: n[i + 9], place_correlation: n[i + 10], place_innovation: n[i + 11],
      common_innovation: n[i + 12])
  }
}

extension nearby_chain_cell {
  fileprivate var hasRange: Bool { present & MeasurementKind.range.bit != 0 }

  fileprivate static let numberCount = 31

  fileprivate var numbers: [Double] {
    let (a, r) = (from.antenna_in_world, from.device_from_world)
    return [
      a.0, a.1, a.2, r.0, r.1, r.2, r.3, r.4, r.5, r.6, r.7, r.8, value.0, value.1, value.2,
      value.3, variance.0, variance.1, variance.2, variance.3, power.0, power.1, power.2, power.3,
      range_outlier_share, share, seconds, Double(knot), Double(peer), Double(mover),
      Double(present),
    ]
  }

  fileprivate init(_ numbers: ArraySlice<Double>) {
    let (n, i) = (numbers, numbers.startIndex)
    // What is no number of a knot or of a peer becomes one that there is not.
    func index(_ offset: Int) -> Int32 { Int32(exactly: n[i + offset]) ?? .min }
    self.init(
      from: nearby_antenna_pose(
        antenna_in_world: (n[i], n[i + 1], n[i + 2]),
        device_from_world: (
          n[i + 3], n[i + 4], n[i + 5], n[i + 6], n[i + 7], n[i + 8], n[i + 9], n[i + 10], n[i + 11]
        )),
      value: (n[i + 12], n[i + 13], n[i + 14], n[i + 15]),
      variance: (n[i + 16], n[i + 17], n[i + 18], n[i + 19]),
      power: (n[i + 20], n[i + 21], n[i + 22], n[i + 23]), range_outlier_share: n[i + 24],
      share: n[i + 25], seconds: n[i + 26], knot: index(27), peer: index(28), mover: index(29),
      present: index(30))
  }
}
