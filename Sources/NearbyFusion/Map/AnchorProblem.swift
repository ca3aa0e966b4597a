// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A range to an anchor, with the device when it was measured.
struct AnchorObservation: Sendable, Codable {
  var anchor: Int
  var distance: Double
  var variance: Double
  var device: TrajectoryPoint
  var antennaInWorld: Vector3
}

/// The error that all ranges to one anchor have in common.
struct AnchorError: Sendable, Codable {
  /// The variance of what does not depend on the distance: the radio's bias, the anchor's place, m².
  var variance: Double
  /// The standard deviation of the scale error.
  var scaleSigma: Double
}

/// A place in the site and a turn that explain the ranges.
struct AnchorSolution: Sendable, Codable {
  var position: Vector3
  var turnRadians: Double
  var cost = Double.infinity
  /// The share of the ranges that it takes for inliers.
  var inlierShare = 0.0
  var positionCovariance = SymmetricMatrix3.zero
  var turnVariance = Double.infinity

  private static let up = Vector3(0, 1, 0)

  var turn: Rotation { Rotation(angleRadians: turnRadians, about: Self.up) }

  /// The same world seen from another place of the device.
  func moved(from a: TrajectoryPoint, to b: TrajectoryPoint) -> AnchorSolution {
    let way = b.worldFromDevice.translation - a.worldFromDevice.translation
    return AnchorSolution(position: position + turn.act(way), turnRadians: turnRadians)
  }

  func siteFromWorld(_ device: TrajectoryPoint) -> RigidTransform {
    RigidTransform(
      rotation: turn, translation: position - turn.act(device.worldFromDevice.translation))
  }
}

/// The least-squares problem of one fix: place and turn against all ranges of the window.
struct AnchorProblem {
  private let anchors: [Vector3]
  private let terms: [Term]
  /// The variance of each anchor's constant error, m².
  private let biasVariances: [Double]
  private let isPlanar: Bool

  private struct Term {
    var anchor: Int
    var distance: Double
    var variance: Double
    /// The antenna from the newest place of the device, in the odometry's axes.
    var way: Vector3
  }

  /// Residuals beyond so many sigmas count linearly.
  private static let hinge = 2.5
  private static let mostIterations = 25
  private static let turnStarts = 8
  /// How far above and below the anchors it is looked for, metres.
  private static let heightStarts = [0.0, -2.5, 2.5]
  /// What is known of place (m⁻²) and turn (rad⁻²) before any range; in a planar world the height stays as
  /// it is.
  private static let priorInformation = Parameters(1e-6, 1e-6, 1e-6, 0.1)
  private static let planarInformation = Parameters(1e-6, 1e8, 1e-6, 0.1)
  /// A solution that takes fewer of the ranges for inliers explains nothing.
  static let leastInlierShare = 0.6

  typealias Parameters = SIMD4<Double>

  init(
    _ window: [AnchorObservation], anchors: [Vector3], errors: [AnchorError],
    seenFrom device: TrajectoryPoint, isPlanar: Bool
  ) {
    self.anchors = anchors
    self.isPlanar = isPlanar
    let here = device.worldFromDevice.translation
    terms = window.map { observation in
      let way = observation.antennaInWorld - here
      let drift = OdometryDrift(from: observation.device, to: device, isPlanar: isPlanar)
      return Term(
        anchor: observation.anchor, distance: observation.distance,
        variance: observation.variance + drift.displacement(atSquaredDistance: way.dot(way))
          + observation.device.interpolationVariance, way: way)
    }
    var sums = [Double](repeating: 0, count: anchors.count)
    var counts = sums
    for term in terms {
      sums[term.anchor] += term.distance
      counts[term.anchor] += 1
    }
    biasVariances = anchors.indices.map { index in
      let scale = errors[index].scaleSigma * sums[index] / max(counts[index], 1)
      return max(errors[index].variance + scale * scale, 1e-8)
    }
  }

  /// Whether a solution takes most of the ranges for inliers.
  func explains(_ solution: AnchorSolution) -> Bool {
    solution.inlierShare >= Self.leastInlierShare
  }

  /// The solutions from starts all round and at three heights.
  func solveFromEverywhere() -> [AnchorSolution] {
    // In the order of the anchors, so that rounding is the same in every run.
    let heard = Set(terms.map(\.anchor)).sorted()
    guard !heard.isEmpty else { return [] }
    let sum = heard.reduce(Vector3.zero) { $0 + anchors[$1] }
    let middle = sum / Double(heard.count)
    let heights = isPlanar ? [0] : Self.heightStarts
    return heights.flatMap { height in
      (0..<Self.turnStarts).compactMap { step in
        solve(
          from: AnchorSolution(
            position: middle + Vector3(0.1, height, 0.1),
            turnRadians: 2 * .pi * Double(step) / Double(Self.turnStarts)))
      }
    }
  }

  /// Levenberg and Marquardt's method.
  ///
  /// - Parameter start: Where to begin.
  /// - Returns: The local minimum, `nil` when there is none.
  func solve(from start: AnchorSolution) -> AnchorSolution? {
    var parameters = Parameters(
      start.position.x, start.position.y, start.position.z, start.turnRadians)
    var normal = equations(at: parameters)
    var damping = 1e-3
    for _ in 0..<Self.mostIterations {
      guard let step = normal.step(damping: damping) else { return nil }
      let next = equations(at: parameters + step)
      if next.cost <= normal.cost {
        parameters += step
        damping = max(damping / 8, 1e-9)
        let gain = normal.cost - next.cost
        normal = next
        if gain < 1e-6 * (1 + normal.cost), (step * step).sum() < 1e-8 { break }
      } else {
        damping *= 8
        if damping > 1e9 { break }
      }
    }
    guard normal.cost.isFinite, let covariance = normal.covariance() else { return nil }
    return AnchorSolution(
      position: Vector3(parameters[0], parameters[1], parameters[2]),
      turnRadians: parameters[3].wrappedAngle, cost: normal.cost,
      inlierShare: Double(normal.inliers) / Double(max(terms.count, 1)),
      positionCovariance: SymmetricMatrix3(
        xx: covariance[0][0], xy: covariance[0][1], xz: covariance[0][2], yy: covariance[1][1],
        yz: covariance[1][2], zz: covariance[2][2]),
      turnVariance: covariance[3][3])
  }

  /// The prediction of a range and its derivative by place and turn.
  ///
  /// `d = |x + R(ψ) p - a|`, `∂d/∂x = u`, `∂d/∂ψ = u · (up × R(ψ) p)` with u from the anchor to the
  /// antenna. At the anchor itself there is no derivative: it is taken upward.
  ///
  /// - Parameters:
  ///   - parameters: x, then ψ.
  ///   - way: p.
  ///   - anchor: a.
  /// - Returns: The distance and its derivative.
  static func prediction(
    _ parameters: Parameters, way: Vector3, anchor: Vector3
  ) -> (distance: Double, derivative: Parameters) {
    let up = Vector3(0, 1, 0)
    let turned = Rotation(angleRadians: parameters[3], about: up).act(way)
    let line = Vector3(parameters[0], parameters[1], parameters[2]) + turned - anchor
    let distance = line.length
    let unit = distance > 1e-9 ? line / distance : up
    return (distance, Parameters(unit.x, unit.y, unit.z, unit.dot(up.cross(turned))))
  }

  /// The normal equations with the anchors' constant errors eliminated:
  /// `A - Σ s sᵀ / (W + 1/B)`, and the same of right-hand side and cost.
  private func equations(at parameters: Parameters) -> NormalEquations {
    var sums = [(weight: Double, residual: Double, derivative: Parameters)](
      repeating: (0, 0, .zero), count: anchors.count)
    var normal = NormalEquations(
      information: isPlanar ? Self.planarInformation : Self.priorInformation)
    for term in terms {
      let (distance, derivative) = Self.prediction(
        parameters, way: term.way, anchor: anchors[term.anchor])
      let residual = term.distance - distance
      let spread = (term.variance + biasVariances[term.anchor]).squareRoot()
      let share = min(1, Self.hinge * spread / max(abs(residual), 1e-12))
      let weight = share / term.variance
      normal.add(derivative, residual, weight: weight)
      // Huber's cost is twice the hinge's line where the weighted square is one of it.
      if share < 1 {
        normal.cost += (1 - share) * Self.hinge * Self.hinge / share
      } else {
        normal.inliers += 1
      }
      sums[term.anchor].weight += weight
      sums[term.anchor].residual += weight * residual
      sums[term.anchor].derivative += weight * derivative
    }
    for (index, sum) in sums.enumerated() where sum.weight > 0 {
      let divisor = sum.weight + 1 / biasVariances[index]
      normal.add(sum.derivative, sum.residual, weight: -1 / divisor)
    }
    return normal
  }
}

/// Four equations with four unknowns, and the cost they come from.
private struct NormalEquations {
  var cost = 0.0
  /// How many ranges are within the hinge.
  var inliers = 0
  private var rows: [SIMD4<Double>]
  private var rightHandSide = SIMD4<Double>.zero

  init(information: SIMD4<Double>) {
    rows = (0..<4).map { row in
      var values = SIMD4<Double>.zero
      values[row] = information[row]
      return values
    }
  }

  /// Adds `w J Jᵀ`, `w J r` and `w r²`.
  mutating func add(_ derivative: SIMD4<Double>, _ residual: Double, weight: Double) {
    for row in 0..<4 { rows[row] += (weight * derivative[row]) * derivative }
    rightHandSide += (weight * residual) * derivative
    cost += weight * residual * residual
  }

  /// The step that solves them with a share of the diagonal added to it.
  func step(damping: Double) -> SIMD4<Double>? {
    var damped = rows
    for row in 0..<4 { damped[row][row] += damping * rows[row][row] }
    return Self.inverse(damped).map { inverse in
      var step = SIMD4<Double>.zero
      for row in 0..<4 { step[row] = (inverse[row] * rightHandSide).sum() }
      return step
    }
  }

  func covariance() -> [SIMD4<Double>]? { Self.inverse(rows) }

  /// Gauss and Jordan's method on a symmetric positive definite matrix, which needs no pivoting.
  private static func inverse(_ matrix: [SIMD4<Double>]) -> [SIMD4<Double>]? {
    var left = matrix
    var right: [SIMD4<Double>] = (0..<4).map { row in
      var unit = SIMD4<Double>.zero
      unit[row] = 1
      return unit
    }
    for pivot in 0..<4 {
      let divisor = left[pivot][pivot]
      guard divisor > 0, divisor.isFinite else { return nil }
      left[pivot] /= divisor
      right[pivot] /= divisor
      for row in 0..<4 where row != pivot {
        let factor = left[row][pivot]
        left[row] -= factor * left[pivot]
        right[row] -= factor * right[pivot]
      }
    }
    return right
  }
}
