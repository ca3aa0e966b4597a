// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The update of one hypothesis as a textbook has it, slow and plain: the reader's way into the filter,
/// and what the kernels are tested against.
///
/// For each measurement `z = h(x) + n`, one scalar after the other, with `H = ∂h/∂x` at the mean:
///
///     ν = z - h(x) - ½ tr(∇²h P)                  innovation, second order
///     S = H P Hᵀ + R + ½ tr((∇²h P)²)             its variance
///     γ = P(inlier | ν)                           the fault model's mixture; at rest zero below one half
///     x ← x + γ K ν,   K = P Hᵀ / S
///     P ← P - γ (S - (1 - γ) ν²) K Kᵀ             moments of the exact posterior mixture
///
/// The curvature's part of S is not noise that averages out. In the gain it is therefore scaled up until
/// no number of samples makes the prediction surer than the curvature allows.
///
/// Source: Bar-Shalom and Tse 1975 (one candidate); Gilbert 1960 and Elliott 1963 for the chain.
struct ReferenceUpdate {
  /// Position (3), range scale, constant errors and wandering errors of what a radio measures, the
  /// offset of height differences.
  var mean: [Double]
  /// Row by row.
  var covariance: [Double]
  /// The probability that the last value of each kind was a fault.
  var faultProbability = PerKind(repeating: 0.0)
  /// The last innovation of a range.
  var rangeResidual = 1e9
  /// Of the newest update.
  var inlierProbability = PerKind(repeating: 1.0)
  var innovation = PerKind(repeating: 0.0)
  var innovationVariance = PerKind(repeating: Double.infinity)
  var logLikelihood = 0.0

  /// What was measured, from where, and how it may be wrong.
  struct Sample {
    var pose: AntennaPose
    /// `nil` for what was not measured.
    var value: PerKind<Double?>
    /// Of the white noise.
    var variance: PerKind<Double>
    /// The values before; NaN before the first.
    var previous: PerKind<Double>
    /// The probability that a fault begins, and that one has lasted.
    var onset: PerKind<Double>
    var faultCorrelation: Double
    /// The mean excess of a range without line of sight, and the stationary variance of one that lasts.
    var rangeExcess: Double
    var lastingExcessVariance: Double
    var fieldOfViewRadians: Double
  }

  /// One hypothesis before a sample.
  init(mean: [Double], covariance: [Double]) {
    (self.mean, self.covariance) = (mean, covariance)
  }

  /// Updates with one measurement after the other.
  ///
  /// - Parameters:
  ///   - sample: What was measured.
  ///   - isCurved: Whether to linearise azimuth, elevation and range, in this order since angles are less
  ///     curved, each at the mean that the one before has left, to second order. Else range, azimuth and
  ///     elevation are linearised at the prediction, to first order. All other kinds come before them,
  ///     each at the mean that the one before has left.
  mutating func update(_ sample: Sample, isCurved: Bool) {
    var prediction = mean
    let together: [MeasurementKind] =
      isCurved ? [.azimuth, .elevation, .range] : [.range, .azimuth, .elevation]
    let others = MeasurementKind.allCases.filter { !together.contains($0) }
    for kind in others + together {
      let isOther = others.contains(kind)
      guard let value = sample.value[kind] else { continue }
      var model = Linearization(
        kind, from: sample.pose, at: isCurved || isOther ? mean : prediction, covariance)
      if !isCurved, !isOther { (model.curvatureMean, model.curvatureVariance) = (0, 0) }
      var innovation = value - model.predicted - model.curvatureMean
      // h(x) ≈ h(prediction) + H (x - prediction)
      for state in mean.indices where !isCurved && !isOther {
        innovation -= model.jacobian[state] * (mean[state] - prediction[state])
      }
      use(model, innovation: kind.wrapped(innovation), kind, sample)
      if isOther { prediction = mean }
    }
  }

  private mutating func use(
    _ model: Linearization, innovation nu: Double, _ kind: MeasurementKind, _ sample: Sample
  ) {
    let n = mean.count
    let crossCovariance = (0..<n).map { row in
      (0..<n).reduce(0.0) { $0 + covariance[row * n + $1] * model.jacobian[$1] }
    }
    let stateVariance = (0..<n).reduce(0.0) { $0 + model.jacobian[$1] * crossCovariance[$1] }
    let (noise, curvature) = (sample.variance[kind], model.curvatureVariance)
    let variance = stateVariance + noise + curvature
    let slack = max(stateVariance - curvature, 0) + 1e-3 * stateVariance + 1e-300
    let gainVariance = stateVariance + noise + curvature * stateVariance / slack

    let (inlier, density) = mixture(kind, nu, variance: variance, sample)
    let probability = inlier / density
    let weight = probability < 0.5 && n < StateIndex.movingCount ? 0 : probability
    for row in 0..<n {
      mean[row] += weight * crossCovariance[row] * nu / gainVariance
      for column in 0..<n {
        covariance[row * n + column] -=
          weight * (gainVariance - (1 - weight) * nu * nu) / (gainVariance * gainVariance)
          * crossCovariance[row] * crossCovariance[column]
      }
    }
    faultProbability[kind] = 1 - probability
    inlierProbability[kind] = probability
    innovation[kind] = nu
    innovationVariance[kind] = variance
    if kind == .range { rangeResidual = nu }
    logLikelihood += log(density)
  }

  /// The joint density of an innovation and an inlier, and the density of the innovation.
  private func mixture(
    _ kind: MeasurementKind, _ nu: Double, variance: Double, _ sample: Sample
  ) -> (inlier: Double, all: Double) {
    let begins = sample.onset[kind] * (1 - faultProbability[kind])
    let lasts = sample.faultCorrelation * faultProbability[kind]
    let fresh: Double
    let repeated: Double
    if kind == .range {
      // One-sided, with an edge as soft as the innovation is uncertain.
      let edge = 1 + exp(-1.702 * nu / variance.squareRoot())
      fresh =
        (FaultModel.rangeExcessShare * exp(-max(nu, 0) / sample.rangeExcess) / edge
          + FaultModel.rangeAnythingShare / FaultModel.rangeReach) / sample.rangeExcess
      let correlation = sample.faultCorrelation
      let excess = sample.lastingExcessVariance * (1 - correlation * correlation)
      repeated =
        FaultModel.rangeRepeatedShare
        * Self.normal(nu - rangeResidual, variance + sample.variance[kind] + excess)
        + FaultModel.rangeRedrawnShare * fresh
    } else {
      let value = sample.value[kind] ?? 0
      let anything = 1 / (kind.faultSpan(fieldOfView: sample.fieldOfViewRadians) ?? .infinity)
      if kind == .azimuth {
        // Measured ±π - z instead of z.
        let mirrored = (nu + .pi - 2 * value).wrappedAngle
        fresh =
          FaultModel.angleAnythingShare * anything
          + FaultModel.angleMirroredShare * Self.normal(mirrored, variance)
      } else {
        fresh = anything
      }
      let step = kind.wrapped(value - sample.previous[kind])
      let stuck = step.isNaN ? 0 : Self.normal(step, variance + sample.variance[kind])
      repeated = FaultModel.stuckShare * stuck + FaultModel.redrawnShare * fresh
    }
    let inlier = max(1 - begins - lasts, 0) * Self.normal(nu, variance)
    return (inlier, inlier + begins * fresh + lasts * repeated)
  }

  private static func normal(_ x: Double, _ variance: Double) -> Double {
    exp(-0.5 * x * x / variance) / (2 * .pi * variance).squareRoot()
  }
}

/// A measurement model at a state: prediction, Jacobian, and what its curvature adds.
private struct Linearization {
  private(set) var predicted: Double
  private(set) var jacobian: [Double]
  /// ½ tr(∇²h P) and ½ tr((∇²h P)²).
  var curvatureMean: Double
  var curvatureVariance: Double

  init(
    _ kind: MeasurementKind, from pose: AntennaPose, at mean: [Double], _ covariance: [Double]
  ) {
    let n = mean.count
    func p(_ a: Vector3, _ b: Vector3) -> Double {
      let (u, v) = ([a.x, a.y, a.z], [b.x, b.y, b.z])
      return (0..<9).reduce(0) { $0 + u[$1 / 3] * covariance[$1 / 3 * n + $1 % 3] * v[$1 % 3] }
    }
    let v = Vector3(mean[0], mean[1], mean[2]) - pose.antenna
    let model =
      switch kind {
      case .range: Geometry(rangeOf: v, scale: 1 + mean[StateIndex.rangeScale], p)
      case .azimuth: Geometry(azimuthOf: v, pose, p)
      case .elevation: Geometry(elevationOf: v, pose, p)
      case .heightDifference: Geometry(heightOf: v)
      }
    predicted = model.value + mean[StateIndex.wander(kind)]
    (curvatureMean, curvatureVariance) = (model.curvatureMean, model.curvatureVariance)
    jacobian = [Double](repeating: 0, count: n)
    (jacobian[0], jacobian[1], jacobian[2]) = (
      model.gradient.x, model.gradient.y, model.gradient.z
    )
    jacobian[StateIndex.rangeScale] = kind == .range ? v.length : 0
    jacobian[StateIndex.wander(kind)] = 1
    if let bias = StateIndex.bias(kind) {
      predicted += mean[bias]
      jacobian[bias] = 1
    }
  }
}

/// A model without the radio's errors, for the vector `v` from the antenna to the peer; `p(a, b)` is
/// aᵀ P b with the covariance P of the position.
private struct Geometry {
  var value: Double
  /// By the position.
  var gradient: Vector3
  var curvatureMean: Double
  var curvatureVariance: Double

  /// z = (1 + s) ‖v‖, ∇²‖v‖ = (I - u uᵀ) / ‖v‖.
  init(rangeOf v: Vector3, scale: Double, _ p: (Vector3, Vector3) -> Double) {
    let range = v.length
    let u = v / range
    value = scale * range
    gradient = scale * u
    let across = u.cross(abs(u.y) < 0.9 ? Vector3(0, 1, 0) : Vector3(1, 0, 0)).normalized
    let above = u.cross(across)
    let (aa, bb, ab) = (p(across, across), p(above, above), p(across, above))
    curvatureMean = 0.5 * (aa + bb) / range
    curvatureVariance = 0.5 * (aa * aa + bb * bb + 2 * ab * ab) / (range * range)
  }

  /// z = v.y, which is linear.
  init(heightOf v: Vector3) {
    value = v.y
    gradient = Vector3(0, 1, 0)
    (curvatureMean, curvatureVariance) = (0, 0)
  }

  /// z = atan2(δ.x, -δ.z), ∇²h = -(t rᵀ + r tᵀ) / ρ², t across and r along in the device's plane.
  init(azimuthOf v: Vector3, _ pose: AntennaPose, _ p: (Vector3, Vector3) -> Double) {
    let (right, back) = (v.dot(pose.right), v.dot(pose.back))
    let level = (right * right + back * back).squareRoot()
    let t = (right * pose.back - back * pose.right) / level
    let r = (right * pose.right + back * pose.back) / level
    value = atan2(right, -back)
    gradient = t / level
    let square = level * level
    curvatureMean = -p(t, r) / square
    curvatureVariance = (p(t, r) * p(t, r) + p(t, t) * p(r, r)) / (square * square)
  }

  /// z = atan2(δ.y, ρ), ∇²h = -(t rᵀ + r tᵀ) / ‖δ‖² - tan(z) a aᵀ / ‖δ‖², t up and a across.
  init(elevationOf v: Vector3, _ pose: AntennaPose, _ p: (Vector3, Vector3) -> Double) {
    let (right, up, back) = (v.dot(pose.right), v.dot(pose.up), v.dot(pose.back))
    let level = (right * right + back * back).squareRoot()
    let range = v.length
    let forward = (right * pose.right + back * pose.back) / level
    let t = (level * pose.up - up * forward) / range
    let r = v / range
    let a = (right * pose.back - back * pose.right) / level
    value = atan2(up, level)
    gradient = t / range
    let square = range * range
    let bend = 0.5 * p(a, a) * up / (level * square)
    curvatureMean = -p(t, r) / square - bend
    // Without the covariance of the two parts.
    curvatureVariance =
      (p(t, r) * p(t, r) + p(t, t) * p(r, r)) / (square * square) + 2 * bend * bend
  }
}
