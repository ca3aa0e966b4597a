// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbySmoothing

/// The cost and its derivatives, and the covariances that come of them.
@Suite("Smoothing problem")
struct SmoothingProblemTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var isMoving: [Bool]
    var isPlanar: Bool
    var testDescription: String { "moving \(isMoving), planar \(isPlanar)" }
  }

  static let cases = [
    Case(isMoving: [false], isPlanar: false), Case(isMoving: [false, false], isPlanar: true),
    Case(isMoving: [true, false], isPlanar: false), Case(isMoving: [true, true], isPlanar: true),
  ]

  @Test(
    "the right-hand side is the cost's slope by every unknown", arguments: cases,
    [1, 2, 3, 4] as [UInt64])
  func gradient(_ which: Case, seed: UInt64) {
    let (problem, state) = SmallProblem.make(
      isMoving: which.isMoving, isPlanar: which.isPlanar, seed: seed)
    let held = problem.held()
    let isHeld = held.band + held.border
    var system = problem.linearized(at: state, widening: 1.5).system
    system.hold(band: held.band, border: held.border)
    let zero = [Double](repeating: 0, count: system.gradient.count)
    let numeric = NumericJacobian(at: zero) { step in
      let masked = zip(step, isHeld).map { $1 ? 0 : $0 }
      return [-problem.linearized(at: problem.moved(state, by: masked), widening: 1.5).cost]
    }
    let mismatch = numeric.mismatch(with: [system.gradient], tolerance: 1e-7)
    #expect(mismatch == nil, "seed \(seed): \(mismatch ?? "")")
  }

  @Test("the gradient of a prediction is its numeric one", arguments: MeasurementKind.allCases)
  func prediction(kind: MeasurementKind) throws {
    let (problem, state) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 9)
    let observation = problem.observations[1]
    let place = state.peers[0].position
    let measurement = try #require(observation[kind])
    func predict(_ place: Vector3, scale: Double) -> (PredictedMeasurement, innovation: Double) {
      SmoothingProblem.predict(
        kind, measurement, of: observation, peerAt: place,
        PeerParameters(position: place, rangeBias: 0.1, rangeScale: scale))
    }
    let (ours, _) = predict(place, scale: 0.02)
    let numeric = NumericJacobian(at: [place.x, place.y, place.z, 0.02]) { x in
      [-predict(Vector3(x[0], x[1], x[2]), scale: x[3]).innovation]
    }
    let analytic = [ours.gradient.x, ours.gradient.y, ours.gradient.z, ours.scaleDerivative]
    #expect(numeric.mismatch(with: [analytic]) == nil)
  }

  @Test("an outlier's weight is small, an honest value's nearly one")
  func responsibilities() {
    let (problem, _) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 1)
    func inlier(_ innovation: Double) -> Double {
      problem.likelihood(.range, innovation: innovation, variance: 0.01, outlierShare: 0.1).inlier
    }
    #expect(inlier(0) > 0.98)
    #expect(inlier(1) < 1e-6)
    // A range that is too short is more of a surprise to the outliers' model than one too long.
    #expect(inlier(-0.3) > inlier(0.3))
  }

  @Test(
    "covariances are blocks of the dense inverse, turned to the odometry's world", arguments: cases)
  func marginals(_ which: Case) throws {
    let (problem, start) = SmallProblem.make(
      isMoving: which.isMoving, isPlanar: which.isPlanar, seed: 5)
    let solution = try #require(Minimizer.polish.mode(problem, from: start))
    var marginals = Marginals(solution)
    var system = problem.linearized(at: solution.state, widening: 1).system
    let held = problem.held()
    system.hold(band: held.band, border: held.border)
    let inverse = try Self.denseInverse(of: system, isHeld: held.band + held.border)
    for peer in which.isMoving.indices {
      for knot in problem.knots.indices {
        let ours = marginals.position(ofPeer: peer, knot: knot, secondsSinceKnot: 0.05)
        // The place as a function of all unknowns, differentiated numerically.
        let zero = [Double](repeating: 0, count: inverse.count)
        let jacobian = NumericJacobian(at: zero) { step in
          let state = problem.moved(solution.state, by: step)
          let x = problem.place(ofPeer: peer, knot: knot, secondsSinceKnot: 0.05, in: state)
          let p = state.position(ofPeerAt: x, knot: knot, device: problem.knots[knot].place)
          return [p.x, p.y, p.z]
        }.rows
        func element(_ a: Int, _ b: Int) -> Double {
          var sum = 0.0
          for i in zero.indices where jacobian[a][i] != 0 {
            for j in zero.indices { sum += jacobian[a][i] * inverse[i][j] * jacobian[b][j] }
          }
          return sum
        }
        let p = ours.covariance
        for (value, a, b) in [(p.xx, 0, 0), (p.xz, 0, 2), (p.zz, 2, 2)] {
          #expect(
            abs(value - element(a, b)) < 1e-6 * (1 + abs(value)), "peer \(peer), knot \(knot)")
        }
        if !which.isPlanar {
          for (value, a, b) in [(p.xy, 0, 1), (p.yy, 1, 1), (p.yz, 1, 2)] {
            #expect(abs(value - element(a, b)) < 1e-6 * (1 + abs(value)))
          }
        }
      }
    }
  }

  /// The inverse, with nothing for what is held.
  private static func denseInverse(
    of system: BorderedBandSystem, isHeld: [Bool]
  ) throws -> [[Double]] {
    let (n, m) = (system.bandCount, system.borderCount)
    let size = n + m
    var flat = [Double](repeating: 0, count: size * size)
    func set(_ i: Int, _ j: Int, _ value: Double) {
      flat[i * size + j] = value
      flat[j * size + i] = value
    }
    for column in 0..<n {
      for below in 0...min(system.halfBandwidth, n - 1 - column) {
        set(column + below, column, system.band[column * (system.halfBandwidth + 1) + below])
      }
    }
    for column in 0..<m {
      for row in 0..<n { set(row, n + column, system.coupling[column * n + row]) }
      for row in column..<m { set(n + row, n + column, system.border[column * m + row]) }
    }
    let inverse = try #require(positiveDefiniteInverse(of: flat, order: size))
    return (0..<size).map { row in
      (0..<size).map { isHeld[row] || isHeld[$0] ? 0 : inverse[row * size + $0] }
    }
  }

  @Test("no step of the search goes up, and at the mode there is no slope left")
  func descent() throws {
    let (problem, start) = SmallProblem.make(
      isMoving: [false, true], isPlanar: false, seed: 11, outlierShare: 0.1)
    let before = problem.linearized(at: start, widening: 1).cost
    let solution = try #require(Minimizer.polish.mode(problem, from: start))
    let after = problem.linearized(at: solution.state, widening: 1)
    #expect(after.cost < before)
    let promise = zip(solution.factor.solution, after.system.gradient).reduce(0) {
      $0 + $1.0 * $1.1
    }
    #expect(abs(promise) < 1e-3)
  }
}

/// The smoother's viewpoints against the filter's correlation factors.
@Suite("Viewpoint")
struct ViewpointTests {
  @Test(
    "a straight path decorrelates a range as in the filter", arguments: [0.05, 0.2, 0.7, 2.0])
  func straightPath(metres: Double) {
    let (problem, state) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 4)
    var observations = [problem.observations[0], problem.observations[0]]
    observations[1].pose.antenna += Vector3(metres, 0, 0)
    let views = observations.map { Viewpoint($0, in: problem, at: state) }
    let expected = exp(-metres / CorrelatedNoise.rangeMetres)
    #expect(abs(views[0].correlation(.range, with: views[1]) - expected) < 1e-9)
  }

  @Test("a small turn decorrelates angles as in the filter", arguments: [0.02, 0.1, 0.3])
  func turn(radians: Double) {
    let (problem, state) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 4)
    var observations = [problem.observations[0], problem.observations[0]]
    let antenna = observations[0].pose.antenna
    let sight = problem.place(
      ofPeer: 0, knot: observations[0].knot, secondsSinceKnot: 0, in: state)
    // About an axis across the line of sight, along which directions turn by the whole angle.
    let turnOfKnot = YawTurn(state.devices[observations[0].knot].yawRadians)
    let toPeer = turnOfKnot.actBack(
      sight - Viewpoint(observations[0], in: problem, at: state).antenna)
    let axis = toPeer.cross(Vector3(0.3, 1, 0.2)).normalized
    let rotation = Rotation(angleRadians: radians, about: axis)
    observations[1].pose = observations[0].pose.turned(
      by: { rotation.act($0) }, about: antenna, to: antenna)
    let views = observations.map { Viewpoint($0, in: problem, at: state) }
    let chord = 2 * sin(radians / 2)
    let expected = exp(-chord / CorrelatedNoise.angleRadians)
    #expect(abs(views[0].correlation(.azimuth, with: views[1]) - expected) < 1e-9)
    #expect(abs(views[0].correlation(.elevation, with: views[1]) - expected) < 1e-9)
  }
}
