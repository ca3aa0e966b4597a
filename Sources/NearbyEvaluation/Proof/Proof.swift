// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbySimulation

/// Holds an engine against its goals: seeded runs of scenarios, all cores at work.
public struct Proof: Sendable {
  /// The goals.
  public var goals = ProofGoals()
  /// How many runs go on at a time, at most; never more than there are cores.
  public var jobs = Int.max
  /// The seeds of a scenario in which an engine converges.
  public var seeds: Range<UInt64>
  /// The seeds of a scenario in which it never must.
  public var neverSeeds: Range<UInt64>
  /// Changes what the engines are told, from the truth about the scenario's sensors.
  public var change: @Sendable (inout FusionConfiguration) throws -> Void = { _ in }

  /// Makes a proof.
  ///
  /// - Parameters:
  ///   - seeds: The seeds.
  ///   - neverSeeds: Those of scenarios that must never converge; the same when `nil`.
  public init(seeds: Range<UInt64>, neverSeeds: Range<UInt64>? = nil) {
    self.seeds = seeds
    self.neverSeeds = neverSeeds ?? seeds
  }

  /// The seeds of a scenario.
  ///
  /// - Parameter scenario: The scenario.
  /// - Returns: The seeds.
  public func seeds(of scenario: Scenario) -> Range<UInt64> {
    if case .neverConverges = scenario.expectation { neverSeeds } else { seeds }
  }

  /// The runs of a scenario, with the configuration changed.
  ///
  /// - Parameter scenario: The scenario.
  /// - Returns: The runs.
  /// - Throws: What the change throws.
  public func run(of scenario: Scenario) throws -> ConsistencyRun {
    var run = ConsistencyRun(scenario)
    try change(&run.configuration)
    return run
  }

  /// Runs a scenario.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - finished: Called after each run.
  /// - Returns: The figures; they do not depend on the number of jobs.
  /// - Throws: What the change throws, or when the configuration makes no sense.
  public func figures(
    of scenario: Scenario, finished: () -> Void = {}
  ) async throws -> ScenarioFigures {
    let report = try await run(of: scenario)
      .report(seeds: seeds(of: scenario), jobs: jobs, finished: finished)
    return ScenarioFigures(of: scenario, report, goals)
  }
}
