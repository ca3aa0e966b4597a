// SPDX-License-Identifier: Apache-2.0
import Foundation
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
    var testDescription: String { "\(movers) moving, constants \(constants.rawValue)" }
  }

  private static let ofRadio: ChainLayout.Constants = [.clockOffset, .leverArm, .rangeScale]
  static let cases = [
    Case(movers: 0), Case(movers: 0, constants: .odometryErrors), Case(movers: 1),
    Case(movers: 2, constants: .odometryErrors), Case(movers: 0, constants: .clockOffset),
    Case(movers: 0, constants: .leverArm), Case(movers: 0, constants: .rangeScale),
    Case(movers: 1, constants: ofRadio.union(.odometryErrors)),
  ]

  @Test("constants stand in the border in their order")
  func constants() {
    let all: ChainLayout.Constants = [.rangeScale, .leverArm, .odometryErrors, .clockOffset]
    #expect(all.count == 7)
    let places: [(ChainLayout.Constants, Int)] = [
      (.odometryErrors, 0), (.clockOffset, 2), (.leverArm, 3), (.rangeScale, 6),
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

    init(_ constants: ChainLayout.Constants) {
      if constants.contains(.odometryErrors) { (turnRate, odometryScale) = (0.05, 0.02) }
      if constants.contains(.clockOffset) { clockOffset = 0.03 }
      if constants.contains(.leverArm) { leverArm = Vector3(0.1, -0.05, 0.2) }
      if constants.contains(.rangeScale) { rangeScale = -0.02 }
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
      let layout = ChainLayout(moverCount: which.movers, constants: which.constants)
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
      problem.restart(prior)
      fill(places, layout, settings, &generator, shortness)
    }

    /// Adds the knots again, and cells that measure what the state predicts.
    private mutating func fill(
      _ places: [Vector3], _ layout: ChainLayout, _ settings: Settings,
      _ generator: inout SeededGenerator, _ shortness: Double
    ) {
      for (knot, place) in places.enumerated() {
        problem.addKnot(
          at: place, step: Vector3(0.5, 0.1 * Double(knot % 2), 0.3), horizontal: 0.001,
          vertical: 0.0005, yaw: 0.0008, seconds: 0.5)
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
      problem.addCell(
        from: AntennaPose(pose, antennaInDevice: .zero),
        knot: knot, share: share, seconds: seconds, member: peer,
        mover: peer == 0 ? nil : peer - 1, isObstructed: false, rate: rate,
        PerKind(
          range: .init(
            value: (1.01 + device.rangeScale) * distance + 0.05 - shortness, variance: 0.01,
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
}
