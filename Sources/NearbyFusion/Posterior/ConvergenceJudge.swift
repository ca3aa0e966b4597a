// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Decides whether a posterior has converged, and if not, why.
///
/// Everything follows from the posterior, nothing from timers: converged when one mode holds
/// ``ConvergenceConfiguration/dominantModeWeight`` and the root of the trace of the position's
/// covariance is at most max(floor, ratio × distance); lost at ``ConvergenceConfiguration/lossFactor``
/// times that.
struct ConvergenceJudge {
  var configuration: ConvergenceConfiguration
  /// Whether the peer was converged before.
  var wasConverged: Bool
  /// What limits the odometry.
  var odometryLimits: ConvergenceReasons
  /// Whether every recent value was faulty, or none has come.
  var lacksSignal: Bool
  /// Whether the odometry has stopped telling where the device is.
  var lacksPoses = false
  /// Whether the track may be believed at all, however narrow it is.
  var isProven = true

  @inline(__always)
  func judge(_ progress: ConvergenceProgress) -> Convergence {
    let width = PosteriorWidth(
      requiredVariance: progress.requiredSigma * progress.requiredSigma,
      totalVariance: progress.totalSigma * progress.totalSigma,
      dominantModeWeight: progress.dominantModeProbability)
    if holds(width) { return .converged }
    return .notConverged(
      isResolved(width) ? outerReasons : reasons(progress, isNarrow: isNarrow(width)))
  }

  /// Whether it has converged; only the reasons why not need more than this.
  @inline(__always)
  func holds(_ width: PosteriorWidth) -> Bool {
    isResolved(width) && !lacksSignal && !lacksPoses
  }

  /// Whether the posterior itself is as narrow and as sure as convergence asks for.
  @inline(__always)
  private func isResolved(_ width: PosteriorWidth) -> Bool {
    let share = wasConverged ? 0.95 : 1
    let isSingle = width.dominantModeWeight >= share * configuration.dominantModeWeight
    return isNarrow(width) && isSingle && isProven
  }

  @inline(__always)
  private func isNarrow(_ width: PosteriorWidth) -> Bool {
    let factor = wasConverged ? configuration.lossFactor : 1
    return width.totalVariance <= width.requiredVariance * factor * factor
  }

  /// The reasons that lie in the radio and the odometry, and not in the posterior.
  private var outerReasons: ConvergenceReasons {
    var reasons = odometryLimits
    if lacksSignal { reasons.insert(.insufficientSignalStrength) }
    if lacksPoses { reasons.insert(.limitedTracking) }
    return reasons
  }

  private func reasons(_ progress: ConvergenceProgress, isNarrow: Bool) -> ConvergenceReasons {
    var reasons = outerReasons
    // Three directions share what is allowed. When all are within their share, what is missing is
    // the choice between modes: then the widest direction tells them apart.
    let share = progress.requiredSigma / 3.0.squareRoot()
    let widest = max(progress.lineOfSightSigma, progress.horizontalSigma, progress.verticalSigma)
    let limit = isNarrow ? widest : min(share, widest)
    let isWideAlong = progress.lineOfSightSigma >= limit
    let isWideAcross = progress.horizontalSigma >= limit
    let isWideUp = progress.verticalSigma >= limit
    if isWideAcross { reasons.insert(.insufficientHorizontalSweep) }
    if isWideUp { reasons.insert(.insufficientVerticalSweep) }
    let hardlyMoved = progress.parallaxRadians < configuration.movementParallaxRadians
    if isWideAlong && !(isWideAcross || isWideUp) || isWideAcross && isWideUp && hardlyMoved {
      reasons.insert(.insufficientMovement)
    }
    if reasons.isEmpty { reasons.insert(.insufficientSignalStrength) }
    return reasons
  }
}
