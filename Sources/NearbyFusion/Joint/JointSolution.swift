// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A minimum of a joint problem.
struct JointSolution: Sendable, Codable {
  var problem: ChainProblem
  var state: [Double]
  /// That of the last knot and all peers, column by column.
  var covariance: [Double]
  var cost: Double
  /// The device at the last knot.
  var device: TrajectoryPoint

  /// The last knot and the peers.
  private var dense: ArraySlice<Double> {
    state[(problem.layout.blockSize * (problem.knotCount - 1))...]
  }

  /// Whether the restored state has a number for each unknown of the last knot and of the border.
  var isLargeEnough: Bool {
    problem.isPriorConsistent && state.count >= problem.denseCount
      && covariance.count == problem.denseCount * problem.denseCount
  }

  /// Whether the restored problem can be solved again from its state.
  var isComplete: Bool { problem.isConsistent && state.count == problem.stateCount }

  /// The mode of a member in the odometry's world at the last knot.
  func mode(of member: Int) -> JointPosterior.Mode {
    JointPosterior.Mode(
      of: member, problem.layout, in: dense, covariance, device: device.worldFromDevice)
  }

  /// A direction of the fixed world in the odometry's at the last knot.
  func inOdometry(_ direction: Vector3) -> Vector3 {
    YawTurn(dense[dense.startIndex + 3]).actBack(direction)
  }

  /// The place of a member in the fixed world.
  func place(of member: Int) -> Vector3 {
    let first = problem.layout.peer(member, knots: problem.knotCount)
    return Vector3(state[first], state[first + 1], state[first + 2])
  }

  /// The covariance of that place, m².
  func covariance(of member: Int) -> SymmetricMatrix3 {
    let (first, size) = (problem.layout.peer(member, knots: 1), problem.denseCount)
    func entry(_ row: Int, _ column: Int) -> Double {
      covariance[(first + column) * size + first + row]
    }
    return SymmetricMatrix3(
      xx: entry(0, 0), xy: entry(0, 1), xz: entry(0, 2), yy: entry(1, 1), yz: entry(1, 2),
      zz: entry(2, 2))
  }

  /// The same solution with a member elsewhere.
  mutating func move(_ member: Int, to place: Vector3) {
    let first = problem.layout.peer(member, knots: problem.knotCount)
    (state[first], state[first + 1], state[first + 2]) = (place.x, place.y, place.z)
  }

  /// Solves the problem again from the state as it is.
  ///
  /// - Parameters:
  ///   - live: The only member whose cells are linearised anew (``ChainProblem``); `nil` for all.
  ///   - iterations: The most iterations.
  ///   - tolerance: A step that lowers the cost by less, in nats, is the last.
  ///   - workspace: Memory of the fit.
  mutating func refit(
    live: Int? = nil, iterations: Int, tolerance: Double, _ workspace: inout ChainWorkspace
  ) {
    cost =
      problem.fit(
        &state, live: live, iterations: iterations, tolerance: tolerance, covariance: &covariance,
        workspace: &workspace
      ).cost
  }

  /// The variance of a member's place along a direction, m².
  func variance(of member: Int, along direction: Vector3) -> Double {
    let n = [direction.x, direction.y, direction.z]
    let first = problem.layout.peer(member, knots: 1)
    var sum = 0.0
    for row in 0..<3 {
      for column in 0..<3 {
        sum +=
          n[row] * n[column] * covariance[(first + column) * problem.denseCount + first + row]
      }
    }
    return sum
  }

  /// The sum of the variances of a member's place along some directions, m².
  func variance(of member: Int, along directions: [Vector3]) -> Double {
    directions.reduce(0) { $0 + variance(of: member, along: $1) }
  }
}
