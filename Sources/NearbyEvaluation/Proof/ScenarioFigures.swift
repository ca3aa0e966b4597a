// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings
package import NearbySimulation

/// All figures of one scenario, as numbers; a missing figure is `null`.
///
/// Errors and sigmas are root mean squares, metres or degrees; times are seconds. ``ConsistencyReport``
/// and ``RunRecord`` define each.
package struct ScenarioFigures: Sendable, Encodable {
  /// The median and the 90 % quantile over runs.
  package struct Spread: Sendable, Encodable {
    /// Half of the runs are at or below it; `nil` when it is infinite.
    package var median: Double?
    /// Nine in ten runs are at or below it; `nil` when it is infinite.
    package var percentile90: Double?

    init?(_ values: [Double]) {
      let sorted = values.sorted()
      guard let median = sorted.quantile(0.5), let upper = sorted.quantile(0.9) else { return nil }
      self.median = median.isFinite ? median : nil
      percentile90 = upper.isFinite ? upper : nil
    }
  }

  /// The recovery of the runs from their event.
  package struct Recovery: Sendable, Encodable {
    /// The number of runs in which a sample contradicted the former position.
    package var contradictedRuns: Int
    /// The longest time for which a false convergence was kept, seconds.
    package var longestFalseConvergence: Double
    /// The number of runs in which that was too long.
    package var slowWithdrawals: Int
    /// The number of runs in which convergence was regained.
    package var regainedRuns: Int
    /// The time to be converged and right again, seconds.
    package var regained: Spread?
    /// The time of a fresh start, seconds.
    package var freshStart: Spread?
    /// The ratio of the two.
    package var ratio: Spread?
  }

  /// The scenario's name.
  package var scenario: String
  /// How many runs there were.
  package var runs: Int
  /// How many of them converged.
  package var convergedRuns: Int
  /// How often a run lost convergence again, on average.
  package var lossesPerRun: Double
  /// The root mean square error over the bound, while converged.
  package var efficiency: Double?
  /// The root mean square error while converged, metres.
  package var rmse: Double?
  /// The root mean square of the claimed sigma over the same moments, metres.
  package var claimedSigma: Double?
  /// The root mean square of the bound over the same moments, metres.
  package var bound: Double?
  /// NEES over three while converged.
  package var normalizedErrorSquared: Figure?
  /// NIS of the range while converged.
  package var rangeInnovation: Figure?
  /// NIS of the azimuth while converged.
  package var azimuthInnovation: Figure?
  /// NIS of the elevation while converged.
  package var elevationInnovation: Figure?
  /// NIS of the height difference while converged.
  package var heightDifferenceInnovation: Figure?
  /// How many runs were ever falsely converged.
  package var falseRuns: Int
  /// The share of converged samples that were falsely converged.
  package var falseSampleShare: Double?
  /// The share of all samples after which a published distance or horizontal angle was wrong.
  package var wronglyPublishedShare: Double?
  /// How many runs ever named the wrong side, above or below.
  package var wrongSideRuns: Int
  /// Seconds to the first convergence, of the runs that converge.
  package var timeToConverge: Spread?
  /// Metres travelled by then.
  package var pathToConverge: Spread?
  /// The parallax swept by then, degrees.
  package var sweptDegreesToConverge: Spread?
  /// The time to converge over the bound's.
  package var timeRatio: Spread?
  /// The share of samples after which each output was published.
  package var availability: PerOutput
  /// The root mean square error of each output where published: metres, angles in degrees.
  package var outputErrors: PerOutput
  /// The root mean square step of the published world transform beyond the true motion, metres.
  package var jitter: Double?
  /// The recovery of the runs from their event; `nil` without an event.
  package var recovery: Recovery?
  /// The goals that were missed.
  package var misses: [ProofGoals.Miss]

  /// Computes the figures of a report.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - report: The runs.
  ///   - goals: The goals.
  package init(
    of scenario: Scenario, _ report: ConsistencyReport, _ goals: ProofGoals
  ) {
    self.scenario = scenario.name
    runs = report.records.count
    convergedRuns = report.convergedSeeds.count
    lossesPerRun = Double(report.records.reduce(0) { $0 + $1.losses }) / Double(max(1, runs))
    efficiency = report.efficiency?.finite
    rmse = report.rootMeanSquareError?.finite
    claimedSigma = report.rootMeanSquareClaim?.finite
    bound = report.rootMeanSquareBound?.finite
    normalizedErrorSquared = report.normalizedErrorSquared
    falseRuns = report.falseConvergences.count
    falseSampleShare = report.falseSampleShare
    wronglyPublishedShare = report.wronglyPublishedShare
    wrongSideRuns = report.wrongSides.count
    let arrivals = report.arrivals
    timeToConverge = Spread(arrivals.map(\.seconds))
    pathToConverge = Spread(arrivals.map(\.metres))
    sweptDegreesToConverge = Spread(arrivals.map { $0.sweptAngleRadians.radiansAsDegrees })
    timeRatio = Spread(report.timeRatios)
    availability = PerOutput(availabilityIn: report.records)
    outputErrors = PerOutput(errorsIn: report.records)
    jitter = Figure(report.records.map(\.outputs.squaredJitter))?.value.squareRoot().finite
    recovery = Recovery(report)
    misses = goals.misses(of: report, scenario.expectation)
    let innovations = report.normalizedInnovationSquared
    for kind in MeasurementKind.allCases { self[kind] = innovations[kind] }
  }

  /// NIS of a kind of measurement while converged.
  package private(set) subscript(kind: MeasurementKind) -> Figure? {
    get {
      switch kind {
      case .range: rangeInnovation
      case .azimuth: azimuthInnovation
      case .elevation: elevationInnovation
      case .heightDifference: heightDifferenceInnovation
      }
    }
    set {
      switch kind {
      case .range: rangeInnovation = newValue
      case .azimuth: azimuthInnovation = newValue
      case .elevation: elevationInnovation = newValue
      case .heightDifference: heightDifferenceInnovation = newValue
      }
    }
  }
}

extension PerOutput {
  fileprivate init(availabilityIn records: [RunRecord]) {
    let samples = records.reduce(0) { $0 + $1.samples }
    guard samples > 0 else { return }
    func share(_ count: (RunRecord.Outputs) -> Int) -> Double {
      Double(records.reduce(0) { $0 + count($1.outputs) }) / Double(samples)
    }
    distance = share(\.squaredDistance.count)
    direction = share(\.squaredDirection.count)
    horizontalAngle = share(\.squaredHorizontalAngle.count)
    vertical = share(\.verticalDirections)
    worldTransform = share(\.placements)
  }

  fileprivate init(errorsIn records: [RunRecord]) {
    func root(_ sum: (RunRecord.Outputs) -> RunRecord.Sum) -> Double? {
      Figure(records.map { sum($0.outputs) })?.value.squareRoot().finite
    }
    distance = root(\.squaredDistance)
    direction = root(\.squaredDirection)?.radiansAsDegrees
    horizontalAngle = root(\.squaredHorizontalAngle)?.radiansAsDegrees
    vertical = root(\.squaredHeight)
  }
}

extension ScenarioFigures.Recovery {
  fileprivate init?(_ report: ConsistencyReport) {
    let recoveries = report.recoveries
    guard !recoveries.isEmpty else { return nil }
    contradictedRuns = recoveries.count
    longestFalseConvergence = recoveries.map(\.withdrawalSeconds).max() ?? 0
    slowWithdrawals = report.slowWithdrawals.count
    regainedRuns = recoveries.count { $0.regainedSeconds != nil }
    regained = ScenarioFigures.Spread(recoveries.map { $0.regainedSeconds ?? .infinity })
    freshStart = ScenarioFigures.Spread(recoveries.map { $0.freshStartSeconds ?? .infinity })
    ratio = ScenarioFigures.Spread(report.regainRatios)
  }
}
