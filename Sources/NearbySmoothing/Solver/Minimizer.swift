// SPDX-License-Identifier: Apache-2.0
import NearbyFusion

/// A mode of the posterior.
struct SmoothingSolution: Sendable {
  var problem: SmoothingProblem
  var state: SmoothingState
  /// Those of the last knot and of what is the same at all knots.
  var covariances: ChainProblem.Covariances
  /// The logarithm of the evidence around the mode, by Laplace's approximation, up to what is common
  /// to all models of the same samples.
  var logEvidence: Double
}

/// Finds modes of the posterior.
///
/// Each measured component is weighted by its probability of being no outlier, which makes every step
/// one of expectation and maximisation: it never goes up. From far off, variances are at first taken
/// too large and then narrowed to what they are (graduated non-convexity, Yang et al. 2020).
struct Minimizer: Sendable {
  /// By what the variances are widened, in turn; the last is 1.
  var widenings: [Double] = [1]
  /// Steps with each widening but the last, and with the last.
  var coarseSteps = 4
  var fineSteps = 40
  /// Done when a step promises to lower the cost by less than this: 1e-3 leaves some hundredths of a
  /// standard deviation.
  var tolerance = 1e-3

  /// How often the probabilities of faults and a fit with these take turns.
  private static let settlingRounds = 3

  /// From far off.
  static let fromAfar = Minimizer(widenings: [100, 25, 6, 2, 1])
  /// From what is nearly a mode.
  static let fromNearby = Minimizer(widenings: [1])
  /// From a mode, to the last digit.
  static let polish = Minimizer(widenings: [1], tolerance: 1e-9)

  /// The mode downhill from a point; `nil` where the equations cannot be solved.
  func mode(_ problem: SmoothingProblem, from start: SmoothingState) -> SmoothingSolution? {
    let layout = problem.layout
    var chain = problem.chain()
    var unknowns = start.unknowns(layout)
    var (workspace, none) = (ChainWorkspace(), [Double]())
    for widening in widenings {
      chain.widening = widening
      let result = chain.fit(
        &unknowns, iterations: widening == widenings.last ? fineSteps : coarseSteps,
        tolerance: tolerance, covariance: &none, workspace: &workspace)
      guard result.cost.isFinite else { return nil }
    }
    // Faults of ranges last, as in the joint fit.
    for _ in 0..<(problem.errorSizes == nil ? 0 : Self.settlingRounds) {
      chain.setFaultPriors(at: unknowns, problem.faults, workspace: &workspace)
      let result = chain.fit(
        &unknowns, iterations: fineSteps, tolerance: tolerance, covariance: &none,
        workspace: &workspace)
      guard result.cost.isFinite else { return nil }
    }
    guard
      let covariances = chain.covariances(
        at: unknowns, includingKnots: false, workspace: &workspace)
    else { return nil }
    // As many Gaussians as unknowns: the powers of 2π cancel.
    let logEvidence =
      -covariances.cost - chain.faultCost
      + 0.5 * (chain.logPriorInformation - covariances.logDeterminant)
    return SmoothingSolution(
      problem: problem,
      state: SmoothingState(
        unknowns, layout, knots: problem.knots.count, peers: problem.peerCount),
      covariances: covariances, logEvidence: logEvidence)
  }
}
