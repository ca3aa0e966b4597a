// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The covariances around a mode: of peers relative to the device, drift included.
struct Marginals: Sendable {
  private let problem: SmoothingProblem
  private let state: SmoothingState
  private let covariances: ChainProblem.Covariances

  /// The height of what has none, metres: as the filter has it.
  private static let planarHeightSigma = 0.05

  /// Takes them around a mode: at all knots, or at the last one only.
  init(_ solution: SmoothingSolution, atAllKnots: Bool = true) {
    (problem, state) = (solution.problem, solution.state)
    var workspace = ChainWorkspace()
    let atKnots =
      atAllKnots
      ? problem.chain().covariances(
        at: state.unknowns(problem.layout), includingKnots: true, workspace: &workspace) : nil
    covariances = atKnots ?? solution.covariances
  }

  /// One standard deviation of a peer's range bias and scale.
  func errorSigmas(ofPeer peer: Int) -> (bias: Double, scale: Double) {
    let first = problem.layout.peer(peer, knots: 1)
    func sigma(_ index: Int) -> Double {
      max(0, element(first + index, first + index, knot: problem.knots.count - 1)).squareRoot()
    }
    return (
      problem.ranging.rangeBiasSigma == 0 ? 0 : sigma(3),
      problem.ranging.rangeScaleSigma == 0 ? 0 : scaleSigma(ofPeer: peer)
    )
  }

  /// One standard deviation of the scale error of a peer's ranges: its own, and that of all ranges.
  private func scaleSigma(ofPeer peer: Int) -> Double {
    let own = problem.layout.peer(peer, knots: 1) + 4
    let indices =
      [own]
      + (problem.layout.constants.first(of: .rangeScale).map { [problem.layout.blockSize + $0] }
        ?? [])
    let variance = indices.reduce(0) { sum, row in
      indices.reduce(sum) { $0 + element(row, $1, knot: problem.knots.count - 1) }
    }
    return max(0, variance).squareRoot()
  }

  /// Where a peer is in the odometry's world as it was at a knot, seconds after it.
  ///
  /// With `u = Rᵀ (x - c)` the derivatives of `d + u` are `Rᵀ` by the peer's place, `-Rᵀ` by the
  /// device's and `-(up × u)` by yaw.
  func position(
    ofPeer peer: Int, knot: Int, secondsSinceKnot seconds: Double
  ) -> (mean: Vector3, covariance: SymmetricMatrix3) {
    let layout = problem.layout
    let turn = YawTurn(state.devices[knot].yawRadians)
    let x = problem.place(ofPeer: peer, knot: knot, secondsSinceKnot: seconds, in: state)
    let u = turn.actBack(x - state.devices[knot].place)
    let mean = problem.knots[knot].place + u

    let axes = [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)].map(turn.actBack)
    var columns: [(index: Int, value: Vector3)] = [(3, Vector3(-u.z, 0, u.x))]
    for axis in 0..<3 {
      columns.append((axis, -axes[axis]))
      if let slot = problem.movingSlots[peer] {
        columns.append((layout.motion(slot) + axis, axes[axis]))
        columns.append((layout.motion(slot) + 3 + axis, seconds * axes[axis]))
      } else {
        columns.append((layout.peer(peer, knots: 1) + axis, axes[axis]))
      }
    }
    var covariance = SymmetricMatrix3.zero
    for (place, a) in columns.enumerated() {
      for b in columns[place...] {
        let element = element(a.index, b.index, knot: knot)
        covariance.addSymmetric(
          a.value, b.value, scale: a.index == b.index ? 0.5 * element : element)
      }
    }
    if problem.isPlanar { covariance.yy += Self.planarHeightSigma * Self.planarHeightSigma }
    return (mean, covariance)
  }

  /// The covariance of two unknowns of a knot and of what is the same at all knots.
  private func element(_ row: Int, _ column: Int, knot: Int) -> Double {
    let (block, size) = (problem.layout.blockSize, problem.layout.peer(problem.peerCount, knots: 1))
    let (low, high) = (min(row, column), max(row, column))
    guard low < block, !covariances.knots.isEmpty else {
      return covariances.dense[low * size + high]
    }
    return covariances.knots[(knot * block + low) * size + high]
  }
}

extension SymmetricMatrix3 {
  /// Adds `scale (a bᵀ + b aᵀ)`.
  fileprivate mutating func addSymmetric(_ a: Vector3, _ b: Vector3, scale: Double) {
    xx += scale * 2 * a.x * b.x
    xy += scale * (a.x * b.y + a.y * b.x)
    xz += scale * (a.x * b.z + a.z * b.x)
    yy += scale * 2 * a.y * b.y
    yz += scale * (a.y * b.z + a.z * b.y)
    zz += scale * 2 * a.z * b.z
  }
}
