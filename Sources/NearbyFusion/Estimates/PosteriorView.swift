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
  /// The whole covariance, split along the line to the heaviest hypothesis.
  var best: LineOfSight { get }

  /// The share of the hypotheses around the heaviest: a mode may be held by several.
  func weightAroundBest(within radius: Double) -> Double
  /// Mean and standard deviation of the distance, second order in the position's spread.
  func distance() -> (mean: Double, sigma: Double)
  /// The direction to the mean, in device axes, and its angular standard deviation per axis.
  func direction() -> (unit: Vector3, sigma: Double)
  /// Circular mean and circular standard deviation of the horizontal angle.
  func horizontalAngle() -> (mean: Double, sigma: Double)
  /// The probabilities that the peer is above and below the level of the device.
  func verticalProbabilities(sameLevelWithin limit: Double) -> (above: Double, below: Double)
}

/// What decides whether a posterior has converged: how wide it may be and is, metres, and the share of
/// the mode that holds the heaviest hypothesis.
struct PosteriorWidth {
  var requiredSigma: Double
  var totalSigma: Double
  var dominantModeWeight: Double
}

extension PosteriorView {
  @inline(__always)
  func width(_ configuration: FusionConfiguration) -> PosteriorWidth {
    let required = max(
      configuration.convergence.sigmaFloor,
      configuration.convergence.sigmaPerDistance * best.length)
    let total =
      configuration.odometry.isPlanar ? covariance.xx + covariance.zz : covariance.trace
    return PosteriorWidth(
      requiredSigma: required, totalSigma: total.squareRoot(),
      dominantModeWeight: weightAroundBest(within: required))
  }

  @inline(__always)
  func progress(
    _ width: PosteriorWidth, spread: DeviceSpread, isPlanar: Bool
  ) -> ConvergenceProgress {
    // Across in the horizontal plane; straight above or below any two axes will do.
    let along = best.unit
    let level = (along.x * along.x + along.z * along.z).squareRoot()
    let isSteep = level <= 0.05
    let across = isSteep ? Vector3(1, 0, 0) : (1 / level) * Vector3(-along.z, 0, along.x)
    let up = isSteep ? along.cross(across).normalized : along.cross(across)
    return ConvergenceProgress(
      requiredSigma: width.requiredSigma, totalSigma: width.totalSigma,
      lineOfSightSigma: best.alongVariance.squareRoot(),
      horizontalSigma: covariance.quadraticForm(across).squareRoot(),
      verticalSigma: isPlanar ? 0 : covariance.quadraticForm(up).squareRoot(),
      dominantModeWeight: width.dominantModeWeight,
      parallaxRadians: spread.transverse(to: along) / best.length)
  }

  /// Mean and standard deviation of the peer's height over the device.
  @inline(__always)
  func heightDifference() -> (mean: Double, sigma: Double) {
    (mean.y - worldFromDevice.translation.y, max(covariance.yy, 0).squareRoot())
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
    let scale = 1 / (2 * variance).squareRoot()
    return (
      normalTail(beyond: (limit - height) * scale), normalTail(beyond: (limit + height) * scale)
    )
  }
}
