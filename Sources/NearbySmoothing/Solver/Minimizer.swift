// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A mode of the posterior, with the equations factorised there.
struct SmoothingSolution: Sendable {
  var problem: SmoothingProblem
  var state: SmoothingState
  var factor: BorderedBandFactor
  /// The logarithm of the evidence around the mode, by Laplace's approximation, up to what is common
  /// to all models of the same samples.
  var logEvidence: Double
}

/// Finds modes of the posterior: Gauss and Newton's method, damped as Levenberg and Marquardt have it.
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

  /// From far off.
  static let fromAfar = Minimizer(widenings: [100, 25, 6, 2, 1])
  /// From what is nearly a mode.
  static let fromNearby = Minimizer(widenings: [1])
  /// From a mode, to the last digit.
  static let polish = Minimizer(widenings: [1], tolerance: 1e-9)

  /// The mode downhill from a point; `nil` where the equations cannot be solved.
  func mode(_ problem: SmoothingProblem, from start: SmoothingState) -> SmoothingSolution? {
    let held = problem.held()
    var state = start
    var damping = 1e-6
    for widening in widenings {
      let isLast = widening == widenings.last
      var here = problem.linearized(at: state, widening: widening)
      here.system.hold(band: held.band, border: held.border)
      var steps = isLast ? fineSteps : coarseSteps
      while steps > 0 {
        steps -= 1
        var damped = here.system
        damped.damp(damping)
        guard let factor = BorderedBandFactor(damped) else {
          damping = max(10 * damping, 1e-6)
          continue
        }
        let step = factor.solution
        let promise = zip(step, here.system.gradient).reduce(0) { $0 + $1.0 * $1.1 }
        let next = problem.moved(state, by: step)
        var there = problem.linearized(at: next, widening: widening)
        if there.cost <= here.cost {
          there.system.hold(band: held.band, border: held.border)
          (state, here) = (next, there)
          damping = max(damping / 10, 1e-12)
          if promise < tolerance { break }
        } else {
          // Within rounding of the bottom no step goes down.
          if promise < 1e-6 { break }
          damping = max(10 * damping, 1e-6)
        }
      }
    }
    var last = problem.linearized(at: state, widening: 1)
    last.system.hold(band: held.band, border: held.border)
    guard let factor = BorderedBandFactor(last.system) else { return nil }
    let free = (held.band + held.border).count { !$0 }
    return SmoothingSolution(
      problem: problem, state: state, factor: factor,
      logEvidence: -last.cost - 0.5 * factor.logDeterminant + 0.5 * Double(free) * log(2 * .pi))
  }
}
