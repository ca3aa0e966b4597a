// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// The joint problem of drift and peers: its gradient, its minimum, and what is left of it when a part is
/// marginalised.
@Suite("Joint fit")
struct JointFitTests {
  /// A device that walks a curve whose odometry drifts, and peers about it.
  private struct Walk {
    var problem: ChainProblem
    /// The unknowns that made the measurements.
    var truth: [Double]
    var knots: Int

    /// Draws one.
    ///
    /// To each range `error` is added; only the knots of `part` are taken, and the cells between
    /// them; when there is no anchor, the first knot is held.
    init(
      seed: UInt64, knots: Int = 8, members: Int = 3, error: Double = 0,
      part: ClosedRange<Int>? = nil, anchor: MarginalPrior? = nil
    ) {
      let part = part ?? 0...knots - 1
      var generator = SeededGenerator(seed: seed)
      self.knots = part.count
      // The truth: the device's path in the fixed world, and yaw and place errors of the odometry.
      var fixed: [Vector3] = []
      var odometry: [Vector3] = []
      var yaws: [Double] = []
      var turn = YawTurn(0)
      for knot in 0..<knots {
        let t = Double(knot)
        fixed.append(Vector3(2 * sin(0.7 * t), 0.4 * sin(2.1 * t), 1.1 * t))
        yaws.append(knot == 0 ? 0 : yaws[knot - 1] + generator.normal(sigma: 0.03))
        if knot == 0 {
          odometry.append(fixed[0])
        } else {
          let step = fixed[knot] - fixed[knot - 1] + generator.normalVector(sigma: 0.03)
          odometry.append(odometry[knot - 1] + turn.actBack(step))
        }
        turn = YawTurn(yaws[knot])
      }
      let peers = (0..<members).map { _ in
        Vector3(0, 0.5, 4) + generator.normalVector(sigma: 4)
      }
      let settings = Settings(FusionConfiguration())
      var known = anchor ?? MarginalPrior(holding: odometry[0])
      if anchor == nil {
        for _ in peers {
          known.append(
            mean: [0, 0, 4, 0, 0], variances: [400, 400, 400, 0.0225, 0.0009])
        }
      }
      problem = ChainProblem(known, ChainLayout(), settings.faults, settings.configuration.ranging)
      for knot in part {
        let next = odometry[min(knot + 1, knots - 1)]
        problem.addKnot(
          at: odometry[knot], step: next - odometry[knot], horizontal: 0.0009, vertical: 0.0009,
          yaw: 0.0009, seconds: 1)
      }
      truth = part.flatMap { [fixed[$0].x, fixed[$0].y, fixed[$0].z, yaws[$0]] }
      for peer in peers { truth += [peer.x, peer.y, peer.z, 0.05, 0.01] }
      for knot in 0..<knots - 1 {
        for (member, peer) in peers.enumerated() {
          for _ in 0..<4 {
            let share = generator.uniform(in: 0...1)
            let seen = generator.normalVector(sigma: 0.3)
            guard part.contains(knot), part.contains(knot + 1) else { continue }
            let (a, b) = (YawTurn(yaws[knot]), YawTurn(yaws[knot + 1]))
            let device = odometry[knot] + share * (odometry[knot + 1] - odometry[knot]) + seen
            let antenna =
              (1 - share) * (fixed[knot] + a.act(device - odometry[knot]))
              + share * (fixed[knot + 1] + b.act(device - odometry[knot + 1]))
            let yaw = YawTurn((1 - share) * yaws[knot] + share * yaws[knot + 1])
            let sight = yaw.actBack(peer - antenna)
            let angles = ArrivalAngles(ofDirection: sight)
            let values: PerKind<ChainProblem.Value?> = PerKind(
              range: .init(
                value: 1.01 * sight.length + 0.05 + error, variance: 0.01, effectiveVariance: 0.02),
              azimuth: .init(
                value: angles.azimuthRadians, variance: 0.004, effectiveVariance: 0.006),
              elevation: .init(
                value: angles.elevationRadians, variance: 0.008, effectiveVariance: 0.008),
              heightDifference: .init(
                value: sight.y, variance: 0.25, effectiveVariance: 0.5))
            problem.addCell(
              ChainProblem.Cell(
                pose: AntennaPose(
                  RigidTransform(rotation: .identity, translation: device),
                  antennaInDevice: .zero),
                knot: knot - part.lowerBound, share: share, peer: member),
              values)
          }
        }
      }
    }

    /// The truth, a little off.
    func start(seed: UInt64, sigma: Double) -> [Double] {
      var generator = SeededGenerator(seed: seed)
      return truth.enumerated().map { index, value in
        // The first knot is held.
        index < ChainLayout.driftSize ? value : value + generator.normal(sigma: sigma)
      }
    }
  }

  @Test(
    "the gradient is that of the cost, of outliers, too",
    arguments: 1...4 as ClosedRange<UInt64>, [-0.3, 0.05, 0.4, 2])
  func gradient(seed: UInt64, error: Double) {
    let walk = Walk(seed: seed, error: error)
    let state = walk.start(seed: seed + 10, sigma: 0.01)
    var workspace = ChainWorkspace()
    let (_, gradient) = walk.problem.cost(at: state, workspace: &workspace)
    let scale = gradient[ChainLayout.driftSize...].map(abs).max() ?? 0
    for index in ChainLayout.driftSize..<state.count {
      let step = 1e-6
      var (below, above) = (state, state)
      below[index] -= step
      above[index] += step
      let change =
        walk.problem.cost(at: above, workspace: &workspace).cost
        - walk.problem.cost(at: below, workspace: &workspace).cost
      #expect(abs(change / (2 * step) - gradient[index]) < 1e-4 * scale, "unknown \(index)")
    }
  }

  @Test("without noise the minimum is the truth", arguments: 1...6 as ClosedRange<UInt64>)
  func minimum(seed: UInt64) {
    let walk = Walk(seed: seed)
    var state = walk.start(seed: seed + 20, sigma: 0.1)
    var workspace = ChainWorkspace()
    var covariance = [Double](
      repeating: 0, count: walk.problem.denseCount * walk.problem.denseCount)
    let result = walk.problem.fit(
      &state, iterations: 30, tolerance: 1e-10, covariance: &covariance, workspace: &workspace)
    #expect(result.hasConverged)
    // Priors and the odometry's noise pull a little.
    let atTruth = walk.problem.cost(at: walk.truth, workspace: &workspace).cost
    #expect(result.cost <= atTruth + 1e-6)
    #expect(workspace.inlierShares.allSatisfy { $0 > 0.9 })
    // Errors in sigmas of the peers' places and of the last knot.
    let size = walk.problem.denseCount
    let first = state.count - size
    for index in 0..<size {
      let variance = covariance[index * size + index]
      #expect(variance > 0)
      let error = state[first + index] - walk.truth[first + index]
      #expect(error * error < 9 * variance, "unknown \(index): \(error)")
    }
  }

  @Test(
    "a sigma from the minimum the cost is higher by half a nat at least",
    arguments: 1...4 as ClosedRange<UInt64>)
  func rise(seed: UInt64) {
    let walk = Walk(seed: seed)
    var state = walk.start(seed: seed, sigma: 0.05)
    let size = walk.problem.denseCount
    var (workspace, covariance) = (ChainWorkspace(), [Double](repeating: 0, count: size * size))
    let result = walk.problem.fit(
      &state, iterations: 30, tolerance: 1e-10, covariance: &covariance, workspace: &workspace)
    let first = state.count - size
    for index in 0..<size {
      for sign in [-1.0, 1] {
        var other = state
        other[first + index] += sign * covariance[index * size + index].squareRoot()
        let cost = walk.problem.cost(at: other, workspace: &workspace).cost
        // A little less where the probability of an outlier rises.
        #expect(cost > result.cost + 0.4, "unknown \(index)")
      }
    }
  }

  @Test(
    "a peer that is held along a direction stays there, and costs what its variance says",
    arguments: [0.0, 0.3, 1.2])
  func held(tilt: Double) {
    let walk = Walk(seed: 3)
    let first = ChainLayout().peer(1, knots: walk.knots)
    let direction = Vector3(sin(tilt) * 0.6, cos(tilt), sin(tilt) * 0.8)
    let size = walk.problem.denseCount
    var (workspace, none) = (ChainWorkspace(), [Double]())
    var covariance = [Double](repeating: 0, count: size * size)
    var free = walk.truth
    let minimum = walk.problem.fit(
      &free, iterations: 30, tolerance: 1e-10, covariance: &covariance, workspace: &workspace)
    let solution = JointSolution(
      problem: walk.problem, state: free, covariance: covariance, cost: minimum.cost,
      device: .nowhere)
    func place(_ state: [Double]) -> Double {
      direction.dot(Vector3(state[first], state[first + 1], state[first + 2]))
    }
    // A fit begins where the peer is held: only steps that lower the cost are made.
    var state = free
    state[first] += 0.1 * direction.x
    state[first + 1] += 0.1 * direction.y
    state[first + 2] += 0.1 * direction.z
    let held = place(state)
    let result = walk.problem.fit(
      &state, held: ChainProblem.Hold(member: 1, direction: direction, place: held),
      iterations: 30, tolerance: 1e-10, covariance: &none, workspace: &workspace)
    #expect(abs(place(state) - held) < 1e-4)
    // Of a Gaussian: half of the squared distance over the variance along the direction.
    let expected = 0.5 * 0.1 * 0.1 / solution.variance(of: 1, along: direction)
    #expect((0.8...1.25).contains((result.cost - minimum.cost) / expected))
  }

  @Test(
    "where other peers' cells are frozen a held peer costs nearly what it costs in a full fit",
    arguments: [(members: 1, within: 1e-9), (members: 3, within: 0.05)])
  func frozen(members: Int, within tolerance: Double) {
    let walk = Walk(seed: 3, members: members)
    let live = members - 1
    var (workspace, none) = (ChainWorkspace(), [Double]())
    var minimum = walk.truth
    let free = walk.problem.fit(
      &minimum, iterations: 30, tolerance: 1e-12, covariance: &none, workspace: &workspace)
    walk.problem.freeze(except: live, at: minimum, workspace: &workspace)
    // There nothing has changed.
    var state = minimum
    let same = walk.problem.fit(
      &state, live: live, iterations: 30, tolerance: 1e-9, covariance: &none, workspace: &workspace)
    #expect(abs(same.cost - free.cost) < 1e-6)
    #expect(zip(state, minimum).allSatisfy { abs($0 - $1) < 1e-4 })
    // Held half a metre away.
    let first = ChainLayout().peer(live, knots: walk.knots)
    let hold = ChainProblem.Hold(
      member: live, direction: Vector3(1, 0, 0), place: minimum[first] + 0.5)
    let rises = [Int?.none, live].map { live in
      var state = minimum
      state[first] += 0.5
      return walk.problem.fit(
        &state, held: hold, live: live, iterations: 30, tolerance: 1e-12, covariance: &none,
        workspace: &workspace
      ).cost - free.cost
    }
    #expect(rises[0] > 0.5)
    #expect(abs(rises[1] - rises[0]) < tolerance * rises[0], "\(rises)")
  }

  @Test("marginalising the past changes nothing", arguments: 1...4 as ClosedRange<UInt64>)
  func marginalization(seed: UInt64) throws {
    let whole = Walk(seed: seed)
    var (workspace, none) = (ChainWorkspace(), [Double]())
    var state = whole.truth
    _ = whole.problem.fit(
      &state, iterations: 30, tolerance: 1e-12, covariance: &none, workspace: &workspace)
    var covariance = [Double](
      repeating: 0, count: whole.problem.denseCount * whole.problem.denseCount)
    let joint = whole.problem.fit(
      &state, iterations: 30, tolerance: 1e-12, covariance: &covariance, workspace: &workspace)
    #expect(joint.hasConverged)
    // The first half, linearised where all of it is at its best.
    let past = Walk(seed: seed, part: 0...4)
    let peers = state[(ChainLayout.driftSize * whole.knots)...]
    var anchor = MarginalPrior()
    let isRegular = past.problem.marginalize(
      at: Array(state[..<(ChainLayout.driftSize * 5)]) + peers, into: &anchor, workspace: &workspace
    )
    #expect(isRegular)
    let present = Walk(seed: seed, part: 4...7, anchor: anchor)
    var rest = Array(state[(ChainLayout.driftSize * 4)...])
    var restCovariance = covariance
    let result = present.problem.fit(
      &rest, iterations: 30, tolerance: 1e-12, covariance: &restCovariance, workspace: &workspace)
    #expect(result.hasConverged)
    for (index, value) in rest.enumerated() {
      #expect(abs(value - state[ChainLayout.driftSize * 4 + index]) < 1e-4, "unknown \(index)")
    }
    for (index, value) in restCovariance.enumerated() {
      #expect(abs(value - covariance[index]) < 1e-6 + 1e-3 * abs(covariance[index]))
    }
  }

  @Test("a peer that leaves an anchor is marginalised")
  func removal() throws {
    let walk = Walk(seed: 5)
    var workspace = ChainWorkspace()
    var anchor = MarginalPrior()
    #expect(walk.problem.marginalize(at: walk.truth, into: &anchor, workspace: &workspace))
    let before = try #require(inverse(anchor.information, anchor.size))
    anchor.remove(member: 1, ChainLayout())
    let after = try #require(inverse(anchor.information, anchor.size))
    let kept = Array(0..<9) + Array(14..<19)
    #expect(anchor.size == kept.count)
    for (row, oldRow) in kept.enumerated() {
      for (column, oldColumn) in kept.enumerated() {
        let expected = before[oldColumn * 19 + oldRow]
        #expect(abs(after[column * 14 + row] - expected) < 1e-6 * (1 + abs(expected)))
      }
    }
  }

  /// The inverse of a positive definite matrix by Gauss and Jordan's method.
  private func inverse(_ matrix: [Double], _ size: Int) -> [Double]? {
    var (a, result) = (matrix, [Double](repeating: 0, count: size * size))
    for index in 0..<size { result[index * size + index] = 1 }
    for pivot in 0..<size {
      let value = a[pivot * size + pivot]
      guard value > 0 else { return nil }
      for column in 0..<size {
        a[column * size + pivot] /= value
        result[column * size + pivot] /= value
      }
      for row in 0..<size where row != pivot {
        let factor = a[pivot * size + row]
        for column in 0..<size {
          a[column * size + row] -= factor * a[column * size + pivot]
          result[column * size + row] -= factor * result[column * size + pivot]
        }
      }
    }
    return result
  }
}
