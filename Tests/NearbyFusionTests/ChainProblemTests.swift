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
    var hasOdometryErrors: Bool
    var testDescription: String { "\(movers) moving, odometry's errors \(hasOdometryErrors)" }
  }

  static let cases = [
    Case(movers: 0, hasOdometryErrors: false), Case(movers: 0, hasOdometryErrors: true),
    Case(movers: 1, hasOdometryErrors: false), Case(movers: 2, hasOdometryErrors: true),
  ]

  /// A chain whose measurements and steps are exactly those of a state, so that there each residual
  /// is zero; ranges are too short by `shortness`.
  private struct Exact {
    var problem: ChainProblem
    var state: [Double]

    private static let knots = 5
    /// What is seen of peers: one that rests, then the moving ones.
    private let peers: Int

    init(_ which: Case, seed: UInt64, shortness: Double = 0) {
      var generator = SeededGenerator(seed: seed)
      let layout = ChainLayout(
        moverCount: which.movers, hasOdometryErrors: which.hasOdometryErrors)
      peers = 1 + which.movers
      var configuration = FusionConfiguration()
      configuration.faults.rangeOnset = 1e-12
      configuration.faults.angleOnset = 1e-12
      configuration.faults.heightOnset = 1e-12
      let settings = Settings(configuration)
      let turnRate = which.hasOdometryErrors ? 0.05 : 0
      let scale = which.hasOdometryErrors ? 0.02 : 0

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
        corrected += (1 + scale) * YawTurn(yaw + 0.25 * turnRate).act(step)
        yaw += 0.5 * turnRate
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
      if which.hasOdometryErrors {
        prior.append(mean: [turnRate, scale], variances: [0.01, 0.001])
        state += [turnRate, scale]
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
      func vector(_ first: Int) -> Vector3 {
        Vector3(state[first], state[first + 1], state[first + 2])
      }
      for knot in 0..<Self.knots - 1 {
        for peer in 0..<peers {
          let share = generator.uniform(in: 0...1)
          let seconds = 0.5 * share
          let here = layout.blockSize * knot
          let next = here + layout.blockSize
          let antenna = places[knot] + generator.normalVector(sigma: 0.3)
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
            : vector(motion) + seconds * vector(motion + 3)
          let sight = YawTurn(yaw).actBack(target - fixed)
          let angles = ArrivalAngles(ofDirection: sight)
          problem.addCell(
            from: AntennaPose(
              RigidTransform(rotation: .identity, translation: antenna), antennaInDevice: .zero),
            knot: knot, share: share, seconds: seconds, member: peer,
            mover: peer == 0 ? nil : peer - 1, isObstructed: false,
            PerKind(
              range: .init(
                value: 1.01 * sight.length + 0.05 - shortness, variance: 0.01,
                effectiveVariance: 0.02),
              azimuth: .init(
                value: angles.azimuthRadians, variance: 0.004, effectiveVariance: 0.006),
              elevation: .init(
                value: angles.elevationRadians, variance: 0.008, effectiveVariance: 0.008),
              heightDifference: .init(
                value: sight.y, variance: 0.25, effectiveVariance: 0.5)))
        }
      }
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
