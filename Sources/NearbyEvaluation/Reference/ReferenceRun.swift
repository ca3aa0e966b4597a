// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
package import NearbySimulation

/// Seeded runs of one scenario in which an engine is compared with the exact posterior of the same
/// samples, at some moments.
package struct ReferenceRun: Sendable {
  /// An engine's posterior beside the exact one.
  package struct Comparison: Sendable, Encodable {
    /// The seed.
    package var seed: UInt64
    /// Seconds after the start of the run, rounded to the moment that was asked for.
    package var seconds: Double
    /// Whether the engine has converged.
    package var isConverged: Bool
    /// Whether the engine still fits its hypotheses anew to all samples, rather than filtering.
    package var isSearching: Bool
    /// The distance between the means in sigmas of the exact posterior: Mahalanobis' distance over √3.
    package var meanOff: Double
    /// The same of the height alone.
    package var heightOff: Double
    /// The same of the two horizontal axes, over √2.
    package var horizontalOff: Double
    /// The engine's sigma over the exact one: the roots of the traces.
    package var sigmaRatio: Double
    /// The same of the height alone.
    package var heightSigmaRatio: Double
    /// The exact sigma, the root of the trace, metres.
    package var exactSigma: Double
    /// The exact sigma of the height, metres.
    package var exactHeightSigma: Double
    /// The normalised error squared of the exact posterior over three, whose mean is one if the peers
    /// are drawn from its prior.
    package var exactErrorSquared: Double
    /// The normalised error squared of the engine over three; `nil` without an inverse.
    package var errorSquared: Double?
    /// The standard error of the exact mean, which is sampled, in its sigmas.
    package var referenceError: Double
  }

  /// The scenario.
  package var scenario: Scenario
  /// The engines' configuration.
  package var configuration: FusionConfiguration
  /// The moments of comparison, seconds after the start; those beyond the end are left out, and the
  /// end is always one.
  package var seconds = [5.0, 10, 15, 20, 30, 40, 60, 80, 120, 180, 240]
  /// Particles in each of the two populations of the exact posterior.
  package var particleCount = 1000

  private let model: ReferenceModel

  /// Makes runs of a scenario; `nil` if it has no exact posterior (``ReferenceModel/obstacle(in:)``).
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - configuration: The engines' configuration, whose priors are also those of the exact
  ///     posterior.
  package init?(_ scenario: Scenario, _ configuration: FusionConfiguration) {
    guard let model = ReferenceModel(scenario, configuration) else { return nil }
    self.model = model
    self.scenario = scenario
    self.configuration = configuration
  }

  /// Runs one seed.
  ///
  /// - Parameter seed: The seed.
  /// - Returns: A comparison for each moment at which the engine has a posterior.
  /// - Throws: When the configuration is invalid.
  package func comparisons(seed: UInt64) throws -> [Comparison] {
    let run = scenario.simulated(seed: seed)
    let moments = moments(of: run)
    var posterior = ReferencePosterior(model, ReferenceObservation.all(of: run))
    posterior.count = particleCount
    let exact = posterior.moments(after: moments.map(\.sample), seed: seed)
    var engine = try FusionEngine(configuration)
    let peer = engine.addPeer(scenario.peerMotion)
    var estimates: [Int: PeerEstimate] = [:]
    let wanted = Set(moments.map(\.sample))
    run.feed(&engine, as: peer) { index, _, engine in
      guard wanted.contains(index) else { return }
      estimates[index] = engine.estimate(of: peer, at: run.samples[index].timestamp)
    }
    return zip(moments, exact).compactMap { moment, exact in
      estimates[moment.sample].flatMap { estimate in
        Comparison(
          estimate, exact, truth: run.samples[moment.sample].peerInOdometry, seed: seed,
          seconds: moment.seconds)
      }
    }
  }

  /// Runs many seeds.
  ///
  /// The result does not depend on the number of concurrent runs.
  ///
  /// - Parameters:
  ///   - seeds: The seeds.
  ///   - jobs: The largest number of concurrent runs; it is limited to the number of cores.
  ///   - finished: Called after each run.
  /// - Returns: The comparisons, by seed and time.
  /// - Throws: When the configuration is invalid.
  package func comparisons(
    seeds: Range<UInt64>, jobs: Int = .max, finished: () -> Void = {}
  ) async throws -> [Comparison] {
    try await SeededRuns(seeds: seeds, jobs: jobs)
      .results(finished: finished) { try comparisons(seed: $0) }
      .flatMap(\.self)
  }

  /// The last sample before each moment.
  private func moments(of run: SimulatedRun) -> [(seconds: Double, sample: Int)] {
    let times = seconds.filter { $0 < scenario.duration } + [scenario.duration]
    var moments: [(seconds: Double, sample: Int)] = []
    for time in times {
      guard let sample = run.samples.lastIndex(where: { $0.seconds <= time }),
        sample > moments.last?.sample ?? -1
      else { continue }
      moments.append((time, sample))
    }
    return moments
  }
}

extension ReferenceRun.Comparison {
  /// Compares an estimate with the exact posterior; `nil` without an estimate.
  init?(
    _ estimate: PeerEstimate, _ exact: ReferencePosterior.Moment, truth: Vector3, seed: UInt64,
    seconds: Double
  ) {
    guard let mean = estimate.positionInWorld,
      let inverse = exact.covariance.positiveDefiniteInverse
    else { return nil }
    let (claimed, covariance) = (estimate.covarianceInWorld, exact.covariance)
    let off = mean - exact.mean
    self.seed = seed
    self.seconds = seconds
    isConverged = estimate.convergence == .converged
    isSearching = estimate.isSearching
    meanOff = (inverse.quadraticForm(off) / 3).squareRoot()
    heightOff = abs(off.y) / covariance.yy.squareRoot()
    horizontalOff = (Self.horizontalSquare(off, covariance) / 2).squareRoot()
    sigmaRatio = (claimed.trace / covariance.trace).squareRoot()
    heightSigmaRatio = (claimed.yy / covariance.yy).squareRoot()
    exactSigma = covariance.trace.squareRoot()
    exactHeightSigma = covariance.yy.squareRoot()
    exactErrorSquared = inverse.quadraticForm(exact.mean - truth) / 3
    errorSquared = claimed.positiveDefiniteInverse.map { $0.quadraticForm(mean - truth) / 3 }
    referenceError = exact.meanError
  }

  /// The square of Mahalanobis' distance in the horizontal plane.
  private static func horizontalSquare(
    _ offset: Vector3, _ covariance: SymmetricMatrix3
  ) -> Double {
    let (a, b, c) = (covariance.xx, covariance.xz, covariance.zz)
    let determinant = a * c - b * b
    let square = c * offset.x * offset.x - 2 * b * offset.x * offset.z + a * offset.z * offset.z
    return square / determinant
  }
}
