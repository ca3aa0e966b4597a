// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
package import NearbySimulation

/// Compares the locator of range differences with the posterior Cramér-Rao bound, in seeded runs.
///
/// It is asked once a second. What is compared is the second half of each run, when the place is known;
/// wrong claims are counted in the whole run.
package struct DownlinkProof: Sendable {
  /// The largest ratio of RMSE to bound, and the interval of NEES/3.
  ///
  /// The bound is that of the very motion, drift and noise, which no estimator is below on average; an
  /// error of 15 % is what the prior share of outliers, of which the bound knows nothing, may cost.
  package static let largestRatio = 1.15
  /// See ``largestRatio``.
  package static let consistency = 0.8...1.25

  /// The seeds.
  package var seeds: Range<UInt64>
  /// The largest number of concurrent runs; it is limited to the number of cores.
  package var jobs = Int.max
  /// Changes the locators' configuration, which initially matches the scenario's sensors.
  package var change: @Sendable (inout FusionConfiguration) throws -> Void = { _ in }

  /// Makes a proof.
  package init(seeds: Range<UInt64>) { self.seeds = seeds }

  /// The figures of a scenario.
  package struct Figures: Hashable, Sendable, Encodable {
    /// The scenario.
    package var scenario: String
    /// How many runs.
    package var runs: Int
    /// The share of the moments at which a place was claimed.
    package var claimedShare: Double
    /// The root of the mean squared error of the claims, metres, and that of the bound.
    package var error: Double
    /// See ``error``.
    package var bound: Double
    /// Error over bound.
    package var ratio: Double
    /// The mean normalised squared error of the claims over its three dimensions.
    package var consistency: Double
    /// Runs with a wrong claim: over 0.5 m and 3.4 sigma.
    package var wrongRuns: Int
    /// The median time to the first claim, seconds; infinite where half have none.
    package var secondsToFix: Double
    /// The goals that are missed, in words.
    package var misses: [String]
  }

  /// What one run adds up to.
  private struct Sums: Sendable {
    var (moments, claims) = (0, 0)
    var (squaredError, bound, normalized) = (0.0, 0.0, 0.0)
    var isWrong = false
    var firstFix = Double.infinity
  }

  /// Runs a scenario.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - finished: Called after each run.
  /// - Returns: The figures; they do not depend on the number of jobs.
  /// - Throws: What the change throws, or when the configuration is invalid.
  package func figures(
    of scenario: DownlinkScenario, finished: () -> Void = {}
  ) async throws -> Figures {
    var configuration = scenario.matchingConfiguration
    try change(&configuration)
    let used = configuration
    let sums = try await SeededRuns(seeds: seeds, jobs: jobs).results(finished: finished) {
      try Self.sums(scenario, used, seed: $0)
    }
    func sum(_ value: (Sums) -> Double) -> Double { sums.reduce(0) { $0 + value($1) } }
    let claims = max(sum { Double($0.claims) }, 1)
    let (error, bound) = (
      (sum(\.squaredError) / claims).squareRoot(), (sum(\.bound) / claims).squareRoot()
    )
    var figures = Figures(
      scenario: scenario.name, runs: sums.count,
      claimedShare: sum { Double($0.claims) } / max(sum { Double($0.moments) }, 1), error: error,
      bound: bound, ratio: error / bound, consistency: sum(\.normalized) / claims,
      wrongRuns: sums.count { $0.isWrong },
      secondsToFix: sums.map(\.firstFix).sorted()[sums.count / 2], misses: [])
    if !(figures.ratio <= Self.largestRatio) {
      figures.misses.append("RMSE over the bound is above \(Self.largestRatio)")
    }
    if !Self.consistency.contains(figures.consistency) {
      let (least, most) = (Self.consistency.lowerBound, Self.consistency.upperBound)
      figures.misses.append("NEES/3 is not within \(least) to \(most)")
    }
    return figures
  }

  private static func sums(
    _ scenario: DownlinkScenario, _ configuration: FusionConfiguration, seed: UInt64
  ) throws -> Sums {
    let run = scenario.simulated(seed: seed)
    var locator = try RangeDifferenceLocator(
      anchors: run.anchors.map { .known($0) }, clocks: scenario.clocks, configuration)
    var (limit, sums) = (DownlinkBound(scenario), Sums())
    let interval = max(1, Int(scenario.rate))
    run.feed(&locator) { index, locator in
      limit.add(run.rounds[index], anchors: run.anchors)
      guard index % interval == interval - 1 else { return }
      let isLate = 2 * index > run.rounds.count
      if isLate { sums.moments += 1 }
      guard let fix = locator.locate(), let place = fix.position.value else { return }
      sums.firstFix = min(sums.firstFix, Double(index) / scenario.rate)
      let error = place - run.rounds[index].siteFromDevice.translation
      if error.length > max(0.5, 3.4 * fix.position.sigma) { sums.isWrong = true }
      guard isLate, let information = fix.covariance.positiveDefiniteInverse else { return }
      sums.claims += 1
      sums.squaredError += error.dot(error)
      sums.bound += limit.place.trace
      sums.normalized += information.quadraticForm(error) / 3
    }
    return sums
  }
}
