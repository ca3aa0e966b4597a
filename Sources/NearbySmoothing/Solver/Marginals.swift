// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The covariances around a mode: of peers relative to the device, drift included.
struct Marginals: Sendable {
  private let solution: SmoothingSolution
  private let inverse: BorderedBandFactor.SelectedInverse
  /// The knot whose block is at hand.
  private var knot = -1
  private var block: [Double] = []

  /// The height of what has none, metres: as the filter has it.
  private static let planarHeightSigma = 0.05

  init(_ solution: SmoothingSolution) {
    self.solution = solution
    inverse = solution.factor.selectedInverse()
  }

  private var problem: SmoothingProblem { solution.problem }

  /// One standard deviation of a peer's range bias and scale.
  func errorSigmas(ofPeer peer: Int) -> (bias: Double, scale: Double) {
    let first = SmoothingProblem.peerSize * peer
    let held = problem.ranging
    return (
      held.rangeBiasSigma == 0
        ? 0 : max(0, inverse.border(first + 3, first + 3)).squareRoot(),
      held.rangeScaleSigma == 0
        ? 0 : max(0, inverse.border(first + 4, first + 4)).squareRoot()
    )
  }

  /// Where a peer is in the odometry's world as it was at a knot, seconds after it.
  ///
  /// With `u = Rᵀ (x - c)` the derivatives of `d + u` are `Rᵀ` by the peer's place, `-Rᵀ` by the
  /// device's and `-(up × u)` by yaw. The covariance of those seven (or, for a moving peer, ten)
  /// unknowns is a block of the inverse.
  mutating func position(
    ofPeer peer: Int, knot: Int, secondsSinceKnot seconds: Double
  ) -> (mean: Vector3, covariance: SymmetricMatrix3) {
    let state = solution.state
    let turn = YawTurn(state.devices[knot].yawRadians)
    let x = problem.place(ofPeer: peer, knot: knot, secondsSinceKnot: seconds, in: state)
    let u = turn.actBack(x - state.devices[knot].place)
    let mean = problem.knots[knot].place + u
    if knot != self.knot {
      self.knot = knot
      block = inverse.block(at: knot * problem.blockSize, count: problem.blockSize)
    }

    // The columns of the Jacobian: by band unknowns of the block, then by the peer's in the border.
    let isFixed = !problem.drifts || knot == problem.knots.count - 1
    let size = problem.blockSize
    let axes = [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)].map(turn.actBack)
    var columns: [(index: Int, isInBand: Bool, value: Vector3)] = []
    if !isFixed {
      for axis in 0..<3 where !problem.isPlanar || axis != 1 {
        columns.append((axis, true, -axes[axis]))
      }
      columns.append((3, true, Vector3(-u.z, 0, u.x)))
    }
    for axis in 0..<3 where !problem.isPlanar || axis != 1 {
      if let slot = problem.movingSlots[peer] {
        let first = SmoothingProblem.driftSize + SmoothingProblem.motionSize * slot
        columns.append((first + axis, true, axes[axis]))
        if seconds != 0 { columns.append((first + 3 + axis, true, seconds * axes[axis])) }
      } else {
        columns.append((SmoothingProblem.peerSize * peer + axis, false, axes[axis]))
      }
    }

    var covariance = SymmetricMatrix3.zero
    for (place, a) in columns.enumerated() {
      for b in columns[place...] {
        let element =
          switch (a.isInBand, b.isInBand) {
          case (true, true): block[a.index * size + b.index]
          case (false, false): inverse.border(a.index, b.index)
          case (true, false): inverse.coupling(knot * size + a.index, b.index)
          case (false, true): inverse.coupling(knot * size + b.index, a.index)
          }
        let isSame = a.index == b.index && a.isInBand == b.isInBand
        covariance.addSymmetric(a.value, b.value, scale: isSame ? 0.5 * element : element)
      }
    }
    if problem.isPlanar { covariance.yy += Self.planarHeightSigma * Self.planarHeightSigma }
    return (mean, covariance)
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
