// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry

/// Measures how noisy each component of each peer is, and how much each sample tells.
///
/// A stated sigma σ is made of white noise κσ and of an error ωσ that wanders with the viewpoint, with a
/// correlation ρ between samples (``Viewpoint``). From the residuals e of a fit, as shares of σ,
///
///     ω² = Σ ρᵢⱼ eᵢ eⱼ / Σ ρᵢⱼ²  (i ≠ j),    κ² + ω² = mean e²
///
/// each drawn toward a prior as long as there is little to measure it by. A sample's wandering error is
/// its neighbours' too: it holds `r = 1 / Σⱼ ρᵢⱼ` of an independent draw, and its likelihood counts with
/// the power `(κ² + ω²) / (κ² + ω²/r)`. So samples count by the poses there are, and not by how often
/// or how long one was visited.
struct NoiseLearner: Sendable {
  /// The squares of the shares of the stated sigma, for each peer and component.
  private var shares: [InlineArray<3, Shares>]

  private struct Shares: Hashable {
    var white: Double
    var wander: Double
  }

  /// The prior of ω² and of κ², for ranges and for angles, and their weight in independent draws.
  private static let wanderPrior: InlineArray<3, Double> = [0.1, 0.64, 0.64]
  private static let totalPrior = 1.0
  private static let priorDraws = 10.0
  /// The least squares of the shares.
  private static let whiteFloor: InlineArray<3, Double> = [0.04, 0.09, 0.09]
  private static let wanderFloor: InlineArray<3, Double> = [0.01, 0.04, 0.04]
  /// Residuals count with at most so many sigmas.
  private static let mostSigmas = 4.0
  /// Sums over pairs run over so many samples of a peer at most on one side, evenly spread.
  private static let mostNeighbours = 256

  init(peerCount: Int) {
    let prior = InlineArray<3, Shares> { component in
      Shares(
        white: Self.totalPrior - Self.wanderPrior[component], wander: Self.wanderPrior[component])
    }
    shares = Array(repeating: prior, count: peerCount)
  }

  /// Measures around a state and puts what it finds into the observations.
  ///
  /// - Parameters:
  ///   - problem: The problem; the noise in it says which residuals are outliers.
  ///   - state: The state.
  ///   - learnsShares: Whether the residuals are to be trusted; else only viewpoints count.
  mutating func measure(
    _ problem: inout SmoothingProblem, at state: SmoothingState, learnsShares: Bool
  ) {
    for peer in 0..<problem.peerCount {
      for component in 0..<3 {
        let own = problem.observations.indices.filter {
          problem.observations[$0].peer == peer && problem.observations[$0].has(component)
        }
        guard !own.isEmpty else { continue }
        let residuals = own.map { residual(component, of: problem.observations[$0], problem, state) }
        let draws = Self.draws(component, own.map { problem.observations[$0] }, problem, state)
        if learnsShares {
          let found = Self.shares(component, residuals, draws)
          shares[peer][component] = found
        }
        for (index, observation) in own.enumerated() {
          problem.observations[observation].noise[component] = noise(
            component, of: problem.observations[observation], draw: draws.share[index])
        }
      }
    }
  }

  private func noise(
    _ component: Int, of observation: Observation, draw: Double
  ) -> ComponentNoise {
    let share = shares[observation.peer][component]
    let square = observation.sigma[component] * observation.sigma[component]
    let pose = component == 0 ? observation.poseVariance.range : observation.poseVariance.angle
    let all = (share.white + share.wander) * square + pose
    return ComponentNoise(
      variance: all, power: all / ((share.white + share.wander / draw) * square + pose))
  }

  /// A residual as a share of its sigma; `nil` for an outlier.
  private func residual(
    _ component: Int, of observation: Observation, _ problem: SmoothingProblem,
    _ state: SmoothingState
  ) -> Double? {
    let parameters = state.peers[observation.peer]
    let x = problem.place(
      ofPeer: observation.peer, knot: observation.knot,
      secondsSinceKnot: observation.secondsSinceKnot, in: state)
    let innovation = SmoothingProblem.predict(
      component, of: observation,
      peerAt: state.position(
        ofPeerAt: x, knot: observation.knot, device: problem.knots[observation.knot].place),
      bias: parameters.rangeBias, scale: parameters.rangeScale
    ).innovation
    let inlier = problem.likelihood(
      component, innovation: innovation, variance: observation.noise[component].variance,
      outlierShare: observation.outlierShare[component]
    ).inlier
    guard inlier >= 0.5 else { return nil }
    let share = innovation / observation.sigma[component]
    return min(max(share, -Self.mostSigmas), Self.mostSigmas)
  }

  /// The pairs of one peer's samples: each with some of the others.
  private struct Draws {
    /// How much of an independent draw each sample holds.
    var share: [Double]
    /// The samples on the other side of each pair, and for each of those all correlations.
    var others: [Int]
    var correlation: [[Double]]
  }

  private static func draws(
    _ component: Int, _ own: [Observation], _ problem: SmoothingProblem, _ state: SmoothingState
  ) -> Draws {
    let views = own.map { Viewpoint($0, in: problem, at: state) }
    let every = (own.count + mostNeighbours - 1) / mostNeighbours
    let others = Array(stride(from: 0, to: own.count, by: every))
    var sums = [Double](repeating: 0, count: own.count)
    var correlations: [[Double]] = []
    for other in others {
      let correlation = views.map { $0.correlation(component, with: views[other]) }
      for index in own.indices { sums[index] += Double(every) * correlation[index] }
      correlations.append(correlation)
    }
    return Draws(
      share: sums.map { 1 / max(1, $0) }, others: others, correlation: correlations)
  }

  private static func shares(
    _ component: Int, _ residuals: [Double?], _ draws: Draws
  ) -> Shares {
    var (total, weight) = (0.0, 0.0)
    for (index, residual) in residuals.enumerated() {
      guard let residual else { continue }
      total += draws.share[index] * residual * residual
      weight += draws.share[index]
    }
    total = (priorDraws * totalPrior + total) / (priorDraws + weight)

    var (product, pairs) = (0.0, 0.0)
    for (place, other) in draws.others.enumerated() {
      guard let a = residuals[other] else { continue }
      for (index, b) in residuals.enumerated() where index != other {
        guard let b else { continue }
        let correlation = draws.correlation[place][index]
        let both = draws.share[index] * draws.share[other]
        product += both * correlation * a * b
        pairs += both * correlation * correlation
      }
    }
    let measured = pairs > 0 ? product / pairs : 0
    // Pairs of which hardly any have something in common say little.
    let known = min(weight, pairs * Double(residuals.count) / Double(draws.others.count))
    let prior = wanderPrior[component]
    let wander = (priorDraws * prior * total + known * measured) / (priorDraws + known)
    let bounded = min(max(wander, wanderFloor[component]), total)
    return Shares(white: max(total - bounded, whiteFloor[component]), wander: bounded)
  }
}
