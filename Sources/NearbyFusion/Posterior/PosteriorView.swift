// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The posterior of one peer's position, as seen from the device at one moment.
///
/// Every output is a moment of the posterior: nothing is taken from the heaviest hypothesis alone but
/// the line of sight along which the covariance is split.
protocol PosteriorView {
  var worldFromDevice: RigidTransform { get }
  /// The moments of the whole, drift since the newest sample included.
  var mean: Vector3 { get }
  var covariance: SymmetricMatrix3 { get }
  /// From the device to the heaviest hypothesis.
  var toBest: Vector3 { get }
  /// The whole covariance, split along that line: taken once and handed on, for it costs a root.
  var best: LineOfSight { get }

  /// The share of the hypotheses around the heaviest: a mode may be held by several.
  func weightAroundBest(withinSquared squaredRadius: Double) -> Double
  /// Mean and variance of the distance, second order in the position's spread.
  func distance(_ best: LineOfSight) -> (mean: Double, variance: Double)
  /// The direction to the mean, in device axes, and its angular variance per axis.
  func direction(_ best: LineOfSight) -> (unit: Vector3, variance: Double)
  /// Circular mean and circular variance of the horizontal angle.
  func horizontalAngle() -> (mean: Double, variance: Double)
  /// The probabilities that the peer is above and below the level of the device.
  func verticalProbabilities(sameLevelWithin limit: Double) -> (above: Double, below: Double)
}

/// What decides whether a posterior has converged: how wide it may be and is, m², and the share of the
/// mode that holds the heaviest hypothesis.
///
/// In squares, so that no root is taken for a sample that changes no verdict.
struct PosteriorWidth {
  var requiredVariance: Double
  var totalVariance: Double
  var dominantModeWeight: Double
}

extension PosteriorView {
  @inline(__always)
  func width(_ configuration: FusionConfiguration) -> PosteriorWidth {
    let floor = configuration.convergence.sigmaFloor
    let share = configuration.convergence.sigmaPerDistance
    let required = max(floor * floor, share * share * toBest.dot(toBest))
    return PosteriorWidth(
      requiredVariance: required, totalVariance: totalVariance(configuration),
      dominantModeWeight: weightAroundBest(withinSquared: required))
  }

  /// The trace of the covariance; in a planar world that of its plane.
  @inline(__always)
  private func totalVariance(_ configuration: FusionConfiguration) -> Double {
    configuration.odometry.isPlanar ? covariance.xx + covariance.zz : covariance.trace
  }

  @inline(__always)
  func progress(
    _ best: LineOfSight, spread: DeviceSpread, dominantModeWeight: Double,
    _ configuration: FusionConfiguration
  ) -> ConvergenceProgress {
    let isPlanar = configuration.odometry.isPlanar
    // Across in the horizontal plane; straight above or below any two axes will do.
    let along = best.unit
    let isSteep = along.x * along.x + along.z * along.z <= 0.0025
    let across = isSteep ? Vector3(1, 0, 0) : Vector3(-along.z, 0, along.x)
    let up = along.cross(across)
    // Roots cost what divisions do: four at once, and no axis is made a unit vector with one.
    let sigmas = SIMD4(
      best.alongVariance, covariance.quadraticForm(across) / across.dot(across),
      isPlanar ? 0 : covariance.quadraticForm(up) / up.dot(up), spread.squaredTransverse(to: along)
    ).squareRoot()
    return ConvergenceProgress(
      requiredSigma: configuration.convergence.requiredSigma(at: best.length),
      totalSigma: totalVariance(configuration).squareRoot(),
      lineOfSightSigma: sigmas[0], horizontalSigma: sigmas[1], verticalSigma: sigmas[2],
      dominantModeProbability: dominantModeWeight, parallaxRadians: sigmas[3] / best.length)
  }

  /// Mean and variance of the peer's height over the device.
  @inline(__always)
  func heightDifference() -> (mean: Double, variance: Double) {
    (mean.y - worldFromDevice.translation.y, covariance.yy)
  }

  /// The horizontal angle of a Gaussian and its variance.
  @inline(__always)
  func bearing(
    _ toPeer: Vector3, _ covariance: SymmetricMatrix3, _ heading: Heading
  ) -> (angle: Double, variance: Double) {
    let level = max(toPeer.x * toPeer.x + toPeer.z * toPeer.z, 1e-6)
    let across = Vector3(-toPeer.z, 0, toPeer.x)
    return (heading.bearing(of: toPeer), covariance.quadraticForm(across) / (level * level))
  }

  /// The probabilities that a height exceeds a limit, and that it is below minus the limit.
  @inline(__always)
  func tails(
    _ height: Double, _ variance: Double, _ limit: Double
  ) -> (above: Double, below: Double) {
    let (up, down) = (limit - height, limit + height)
    // Where the tails are zero or one, as most often, neither root nor division is needed.
    if min(up * up, down * down) > 18 * variance { return (up < 0 ? 1 : 0, down < 0 ? 1 : 0) }
    // Neither root nor division waits for the other.
    let scale = variance.squareRoot() * (0.5.squareRoot() / variance)
    let tails = normalTails(beyond: SIMD2(up, down) * scale)
    return (tails.x, tails.y)
  }
}
