// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// A chain with all that one can hold: peers at rest, peers that move, and errors of the odometry.
@Suite("Chain")
struct ChainProblemTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var movers: Int
    var constants: ChainLayout.Constants = []
    /// Whether range differences of a second peer at rest and the first are measured, with a clock each.
    var hasDifferences = false
    /// Whether ranges have errors that last.
    var hasErrors = false
    var testDescription: String {
      "\(movers) moving, constants \(constants.rawValue)\(hasDifferences ? ", differences" : "")"
        + (hasErrors ? ", range errors" : "")
    }
  }

  private static let ofRadio: ChainLayout.Constants = [.clockOffset, .leverArm, .rangeScale]
  static let cases = [
    Case(movers: 0), Case(movers: 0, constants: .odometryErrors), Case(movers: 1),
    Case(movers: 2, constants: .odometryErrors), Case(movers: 0, constants: .clockOffset),
    Case(movers: 0, constants: .leverArm), Case(movers: 0, constants: .rangeScale),
    Case(movers: 1, constants: ofRadio.union(.odometryErrors)),
    Case(movers: 0, hasDifferences: true),
    Case(movers: 1, constants: .odometryErrors, hasDifferences: true),
    Case(movers: 0, constants: .directionError), Case(movers: 0, hasErrors: true),
    Case(movers: 0, constants: [.odometryErrors, .rangeScale, .directionError], hasErrors: true),
    Case(movers: 1, constants: ofRadio.union([.odometryErrors, .directionError]), hasErrors: true),
    // What a run's calibration fits.
    Case(movers: 0, constants: ofRadio.union([.odometryErrors, .directionError]), hasErrors: true),
  ]

  @Test("constants stand in the border in their order")
  func constants() {
    let all: ChainLayout.Constants = [
      .directionError, .rangeScale, .leverArm, .odometryErrors, .clockOffset,
    ]
    #expect(all.count == 15)
    let places: [(ChainLayout.Constants, Int)] = [
      (.odometryErrors, 0), (.clockOffset, 2), (.leverArm, 3), (.rangeScale, 6),
      (.directionError, 7),
    ]
    for (constant, place) in places { #expect(all.first(of: constant) == place) }
    #expect(ChainLayout.Constants.leverArm.first(of: .leverArm) == 0)
    #expect(ChainLayout.Constants.leverArm.first(of: .clockOffset) == nil)
  }

  /// The device's constants in these tests; those that are not unknown are zero.
  private struct Device {
    var turnRate = 0.0
    var odometryScale = 0.0
    var clockOffset = 0.0
    var leverArm = Vector3.zero
    var rangeScale = 0.0
    var directionError = [Double](repeating: 0, count: ChainLayout.directionSize)

    init(_ constants: ChainLayout.Constants) {
      if constants.contains(.odometryErrors) { (turnRate, odometryScale) = (0.05, 0.02) }
      if constants.contains(.clockOffset) { clockOffset = 0.03 }
      if constants.contains(.leverArm) { leverArm = Vector3(0.1, -0.05, 0.2) }
      if constants.contains(.rangeScale) { rangeScale = -0.02 }
      if constants.contains(.directionError) {
        directionError = [0.1, -0.05, 0.03, 0.02, -0.02, 0.01, 0.015, -0.01]
      }
    }

    /// The error of a range to a peer at an azimuth.
    func directionError(at azimuth: Double) -> Double {
      directionError.enumerated().reduce(0) { sum, entry in
        let angle = Double(entry.offset / 2 + 1) * azimuth
        return sum + entry.element * (entry.offset % 2 == 0 ? cos(angle) : sin(angle))
      }
    }

    /// Those that are unknown, in the order of the border, each with its prior variance.
    func unknowns(_ constants: ChainLayout.Constants) -> [(value: Double, variance: Double)] {
      var found: [(Double, Double)] = []
      if constants.contains(.odometryErrors) {
        found += [(turnRate, 0.01), (odometryScale, 0.001)]
      }
      if constants.contains(.clockOffset) { found.append((clockOffset, 0.01)) }
      if constants.contains(.leverArm) {
        found += [leverArm.x, leverArm.y, leverArm.z].map { ($0, 0.04) }
      }
      if constants.contains(.rangeScale) { found.append((rangeScale, 0.001)) }
      if constants.contains(.directionError) { found += directionError.map { ($0, 0.01) } }
      return found
    }
  }

  /// A chain whose measurements and steps are exactly those of a state, so that there each residual
  /// is zero; ranges are too short by `shortness`.
  private struct Exact {
    var problem: ChainProblem
    var state: [Double]

    private static let knots = 5
    /// What is seen of peers: one that rests, then the moving ones.
    private let peers: Int
    private let device: Device

    init(_ which: Case, seed: UInt64, shortness: Double = 0) {
      var generator = SeededGenerator(seed: seed)
      let layout = ChainLayout(
        moverCount: which.movers, clockCount: which.hasDifferences ? 2 : 0,
        constants: which.constants, errorCount: which.hasErrors ? 2 + which.movers : 0)
      peers = 1 + which.movers
      device = Device(which.constants)
      var configuration = FusionConfiguration()
      configuration.faults.rangeOnset = 1e-12
      configuration.faults.angleOnset = 1e-12
      configuration.faults.heightOnset = 1e-12
      let settings = Settings(configuration)

      // The odometry's steps, and where they lead.
      var (place, corrected, yaw) = (Vector3(1, 0.2, -1), Vector3(1, 0.2, -1), 0.0)
      var prior = MarginalPrior(holding: place)
      state = []
      problem = ChainProblem(
        prior, layout, settings.faults, configuration.ranging, settings.motion)
      let motion = settings.motion.step(seconds: 0.5)
      var movers = (0..<which.movers).map { _ in
        (place: generator.normalVector(sigma: 3), velocity: generator.normalVector(sigma: 0.5))
      }
      let atFirst = movers
      let resting = Vector3(3, 0.5, 2)
      var places: [Vector3] = []
      for knot in 0..<Self.knots {
        places.append(place)
        state += [corrected.x, corrected.y, corrected.z, yaw]
        for mover in movers {
          state += [mover.place.x, mover.place.y, mover.place.z]
          state += [mover.velocity.x, mover.velocity.y, mover.velocity.z]
        }
        // Rates are steady, as their walk is expected to be.
        for clock in 0..<layout.clockCount {
          state += [3 + Double(clock) + 0.5 * Double(knot) * Self.clockRate, Self.clockRate]
        }
        // The common error stays, and those by place fade, as they are expected to.
        for error in 0..<layout.errorCount {
          state.append(error == 0 ? 0.04 : 0.1 * pow(Self.errorCorrelation, Double(knot)))
        }
        let step = Vector3(0.5, 0.1 * Double(knot % 2), 0.3)
        place += step
        corrected += (1 + device.odometryScale) * YawTurn(yaw + 0.25 * device.turnRate).act(step)
        yaw += 0.5 * device.turnRate
        for index in movers.indices {
          movers[index].place += motion.reach * movers[index].velocity
          movers[index].velocity = motion.correlation * movers[index].velocity
        }
      }
      for mover in atFirst {
        let (p, v) = (mover.place, mover.velocity)
        prior.append(
          mean: [p.x, p.y, p.z, v.x, v.y, v.z], variances: [9, 9, 9, 0.5, 0.2, 0.5])
      }
      for clock in 0..<layout.clockCount {
        prior.append(mean: [3 + Double(clock), Self.clockRate], variances: [0.04, 0.01])
      }
      for error in 0..<layout.errorCount {
        prior.append(mean: [error == 0 ? 0.04 : 0.1], variances: [0.02])
      }
      for (value, variance) in device.unknowns(which.constants) {
        prior.append(mean: [value], variances: [variance])
        state.append(value)
      }
      for peer in 0..<peers {
        let isAtRest = peer == 0
        prior.append(
          mean: [resting.x, resting.y, resting.z, 0.05, 0.01],
          variances: isAtRest ? [25, 25, 25, 0.02, 0.001] : [0, 0, 0, 0.02, 0.001])
        state += [resting.x, resting.y, resting.z, 0.05, 0.01]
      }
      if which.hasDifferences {
        prior.append(mean: [-2, 1, 4, -0.03, 0], variances: [25, 25, 25, 0.02, 0.001])
        state += [-2, 1, 4, -0.03, 0]
      }
      problem.restart(prior, layout)
      fill(places, layout, settings, &generator, shortness)
      for knot in 0..<Self.knots - 1 where which.hasDifferences {
        for _ in 0..<3 { addDifference(knot, places, layout, &generator, shortness) }
      }
    }

    private static let clockRate = 0.7
    private static let errorCorrelation = 0.8

    /// Adds a difference that measures what the state predicts.
    private mutating func addDifference(
      _ knot: Int, _ places: [Vector3], _ layout: ChainLayout, _ generator: inout SeededGenerator,
      _ shortness: Double
    ) {
      let (share, elapsed) = (generator.uniform(in: 0...1), generator.uniform(in: 0...1))
      let antenna = places[knot] + generator.normalVector(sigma: 0.3)
      func corrected(_ knot: Int) -> Vector3 {
        let first = layout.blockSize * knot
        return Vector3(state[first], state[first + 1], state[first + 2])
          + YawTurn(state[first + 3]).act(antenna - places[knot])
      }
      let fixed = (1 - share) * corrected(knot) + share * corrected(knot + 1)
      func range(_ member: Int, clock: Int) -> Double {
        let first = layout.peer(member, knots: Self.knots)
        let place = Vector3(state[first], state[first + 1], state[first + 2])
        let error = state[layout.blockSize * knot + layout.clock(clock)]
        return (1 + state[first + 4]) * (place - fixed).length + state[first + 3] + error
          + 0.5 * elapsed * Self.clockRate
      }
      problem.addDifference(
        from: antenna, knot: knot, share: share, elapsed: elapsed, from: .init(member: 0, clock: 1),
        to: .init(member: peers, clock: 0),
        range(peers, clock: 0) - range(0, clock: 1) - shortness, variance: 0.02)
    }

    /// Adds the knots again, and cells that measure what the state predicts.
    private mutating func fill(
      _ places: [Vector3], _ layout: ChainLayout, _ settings: Settings,
      _ generator: inout SeededGenerator, _ shortness: Double
    ) {
      for (knot, place) in places.enumerated() {
        problem.addKnot(
          at: place, step: Vector3(0.5, 0.1 * Double(knot % 2), 0.3), horizontal: 0.001,
          vertical: 0.0005, yaw: 0.0008, seconds: 0.5,
          errors: .init(
            placeCorrelation: Self.errorCorrelation, placeInnovation: 0.003,
            commonInnovation: 0.002))
        if knot + 1 < places.count, layout.moverCount > 0 {
          problem.addMotion(settings.motion.step(seconds: 0.5))
        }
      }
      for knot in 0..<Self.knots - 1 {
        for peer in 0..<peers {
          addCell(knot, peer, places, layout, &generator, shortness)
        }
      }
    }

    /// Adds a cell that measures what the state predicts.
    private mutating func addCell(
      _ knot: Int, _ peer: Int, _ places: [Vector3], _ layout: ChainLayout,
      _ generator: inout SeededGenerator, _ shortness: Double
    ) {
      func vector(_ first: Int) -> Vector3 {
        Vector3(state[first], state[first + 1], state[first + 2])
      }
      let share = generator.uniform(in: 0...1)
      let seconds = 0.5 * share
      let here = layout.blockSize * knot
      let next = here + layout.blockSize
      let pose = RigidTransform(
        rotation: device.leverArm == .zero ? .identity : generator.rotation(),
        translation: places[knot] + generator.normalVector(sigma: 0.3))
      let rate = ChainProblem.Rate(
        velocity: generator.normalVector(sigma: 1), turn: generator.normalVector(sigma: 1))
      let antenna =
        pose.translation - device.clockOffset * rate.velocity + pose.rotation.act(device.leverArm)
      func corrected(_ first: Int, _ place: Vector3) -> Vector3 {
        vector(first) + YawTurn(state[first + 3]).act(antenna - place)
      }
      let fixed =
        (1 - share) * corrected(here, places[knot]) + share * corrected(next, places[knot + 1])
      let yaw = (1 - share) * state[here + 3] + share * state[next + 3]
      let motion = peer == 0 ? 0 : here + layout.motion(peer - 1)
      let target =
        peer == 0
        ? vector(layout.peer(0, knots: Self.knots))
        : vector(motion) + (seconds - device.clockOffset) * vector(motion + 3)
      var sight = YawTurn(yaw).actBack(target - fixed)
      let (distance, rise) = (sight.length, sight.y)
      sight += device.clockOffset * rate.turn.cross(sight)
      let angles = ArrivalAngles(ofDirection: pose.rotation.inverse.act(sight))
      // Seen from where the antenna is, without what the device turns in the clock's offset.
      let still = ArrivalAngles(
        ofDirection: pose.rotation.inverse.act(YawTurn(yaw).actBack(target - fixed)))
      var error = device.directionError(at: still.azimuthRadians)
      for (weight, first) in [(1 - share, here), (share, next)] where layout.errorCount > 0 {
        error +=
          weight * (state[first + layout.commonError] + state[first + layout.placeError(peer)])
      }
      problem.addCell(
        ChainProblem.Cell(
          pose: AntennaPose(pose, antennaInDevice: .zero), knot: knot, share: share,
          seconds: seconds, peer: peer, rate: rate),
        mover: peer == 0 ? nil : peer - 1,
        PerKind(
          range: .init(
            value: (1.01 + device.rangeScale) * distance + 0.05 + error - shortness, variance: 0.01,
            effectiveVariance: 0.02),
          azimuth: .init(
            value: angles.azimuthRadians, variance: 0.004, effectiveVariance: 0.006),
          elevation: .init(
            value: angles.elevationRadians, variance: 0.008, effectiveVariance: 0.008),
          heightDifference: .init(
            value: rise, variance: 0.25, effectiveVariance: 0.5)))
    }
  }

  @Test("the gradient is that of the cost", arguments: cases, 1...3 as ClosedRange<UInt64>)
  func gradient(_ which: Case, seed: UInt64) {
    let exact = Exact(which, seed: seed, shortness: 0.2)
    var generator = SeededGenerator(seed: seed + 100)
    let start = exact.state.map { $0 + generator.normal(sigma: 0.01) }
    var workspace = ChainWorkspace()
    let analytic = exact.problem.cost(at: start, workspace: &workspace).gradient
    let held = ChainLayout.driftSize
    let scale = analytic[held...].map(abs).max() ?? 0
    for index in start.indices.dropFirst(held) {
      var (below, above) = (start, start)
      below[index] -= 1e-6
      above[index] += 1e-6
      let change =
        exact.problem.cost(at: above, workspace: &workspace).cost
        - exact.problem.cost(at: below, workspace: &workspace).cost
      #expect(abs(change / 2e-6 - analytic[index]) < 1e-4 * scale, "unknown \(index)")
    }
  }

  @Test("a state that explains everything is the minimum", arguments: cases)
  func minimum(_ which: Case) {
    let exact = Exact(which, seed: 7)
    var generator = SeededGenerator(seed: 8)
    let held = ChainLayout.driftSize
    var state = exact.state.enumerated().map {
      $0 < held ? $1 : $1 + generator.normal(sigma: 0.02)
    }
    var (workspace, none) = (ChainWorkspace(), [Double]())
    let result = exact.problem.fit(
      &state, iterations: 30, tolerance: 1e-12, covariance: &none, workspace: &workspace)
    #expect(result.hasConverged)
    for (index, value) in state.enumerated() {
      #expect(abs(value - exact.state[index]) < 1e-4, "unknown \(index)")
    }
  }

  /// Where all residuals are zero the curvature of the cost is the information.
  @Test("covariances are those of the cost's curvature", arguments: cases)
  func covariances(_ which: Case) throws {
    let exact = Exact(which, seed: 3)
    var workspace = ChainWorkspace()
    let curvature = NumericJacobian(at: exact.state) {
      exact.problem.cost(at: $0, workspace: &workspace).gradient
    }.rows
    let count = exact.state.count
    let flat = (0..<count * count).map {
      0.5 * (curvature[$0 / count][$0 % count] + curvature[$0 % count][$0 / count])
    }
    let expected = try #require(positiveDefiniteInverse(of: flat, order: count))
    let layout = exact.problem.layout
    let (block, size) = (layout.blockSize, exact.problem.denseCount)
    let knots = exact.problem.knotCount
    func check(_ value: Double, _ row: Int, _ column: Int) {
      let scale = (expected[row * count + row] * expected[column * count + column]).squareRoot()
      #expect(
        abs(value - expected[row * count + column]) < 1e-4 * scale + 1e-9, "\(row), \(column)")
    }
    let last = try #require(
      exact.problem.covariances(at: exact.state, includingKnots: false, workspace: &workspace))
    for row in 0..<size {
      for column in 0..<size {
        check(last.dense[row * size + column], count - size + row, count - size + column)
      }
    }
    let all = try #require(
      exact.problem.covariances(at: exact.state, includingKnots: true, workspace: &workspace))
    #expect(all.logDeterminant == last.logDeterminant)
    for knot in 0..<knots {
      for row in 0..<block {
        for column in 0..<size {
          let other = column < block ? block * knot + column : block * (knots - 1) + column
          check(all.knots[(knot * block + row) * size + column], block * knot + row, other)
        }
      }
    }
  }

  /// The mean of an innovation is what a state says, and its variance that of the inverse curvature.
  @Test("innovations have the variances of the cost's curvature", arguments: cases)
  func innovations(_ which: Case) throws {
    let exact = Exact(which, seed: 5)
    var workspace = ChainWorkspace()
    let curvature = NumericJacobian(at: exact.state) {
      exact.problem.cost(at: $0, workspace: &workspace).gradient
    }.rows
    let count = exact.state.count
    let flat = (0..<count * count).map {
      0.5 * (curvature[$0 / count][$0 % count] + curvature[$0 % count][$0 / count])
    }
    let covariance = try #require(positiveDefiniteInverse(of: flat, order: count))
    var found = ChainProblem.Innovations()
    #expect(exact.problem.findInnovations(&found, at: exact.state, workspace: &workspace))
    let layout = exact.problem.layout
    let size = ChainLayout.driftSize + layout.errorCount
    for knot in 0..<exact.problem.knotCount - 1 {
      let (here, there) = (layout.blockSize * knot, layout.blockSize * (knot + 1))
      func check(_ entry: Int, _ derivatives: [(Int, Double)]) {
        var variance = 0.0
        for (row, a) in derivatives {
          for (column, b) in derivatives { variance += a * b * covariance[row * count + column] }
        }
        let moment = found.moments[size * knot + entry]
        #expect(abs(moment.variance - variance) < 1e-3 * variance + 1e-12, "\(knot), \(entry)")
        #expect(abs(moment.mean) < 1e-9)
      }
      if !which.constants.contains(.odometryErrors) { check(3, [(here + 3, -1), (there + 3, 1)]) }
      for error in 0..<layout.errorCount {
        let index = layout.commonError + error
        check(
          ChainLayout.driftSize + error,
          [(here + index, error == 0 ? -1 : -0.8), (there + index, 1)])
      }
    }
    for (peer, variance) in found.first.enumerated() {
      let index = layout.placeError(peer)
      #expect(abs(variance - covariance[index * count + index]) < 1e-3 * variance)
    }
  }

  @Test("variances that are given apart are priors about zero")
  func variancesApart() throws {
    let which = Case(movers: 0, constants: .directionError, hasErrors: true)
    var exact = Exact(which, seed: 6)
    var workspace = ChainWorkspace()
    let without = exact.problem.cost(at: exact.state, workspace: &workspace)
    exact.problem.constantVariances = [Double](repeating: 0.04, count: 8)
    exact.problem.firstErrorVariances = [0.09]
    let with = exact.problem.cost(at: exact.state, workspace: &workspace)
    let layout = exact.problem.layout
    let constants = layout.blockSize * exact.problem.knotCount
    var expected = pow(exact.state[layout.placeError(0)], 2) / 0.18
    for index in 0..<8 { expected += pow(exact.state[constants + index], 2) / 0.08 }
    #expect(abs(with.cost - without.cost - expected) < 1e-9)
    let change = with.gradient[constants + 2] - without.gradient[constants + 2]
    #expect(abs(change - exact.state[constants + 2] / 0.04) < 1e-9)
  }

  /// The logarithm of the information of a chain without measurements, less that of its steps.
  private static func information(ofKnots knots: Int, variance: Double) throws -> Double {
    let layout = ChainLayout(errorCount: 2)
    var prior = MarginalPrior(holding: .zero)
    prior.append(mean: [0, 0], variances: [0.04, 0.01])
    prior.append(mean: [3, 1, 2, 0, 0], variances: [25, 25, 25, 0.02, 1e-3])
    let configuration = FusionConfiguration()
    var problem = ChainProblem(
      prior, layout, Settings(configuration).faults, configuration.ranging)
    var state: [Double] = []
    for knot in 0..<knots {
      problem.addKnot(
        at: Vector3(Double(knot), 0, 0), step: Vector3(1, 0.2, 0.5), horizontal: variance,
        vertical: 2 * variance, yaw: 0.3 * variance, seconds: 2)
      state += [Double(knot), 0, 0, 0, 0, 0]
    }
    problem.setErrorSteps { knot in
      .init(
        placeCorrelation: 0.5, placeInnovation: variance * Double(knot + 1),
        commonInnovation: 3 * variance)
    }
    state += [3, 1, 2, 0, 0]
    var workspace = ChainWorkspace()
    let found = try #require(
      problem.covariances(at: state, includingKnots: false, workspace: &workspace))
    return found.logDeterminant - problem.logProcessInformation
  }

  /// So evidences of chains with other knots and slips are comparable.
  @Test("without measurements the information is that of the prior and of the steps")
  func processInformation() throws {
    let few = try Self.information(ofKnots: 2, variance: 0.01)
    let many = try Self.information(ofKnots: 7, variance: 0.01)
    let wide = try Self.information(ofKnots: 7, variance: 0.4)
    #expect(abs(many - few) < 1e-6)
    #expect(abs(wide - few) < 1e-6)
  }

  @Test(
    "a run of ranges that are too long is one fault, and a single one is doubted less than its neighbours"
  )
  func faultPriors() throws {
    var exact = Exact(Case(movers: 0), seed: 9)
    let settings = Settings(FusionConfiguration())
    var workspace = ChainWorkspace()
    // Two metres off, each range of the peer is a fault.
    var away = exact.state
    away[exact.problem.layout.peer(0, knots: exact.problem.knotCount) + 3] -= 2
    let independent = exact.problem.cost(at: away, workspace: &workspace).cost
    exact.problem.setFaultPriors(at: away, settings.faults, workspace: &workspace)
    let lasting = exact.problem.cost(at: away, workspace: &workspace).cost
    #expect(lasting < independent - 5)
    // Where all agree a fault is less probable than by itself.
    exact.problem.setFaultPriors(at: exact.state, settings.faults, workspace: &workspace)
    let agreeing = exact.problem.cost(at: exact.state, workspace: &workspace).cost
    #expect(agreeing < exact.problem.cost(at: away, workspace: &workspace).cost)
  }

  /// Differences of ranges tell nothing of where all is together, nor of what all clocks share.
  @Test("moving all together changes no cost")
  func gauge() {
    var generator = SeededGenerator(seed: 5)
    let layout = ChainLayout(clockCount: 3)
    let configuration = FusionConfiguration()
    var prior = MarginalPrior()
    prior.append(
      mean: [Double](repeating: 0, count: layout.blockSize + 3 * ChainLayout.peerSize),
      variances: [Double](repeating: .infinity, count: layout.blockSize + 3 * ChainLayout.peerSize))
    var problem = ChainProblem(
      prior, layout, FaultModel(configuration), configuration.ranging)
    problem.clockWalk = 0.01
    for knot in 0..<4 {
      problem.addKnot(
        at: Vector3(Double(knot), 0, 0), step: Vector3(1, 0.1, 0.2), horizontal: 0.01,
        vertical: 0.01, yaw: 0.01, seconds: 0.5)
    }
    for index in 0..<30 {
      problem.addDifference(
        from: generator.normalVector(sigma: 2), knot: index % 3, share: 0.4, elapsed: 0.3,
        from: .init(member: index % 3, clock: index % 3),
        to: .init(member: (index + 1) % 3, clock: (index + 1) % 3), generator.normal(sigma: 2),
        variance: 0.02)
    }
    let state = (0..<problem.stateCount).map { _ in generator.normal(sigma: 2) }
    var workspace = ChainWorkspace()
    let cost = problem.cost(at: state, workspace: &workspace).cost
    let (turn, shift) = (0.8, Vector3(3, -1, 2))
    var moved = state
    func move(_ first: Int) {
      let place = Vector3(moved[first], moved[first + 1], moved[first + 2])
      let there = YawTurn(turn).act(place) + shift
      (moved[first], moved[first + 1], moved[first + 2]) = (there.x, there.y, there.z)
    }
    for knot in 0..<4 {
      move(layout.blockSize * knot)
      moved[layout.blockSize * knot + 3] += turn
      for clock in 0..<3 { moved[layout.blockSize * knot + layout.clock(clock)] += 40 }
    }
    for member in 0..<3 { move(layout.peer(member, knots: 4)) }
    let same = problem.cost(at: moved, workspace: &workspace).cost
    #expect(abs(same - cost) < 1e-9 * abs(cost))
    // One alone moved is another cost.
    moved[layout.peer(1, knots: 4)] += 0.1
    #expect(abs(problem.cost(at: moved, workspace: &workspace).cost - cost) > 1e-3)
  }
}
