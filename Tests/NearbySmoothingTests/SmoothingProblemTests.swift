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

  @Test("the gradient of a prediction is its numeric one", arguments: MeasurementKind.allCases)
  func prediction(kind: MeasurementKind) throws {
    let (problem, state) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 9)
    let observation = problem.observations[1]
    let place = state.peers[0].position
    let measurement = try #require(observation[kind])
    func predict(_ place: Vector3, scale: Double) -> (PredictedMeasurement, innovation: Double) {
      SmoothingProblem.predict(
        kind, measurement, from: observation.cell.pose, peerAt: place,
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
    let (problem, _) = SmallProblem.make(
      isMoving: [false], isPlanar: false, seed: 1, hasOutliers: true)
    func inlier(_ innovation: Double) -> Double {
      problem.inlierProbability(
        .range, of: problem.observations[0], innovation: innovation, variance: 0.01)
    }
    #expect(inlier(0) > 0.98)
    #expect(inlier(1) < 1e-6)
    // A range that is too short is more of a surprise to the outliers' model than one too long.
    #expect(inlier(-0.3) > inlier(0.3))
  }

  @Test("covariances are turned to the odometry's world", arguments: cases)
  func marginals(_ which: Case) throws {
    let (problem, start) = SmallProblem.make(
      isMoving: which.isMoving, isPlanar: which.isPlanar, seed: 5)
    let solution = try #require(Minimizer.polish.mode(problem, from: start))
    let marginals = Marginals(solution)
    let layout = problem.layout
    let unknowns = solution.state.unknowns(layout)
    let (block, size) = (layout.blockSize, layout.peer(problem.peerCount, knots: 1))
    let border = unknowns.count - (size - block)
    var workspace = ChainWorkspace()
    let inverse = try #require(
      problem.chain().covariances(at: unknowns, includingKnots: true, workspace: &workspace))
    for peer in which.isMoving.indices {
      for knot in problem.knots.indices {
        let ours = marginals.position(ofPeer: peer, knot: knot, secondsSinceKnot: 0.05)
        // The place as a function of all unknowns, differentiated numerically.
        let jacobian = NumericJacobian(at: unknowns) { unknowns in
          let state = SmoothingState(
            unknowns, layout, knots: problem.knots.count, peers: problem.peerCount)
          let x = problem.place(ofPeer: peer, knot: knot, secondsSinceKnot: 0.05, in: state)
          let device = state.devices[knot]
          let p =
            problem.knots[knot].place + YawTurn(device.yawRadians).actBack(x - device.place)
          return [p.x, p.y, p.z]
        }.rows
        func element(_ a: Int, _ b: Int) -> Double {
          func derivative(_ row: Int, _ index: Int) -> Double {
            jacobian[row][index < block ? block * knot + index : border + index - block]
          }
          var sum = 0.0
          for i in 0..<size where derivative(a, i) != 0 {
            for j in 0..<size {
              let (low, high) = (min(i, j), max(i, j))
              let covariance =
                low < block
                ? inverse.knots[(knot * block + low) * size + high]
                : inverse.dense[low * size + high]
              sum += derivative(a, i) * covariance * derivative(b, j)
            }
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

  @Test("a state is the same after it was one list, and in another fixed world but for that")
  func unknowns() {
    let (problem, state) = SmallProblem.make(
      isMoving: [false, true], isPlanar: false, seed: 2)
    let list = state.unknowns(problem.layout)
    let back = SmoothingState(list, problem.layout, knots: problem.knots.count, peers: 2)
    #expect(back.devices == state.devices && back.peers == state.peers)
    #expect(back.motions == state.motions)
    let moved = state.agreeing(withOdometryAt: problem.knots[0].place)
    #expect((moved.devices[0].place - problem.knots[0].place).length < 1e-12)
    #expect(abs(moved.devices[0].yawRadians) < 1e-12)
    for knot in problem.knots.indices {
      func seen(_ state: SmoothingState) -> Vector3 {
        YawTurn(state.devices[knot].yawRadians).actBack(
          state.peers[0].position - state.devices[knot].place)
      }
      #expect((seen(moved) - seen(state)).length < 1e-9)
    }
  }

  @Test("no step of the search goes up, and at the mode there is no slope left")
  func descent() throws {
    let (problem, start) = SmallProblem.make(
      isMoving: [false, true], isPlanar: false, seed: 11, hasOutliers: true)
    var workspace = ChainWorkspace()
    let chain = problem.chain()
    let before = chain.cost(at: start.unknowns(problem.layout), workspace: &workspace).cost
    let solution = try #require(Minimizer.polish.mode(problem, from: start))
    let unknowns = solution.state.unknowns(problem.layout)
    let after = chain.cost(at: unknowns, workspace: &workspace)
    #expect(after.cost < before)
    var (again, none) = (unknowns, [Double]())
    let result = chain.fit(
      &again, iterations: 1, tolerance: 1e-12, covariance: &none, workspace: &workspace)
    #expect(abs(after.cost - result.cost) < 1e-3)
  }
}

/// The smoother's viewpoints against the correlations of the sensor model.
@Suite("Viewpoint")
struct ViewpointTests {
  private static func correlation(_ kind: MeasurementKind, _ views: [Viewpoint]) -> Double {
    CorrelatedNoise.correlation(
      of: kind, between: views[0], views[1], HeightOffset(RangingConfiguration()))
  }

  @Test(
    "a straight path decorrelates a range over two lengths", arguments: [0.05, 0.2, 0.7, 2.0])
  func straightPath(metres: Double) {
    let (problem, state) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 4)
    var observations = [problem.observations[0], problem.observations[0]]
    observations[0].cell.share = 0
    observations[1].cell.share = 0
    observations[1].cell.pose.antenna += Vector3(metres, 0, 0)
    let views = observations.map { Viewpoint($0, in: problem, at: state) }
    let expected = 0.5 * (exp(-metres / 0.4) + exp(-metres / 2.5))
    #expect(abs(Self.correlation(.range, views) - expected) < 1e-9)
  }

  @Test("a small turn decorrelates angles as in the filter", arguments: [0.02, 0.1, 0.3])
  func turn(radians: Double) {
    let (problem, state) = SmallProblem.make(isMoving: [false], isPlanar: false, seed: 4)
    var observations = [problem.observations[0], problem.observations[0]]
    let antenna = observations[0].cell.pose.antenna
    let sight = problem.place(
      ofPeer: 0, knot: observations[0].cell.knot, secondsSinceKnot: 0, in: state)
    // About an axis across the line of sight, along which directions turn by the whole angle.
    observations[0].cell.share = 0
    observations[1].cell.share = 0
    let turnOfKnot = YawTurn(state.devices[observations[0].cell.knot].yawRadians)
    let toPeer = turnOfKnot.actBack(
      sight - Viewpoint(observations[0], in: problem, at: state).place)
    let axis = toPeer.cross(Vector3(0.3, 1, 0.2)).normalized
    let rotation = Rotation(angleRadians: radians, about: axis)
    observations[1].cell.pose = observations[0].cell.pose.turned(
      by: { rotation.act($0) }, about: antenna, to: antenna)
    let views = observations.map { Viewpoint($0, in: problem, at: state) }
    let chord = 2 * sin(radians / 2)
    let expected = exp(-chord / CorrelatedNoise.angleRadians)
    #expect(abs(Self.correlation(.azimuth, views) - expected) < 1e-9)
    #expect(abs(Self.correlation(.elevation, views) - expected) < 1e-9)
  }
}
