// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry

/// Measures how noisy each component of each peer is, from the residuals of a fit.
///
/// As in the filter a stated sigma σ is split in two shares: κ of white noise, from the differences of
/// consecutive residuals, and τ of all errors together, from the residuals themselves. The rest,
/// `τ² - κ²`, wanders, and tells as much as the wandering has been renewed.
struct NoiseLearner: Sendable {
  /// The shares of the stated sigma, for each peer and component.
  private var shares: [InlineArray<3, Shares>]

  private struct Shares: Hashable {
    var white = 0.9
    var total = 1.0
  }

  /// Weights of the prior shares, in samples.
  private static let whitePriorWeight = 15.0
  private static let totalPriorWeight = 30.0
  /// Residuals count with at most so many sigmas, and shares stay below.
  private static let mostSigmas = 4.0
  private static let mostShare = 3.0
  /// The least white noise and the least wandering error, ranges and angles.
  private static let whiteFloor: InlineArray<3, Double> = [0.2, 0.5, 0.5]
  private static let wanderFloor: InlineArray<3, Double> = [0.2, 0.8, 0.8]

  init(peerCount: Int) {
    shares = Array(repeating: InlineArray(repeating: Shares()), count: peerCount)
  }

  /// Puts the noise as it is known into the observations.
  func apply(to problem: inout SmoothingProblem) {
    for index in problem.observations.indices {
      let observation = problem.observations[index]
      for component in 0..<3 where observation.has(component) {
        let sigma = observation.sigma[component]
        let share = shares[observation.peer][component]
        let white = max(share.white, Self.whiteFloor[component])
        let floor = Self.wanderFloor[component]
        let wander = max(share.total * share.total - white * white, floor * floor)
        let pose = component == 0 ? observation.poseVariance.range : observation.poseVariance.angle
        let all = (white * white + wander) * sigma * sigma + pose
        // What a sample tells: its white noise is its own, its wandering error its neighbours' too.
        let told =
          (white * white + wander / max(observation.renewal[component], 1e-9)) * sigma * sigma
          + pose
        problem.observations[index].noise[component] = ComponentNoise(
          variance: all, power: all / told)
      }
    }
  }

  /// Measures anew around a mode.
  mutating func learn(from solution: SmoothingSolution) {
    let problem = solution.problem
    let state = solution.state
    let turns = state.devices.map { YawTurn($0.yawRadians) }
    let peers = problem.peerCount
    var white = Array(
      repeating: InlineArray<3, RunningMean>(
        repeating: RunningMean(prior: 0.9, weight: Self.whitePriorWeight)), count: peers)
    var total = Array(
      repeating: InlineArray<3, RunningMean>(
        repeating: RunningMean(prior: 1, weight: Self.totalPriorWeight)), count: peers)
    var last = Array(repeating: InlineArray<3, Double?>(repeating: nil), count: peers)

    for observation in problem.observations {
      let peer = observation.peer
      let parameters = state.peers[peer]
      let x = problem.place(
        ofPeer: peer, knot: observation.knot, secondsSinceKnot: observation.secondsSinceKnot,
        in: state)
      let place =
        problem.knots[observation.knot].place
        + turns[observation.knot].actBack(x - state.devices[observation.knot].place)
      for component in 0..<3 where observation.has(component) {
        let innovation = SmoothingProblem.predict(
          component, of: observation, peerAt: place, bias: parameters.rangeBias,
          scale: parameters.rangeScale
        ).innovation
        let inlier = problem.likelihood(
          component, innovation: innovation, variance: observation.noise[component].variance,
          outlierShare: observation.outlierShare[component]
        ).inlier
        guard inlier >= 0.5 else {
          last[peer][component] = nil
          continue
        }
        let sigma = observation.sigma[component]
        if let last = last[peer][component] {
          let difference = min(abs(innovation - last) / sigma, Self.mostSigmas)
          white[peer][component].add(difference * (Double.pi.squareRoot() / 2), weight: 1)
        }
        last[peer][component] = innovation
        let memory = observation.memory[component]
        total[peer][component].add(
          min(abs(innovation) / sigma, Self.mostSigmas) * (Double.pi / 2).squareRoot(),
          weight: 1 - memory * memory)
      }
    }
    for peer in 0..<peers {
      for component in 0..<3 {
        shares[peer][component] = Shares(
          white: min(white[peer][component].value, Self.mostShare),
          total: total[peer][component].value)
      }
    }
  }

  /// A weighted mean with a prior.
  private struct RunningMean {
    var value: Double
    private var weight: Double

    init(prior: Double, weight: Double) {
      value = prior
      self.weight = weight
    }

    mutating func add(_ sample: Double, weight added: Double) {
      guard added > 0 else { return }
      weight += added
      value += added / weight * (sample - value)
    }
  }
}
