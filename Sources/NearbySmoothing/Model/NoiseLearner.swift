// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Measures how noisy each component of each peer is, and how much each sample tells.
///
/// A stated sigma σ is made of white noise κσ and of an error that wanders with the viewpoint, with a
/// correlation ρ between samples (`CorrelatedNoise`). Both are measured as in the filter, by
/// `NoisePrior`. A sample's wandering error is its neighbours' too: it holds
/// `r = 1 / Σⱼ ρᵢⱼ` of an independent draw, and its likelihood counts with the power
/// `τ² / (κ² + (τ² - κ²)/r)`. So samples count by the poses there are, and not by how often or how long
/// one was visited.
struct NoiseLearner: Sendable {
  /// The squares of the shares of the stated sigma, for each peer and component.
  private var shares: [PerKind<Shares>]

  private struct Shares: Hashable {
    var white: Double
    var wander: Double

    /// The part of the variance that wanders.
    var wanderPart: Double { wander / (white + wander) }

    init(_ prior: NoisePrior, white: Double, total: Double) {
      let white = prior.whiteShare(measured: white)
      self.white = white * white
      wander = prior.wanderVarianceShare(measuredTotal: total, white: white)
    }
  }

  /// Sums over pairs run over so many samples of a peer at most on one side, evenly spread.
  private static let mostNeighbours = 256

  private let priors: PerKind<NoisePrior>
  private let heightOffset: HeightOffset

  init(peerCount: Int, _ ranging: RangingConfiguration) {
    heightOffset = HeightOffset(ranging)
    let priors = PerKind<NoisePrior> { NoisePrior(of: $0, ranging) }
    self.priors = priors
    let first = PerKind<Shares> { kind in
      Shares(priors[kind], white: priors[kind].whiteShare, total: NoisePrior.totalShare)
    }
    shares = Array(repeating: first, count: peerCount)
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
      for kind in MeasurementKind.allCases {
        let own = problem.observations.indices.filter {
          problem.observations[$0].cell.peer == peer && problem.observations[$0][kind] != nil
        }
        guard !own.isEmpty else { continue }
        let views = own.map { Viewpoint(problem.observations[$0], in: problem, at: state) }
        if learnsShares {
          let residuals = own.map {
            residual(kind, of: problem.observations[$0], problem, state)
          }
          shares[peer][kind] = learntShares(
            of: kind, residuals, views, wanderPart: shares[peer][kind].wanderPart)
        }
        let neighbours = neighbours(kind, views)
        for (index, observation) in own.enumerated() {
          problem.observations[observation].noise[kind] = noise(
            kind, of: problem.observations[observation], neighbours[index],
            kind == .range ? problem.placeErrors(at: problem.observations[observation]) : nil)
        }
      }
    }
  }

  private func noise(
    _ kind: MeasurementKind, of observation: Observation, _ neighbours: Neighbours,
    _ placeErrors: (variance: Double, bridge: Double)?
  ) -> MeasurementNoise {
    let share = shares[observation.cell.peer][kind]
    let sigma = observation[kind]?.sigma ?? 1
    let square = sigma * sigma
    let pose = kind.isAngle ? observation.poseVariance.angle : observation.poseVariance.range
    let wander = kind.wanderingVariance(part: share.wander * square, heightOffset)
    let white = share.white * square
    guard let placeErrors else {
      return MeasurementNoise(white: white, wander: wander, pose: pose, draw: 1 / neighbours.all)
    }
    let left = RangeErrorSizes.unexplained(
      of: wander, placeErrors: placeErrors, neighbours: neighbours.all, near: neighbours.near)
    return MeasurementNoise(
      white: white, wander: left.variance, pose: pose, draw: left.variance / left.effectiveVariance)
  }

  /// A residual as a share of its sigma; `nil` for an outlier.
  private func residual(
    _ kind: MeasurementKind, of observation: Observation, _ problem: SmoothingProblem,
    _ state: SmoothingState
  ) -> Double? {
    guard let measurement = observation[kind],
      let innovation = problem.residual(kind, of: observation, at: state)
    else { return nil }
    let inlier = problem.inlierProbability(
      kind, of: observation, innovation: innovation, variance: observation.noise[kind].variance)
    guard inlier >= 0.5 else { return nil }
    return innovation / measurement.sigma
  }

  /// The sums of the correlations of a sample's wandering error with those of all samples, itself included.
  private struct Neighbours {
    var all = 0.0
    /// Of the part of a range's error that decorrelates within decimetres.
    var near = 0.0
  }

  /// How much of an independent draw of its wandering error each sample holds.
  func draws(_ kind: MeasurementKind, _ views: [Viewpoint]) -> [Double] {
    neighbours(kind, views).map { 1 / $0.all }
  }

  private func neighbours(_ kind: MeasurementKind, _ views: [Viewpoint]) -> [Neighbours] {
    let every = (views.count + Self.mostNeighbours - 1) / Self.mostNeighbours
    return views.map { view in
      var sums = Neighbours()
      for other in stride(from: 0, to: views.count, by: every)
      where kind.wandering != .withPlace
        || CorrelatedNoise.mayShareErrors(ofPlaces: view.place, views[other].place)
      {
        sums.all += CorrelatedNoise.correlation(
          of: kind, between: view, views[other], heightOffset)
        if kind == .range {
          sums.near += CorrelatedNoise.multipathCorrelation(between: view, views[other])
        }
      }
      return Neighbours(
        all: max(1, Double(every) * sums.all), near: max(1, Double(every) * sums.near))
    }
  }

  /// The shares that residuals show; `nil` stands for an outlier.
  ///
  /// Residuals are correlated as far as they wander: by `ρ ω² / τ²`.
  private func learntShares(
    of kind: MeasurementKind, _ residuals: [Double?], _ views: [Viewpoint], wanderPart: Double
  ) -> Shares {
    let prior = priors[kind]
    var white = RunningMean(value: prior.whiteShare, weight: NoisePrior.whiteWeight)
    var total = RunningMean(value: NoisePrior.totalShare, weight: NoisePrior.totalWeight)
    var last: (residual: Double, view: Viewpoint)?
    for (residual, view) in zip(residuals, views) {
      guard let residual else {
        last = nil
        continue
      }
      var decorrelation = 1.0
      if let last {
        white.add(NoisePrior.whiteShare(ofDifference: residual - last.residual), weight: 1)
        // Nothing is learnt of an error that is no share of the accuracy.
        let correlation =
          kind.isOfRadio
          ? wanderPart
            * CorrelatedNoise.correlation(of: kind, between: view, last.view, heightOffset) : 1
        decorrelation = 1 - correlation * correlation
      }
      total.add(NoisePrior.totalShare(ofResidual: residual), weight: decorrelation)
      last = (residual, view)
    }
    return Shares(prior, white: white.value, total: total.value)
  }

  /// A weighted mean.
  private struct RunningMean {
    var value: Double
    var weight: Double

    mutating func add(_ sample: Double, weight added: Double) {
      guard added > 0 else { return }
      weight += added
      value += added / weight * (sample - value)
    }
  }
}
