// SPDX-License-Identifier: Apache-2.0
internal import CNearbyKernels
package import NearbyGeometry

/// A chain in which radio and odometry err as they do, as the kernels have it: peers at rest, the odometry's
/// drift, and errors of ranges that depend on the place, on time and on the direction in the device.
///
/// A range is
///
///     z = (1 + s) ‖δ‖ + b + e(place) + c(time) + Σₘ aₘ cos mα + bₘ sin mα,   δ = Rᵀ (p - x) - l,
///
/// with the peer's place p, its constant error b, the device's place x and rotation R as the drift has
/// corrected them, the antenna's place l and the azimuth α of δ. The place error e of each peer is a
/// Gauss-Markov process along the path, c a random walk. Azimuths and elevations have a constant error for each
/// peer. With the radio's clock ahead by τ a sample was measured τ earlier.
package struct ErrorChain: Sendable {
  /// Where the unknowns stand: of each knot the drift (place and yaw), of each peer its place error, and the
  /// common error; behind the knots of each peer place and constant errors, then what is common to all.
  package struct Layout: Hashable, Sendable {
    package let knotCount: Int
    package let peerCount: Int

    package static let driftSize = 4
    package static let peerSize = 6
    package static let harmonicCount = 8
    package static let commonSize = 6 + harmonicCount

    /// Unknowns of a knot.
    package var blockSize: Int { Self.driftSize + peerCount + 1 }
    /// Within a block.
    package func placeError(_ peer: Int) -> Int { Self.driftSize + peer }
    package var commonError: Int { Self.driftSize + peerCount }
    /// The first unknown behind the knots.
    package var border: Int { blockSize * knotCount }
    package var borderSize: Int { Self.peerSize * peerCount + Self.commonSize }
    /// Within the border.
    package func peer(_ peer: Int) -> Int { Self.peerSize * peer }
    package var rangeScale: Int { Self.peerSize * peerCount }
    package var clockOffset: Int { rangeScale + 1 }
    package var antenna: Int { rangeScale + 2 }
    package var turnRate: Int { rangeScale + 5 }
    package var harmonics: Range<Int> { rangeScale + 6..<borderSize }
    package var stateCount: Int { border + borderSize }
  }

  /// A knot, and what is assumed of the interval to the next one.
  package struct Knot: Sendable {
    /// The device in the odometry's world, and the odometry's step to the next knot.
    package var place: Vector3
    package var step: Vector3
    package var seconds: Double
    /// The drift's variances: per horizontal axis and along gravity, m², and of yaw, rad².
    package var horizontalVariance = 1.0
    package var verticalVariance = 1.0
    package var yawVariance = 1.0
    /// Of place errors the correlation with the next knot, and the variance of what is new there, m².
    package var placeCorrelation = 0.0
    package var placeInnovation = 1.0
    /// The variance of the common error's walk, m².
    package var commonVariance = 1.0

    package init(place: Vector3, step: Vector3, seconds: Double) {
      (self.place, self.step, self.seconds) = (place, step, seconds)
    }
  }

  /// What was measured of a peer at once, of the kinds range, azimuth and elevation.
  package struct Cell: Sendable {
    package var worldFromDevice: RigidTransform
    /// The device's velocity, m/s, and turn rate, rad/s, in the odometry's world.
    package var velocity: Vector3
    package var turnRate: Vector3
    package var values: (Double?, Double?, Double?)
    package var variances: (Double, Double, Double)
    package var knot: Int
    /// The share of the interval from its knot to the next.
    package var share: Double
    package var peer: Int

    package init(
      worldFromDevice: RigidTransform, velocity: Vector3, turnRate: Vector3,
      values: (Double?, Double?, Double?), variances: (Double, Double, Double), knot: Int,
      share: Double, peer: Int
    ) {
      (self.worldFromDevice, self.velocity, self.turnRate) = (worldFromDevice, velocity, turnRate)
      (self.values, self.variances) = (values, variances)
      (self.knot, self.share, self.peer) = (knot, share, peer)
    }
  }

  /// A mean and a variance.
  package struct Prior: Hashable, Sendable {
    package var mean: Double
    package var variance: Double

    package init(mean: Double = 0, sigma: Double) {
      (self.mean, variance) = (mean, sigma * sigma)
    }
  }

  /// An innovation, and its posterior variance.
  package struct Moment: Hashable, Sendable {
    package var value: Double
    package var variance: Double

    package init(value: Double, variance: Double) {
      (self.value, self.variance) = (value, variance)
    }
  }

  /// What the measurements say of the variances that were assumed.
  package struct Moments: Sendable {
    /// Of each interval as many as a block has unknowns.
    package fileprivate(set) var innovations: [Moment]
    /// Of each cell by kind: the residual, the probability of no outlier, and of an angle its posterior variance.
    package fileprivate(set) var residuals: [(value: Double, certainty: Double, variance: Double)]
    /// Of all behind the knots, column by column.
    package fileprivate(set) var covariance: [Double]
    package fileprivate(set) var firstVariances: [Double]
    /// The logarithm of the evidence by Laplace's approximation, up to a constant.
    package fileprivate(set) var logEvidence = 0.0
  }

  package let layout: Layout
  package var knots: [Knot]
  /// In the order of their knots.
  package var cells: [Cell]
  /// Of each unknown behind the knots.
  package var priors: [Prior]
  /// The variance of a place error at the first knot, m².
  package var firstPlaceVariance = 1.0
  /// By kind the prior probability of an outlier and their density.
  package var outlierShares = (0.0, 0.0, 0.0)
  package var outlierDensities = (0.1, 1.0, 1.0)

  /// Makes a chain of at least two knots.
  package init(knots: [Knot], cells: [Cell], peerCount: Int) {
    precondition(knots.count > 1, "a chain has two knots at least")
    layout = Layout(knotCount: knots.count, peerCount: peerCount)
    (self.knots, self.cells) = (knots, cells)
    priors = Array(repeating: Prior(sigma: 1), count: layout.borderSize)
  }

  /// The cost at a state: minus the logarithm of the posterior density, up to a constant.
  package func cost(at state: [Double], _ workspace: inout [Double]) -> Double {
    var step: [Double] = []
    var moments: Moments?
    return evaluate(at: state, step: &step, moments: &moments, &workspace)
  }

  /// The step of Gauss and Newton's method from a state, and the cost there; `nil` where the information is
  /// singular.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - moments: Become those at the state, unless they are `nil`.
  ///   - workspace: Grows as is needed.
  /// - Returns: Both.
  package func step(
    from state: [Double], moments: inout Moments?, _ workspace: inout [Double]
  ) -> (step: [Double], cost: Double)? {
    var step = [Double](repeating: 0, count: layout.stateCount)
    let cost = evaluate(at: state, step: &step, moments: &moments, &workspace)
    return cost.isFinite ? (step, cost) : nil
  }

  /// Moments of zeros.
  package var noMoments: Moments {
    Moments(
      innovations: Array(
        repeating: Moment(value: 0, variance: 0), count: layout.knotCount * layout.blockSize),
      residuals: Array(repeating: (0, 1, 0), count: 3 * cells.count),
      covariance: Array(repeating: 0, count: layout.borderSize * layout.borderSize),
      firstVariances: Array(repeating: 0, count: layout.blockSize))
  }

  private func evaluate(
    at state: [Double], step: inout [Double], moments: inout Moments?, _ workspace: inout [Double]
  ) -> Double {
    precondition(state.count == layout.stateCount, "a state of another chain")
    let (knots, cells) = (kernelKnots, kernelCells)
    let (means, variances) = (priors.map(\.mean), priors.map(\.variance))
    var found = moments
    let cost = unsafe knots.withUnsafeBufferPointer { knots in
      unsafe cells.withUnsafeBufferPointer { cells in
        unsafe means.withUnsafeBufferPointer { means in
          unsafe variances.withUnsafeBufferPointer { variances in
            var problem = unsafe nearby_error_problem(
              knots: knots.baseAddress, cells: cells.baseAddress, knot_count: Int32(knots.count),
              cell_count: Int32(cells.count), peer_count: Int32(layout.peerCount),
              first_place_variance: firstPlaceVariance, outlier_share: outlierShares,
              outlier_density: outlierDensities, mean: means.baseAddress,
              variance: variances.baseAddress)
            let needed = unsafe Int(nearby_error_workspace(&problem))
            if workspace.count < needed { workspace = [Double](repeating: 0, count: needed) }
            return unsafe Self.run(&problem, state, &step, &found, &workspace)
          }
        }
      }
    }
    moments = found
    return cost
  }

  private static func run(
    _ problem: inout nearby_error_problem, _ state: [Double], _ step: inout [Double],
    _ moments: inout Moments?, _ workspace: inout [Double]
  ) -> Double {
    unsafe state.withUnsafeBufferPointer { state in
      unsafe step.withUnsafeMutableBufferPointer { step in
        unsafe workspace.withUnsafeMutableBufferPointer { workspace in
          guard var found = moments else {
            return unsafe nearby_error_chain(
              &problem, state.baseAddress, step.isEmpty ? nil : step.baseAddress, nil,
              workspace.baseAddress)
          }
          var logEvidence = 0.0
          let cost = unsafe found.innovations.withUnsafeMutableBytes { innovations in
            unsafe found.residuals.withUnsafeMutableBytes { residuals in
              unsafe found.covariance.withUnsafeMutableBufferPointer { covariance in
                unsafe found.firstVariances.withUnsafeMutableBufferPointer { first in
                  var out = unsafe nearby_error_moments(
                    innovations: innovations.baseAddress?.assumingMemoryBound(to: Double.self),
                    residuals: residuals.baseAddress?.assumingMemoryBound(to: Double.self),
                    first_variances: first.baseAddress, covariance: covariance.baseAddress,
                    log_evidence: 0)
                  let cost = unsafe nearby_error_chain(
                    &problem, state.baseAddress, step.isEmpty ? nil : step.baseAddress, &out,
                    workspace.baseAddress)
                  logEvidence = unsafe out.log_evidence
                  return cost
                }
              }
            }
          }
          found.logEvidence = logEvidence
          moments = found
          return cost
        }
      }
    }
  }

  private var kernelKnots: [nearby_error_knot] {
    knots.map { knot in
      nearby_error_knot(
        place: (knot.place.x, knot.place.y, knot.place.z),
        step: (knot.step.x, knot.step.y, knot.step.z),
        horizontal_variance: knot.horizontalVariance, vertical_variance: knot.verticalVariance,
        yaw_variance: knot.yawVariance, place_correlation: knot.placeCorrelation,
        place_innovation: knot.placeInnovation, common_variance: knot.commonVariance,
        seconds: knot.seconds)
    }
  }

  private var kernelCells: [nearby_error_cell] {
    cells.map { cell in
      let (place, rotation) = (cell.worldFromDevice.translation, cell.worldFromDevice.rotation)
      let (x, y, z) = (rotation.xAxis, rotation.yAxis, rotation.zAxis)
      let values = cell.values
      return nearby_error_cell(
        device: (place.x, place.y, place.z),
        rotation: (x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z),
        velocity: (cell.velocity.x, cell.velocity.y, cell.velocity.z),
        turn: (cell.turnRate.x, cell.turnRate.y, cell.turnRate.z),
        value: (values.0 ?? 0, values.1 ?? 0, values.2 ?? 0), variance: cell.variances,
        share: cell.share, knot: Int32(cell.knot), peer: Int32(cell.peer),
        present: (values.0 == nil ? 0 : 1) | (values.1 == nil ? 0 : 2) | (values.2 == nil ? 0 : 4))
    }
  }
}
