// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyRecordings
package import NearbySimulation

/// Compares an engine with its goals, in seeded runs of scenarios on all cores.
package struct Proof: Sendable {
  /// The goals.
  package var goals = ProofGoals()
  /// The largest number of concurrent runs; it is limited to the number of cores.
  package var jobs = Int.max
  /// The seeds of a scenario in which an engine converges.
  package var seeds: Range<UInt64>
  /// The seeds of a scenario in which an engine must never converge.
  package var neverSeeds: Range<UInt64>
  /// Changes the engines' configuration, which initially matches the scenario's sensors.
  package var change: @Sendable (inout FusionConfiguration) throws -> Void = { _ in }

  /// Whether each run is calibrated first: `use` is what `nearby run` does.
  package var calibration = CalibrationMode.off

  /// Makes a proof.
  ///
  /// - Parameters:
  ///   - seeds: The seeds.
  ///   - neverSeeds: The seeds of scenarios that must never converge; the same seeds when `nil`.
  package init(seeds: Range<UInt64>, neverSeeds: Range<UInt64>? = nil) {
    self.seeds = seeds
    self.neverSeeds = neverSeeds ?? seeds
  }

  /// The seeds of a scenario.
  ///
  /// - Parameter scenario: The scenario.
  /// - Returns: The seeds.
  package func seeds(of scenario: Scenario) -> Range<UInt64> {
    if case .neverConverges = scenario.expectation { neverSeeds } else { seeds }
  }

  /// The runs of a scenario, with the configuration changed.
  ///
  /// - Parameter scenario: The scenario.
  /// - Returns: The runs.
  /// - Throws: What the change throws.
  package func run(of scenario: Scenario) throws -> ConsistencyRun {
    var run = ConsistencyRun(scenario)
    try change(&run.configuration)
    run.calibration = calibration
    return run
  }

  /// Runs a scenario.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - finished: Called after each run.
  /// - Returns: The figures; they do not depend on the number of jobs.
  /// - Throws: What the change throws, or when the configuration is invalid.
  package func figures(
    of scenario: Scenario, finished: () -> Void = {}
  ) async throws -> ScenarioFigures {
    let report = try await run(of: scenario)
      .report(seeds: seeds(of: scenario), jobs: jobs, finished: finished)
    return ScenarioFigures(of: scenario, report, goals)
  }
}
