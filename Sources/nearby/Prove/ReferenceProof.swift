// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyRecordings
import NearbySimulation

/// `nearby prove --reference`: the engine beside the exact posterior, then beside the smoother on prefixes.
struct ReferenceProof {
  /// The seeds, the jobs and the engine's configuration.
  let proof: Proof
  /// Whether to print JSON instead of tables.
  let isQuiet: Bool
  /// Whether to print a row for each moment.
  let printsTimes: Bool

  /// Compares in every scenario: with the exact posterior if it has one, and with the smoother.
  ///
  /// - Parameters:
  ///   - scenarios: The scenarios.
  ///   - namesEach: Whether each was asked for, so that one without an exact posterior is mentioned.
  /// - Returns: Whether a goal was missed.
  /// - Throws: When the engine's configuration is invalid.
  func run(_ scenarios: [Scenario], namesEach: Bool) async throws -> Bool {
    let exact = try await compareWithPosterior(scenarios)
    if !isQuiet, !exact.isEmpty {
      try StandardOutput.print(ReferenceTable.verdict(exact))
    }
    let smoothed = try await PrefixProof(proof: proof, isQuiet: isQuiet, printsTimes: printsTimes)
      .run(scenarios)
    if isQuiet {
      try StandardOutput.write(
        CanonicalJSON.text(of: ReferenceResult(scenarios: exact, prefixes: smoothed)))
    } else if namesEach {
      for scenario in scenarios {
        guard let reason = ReferenceModel.obstacle(in: scenario) else { continue }
        try StandardOutput.print("\(scenario.name) has no exact posterior: \(reason)")
      }
    }
    return exact.contains { !$0.misses.isEmpty }
  }

  /// Compares in every scenario that has an exact posterior.
  private func compareWithPosterior(_ scenarios: [Scenario]) async throws -> [ReferenceFigures] {
    let runs = try scenarios.compactMap { scenario in
      ReferenceRun(scenario, try proof.run(of: scenario).configuration)
    }
    guard !runs.isEmpty else { return [] }
    let progress = ProgressLine(isQuiet: false)
    defer { progress.finish() }
    let table = ReferenceTable(names: runs.map(\.scenario.name))
    if !isQuiet { try StandardOutput.print(table.header) }
    let total = runs.count * proof.seeds.count
    var count = 0
    var all: [ReferenceFigures] = []
    for run in runs {
      let start = ContinuousClock.now
      let comparisons = try await run.comparisons(seeds: proof.seeds, jobs: proof.jobs) {
        count += 1
        progress.update(
          fraction: Double(count) / Double(total),
          what: "\(run.scenario.name)  \(count) of \(total) runs")
      }
      let figures = ReferenceFigures(scenario: run.scenario.name, comparisons, ReferenceGoals())
      all.append(figures)
      progress.finish()
      if !isQuiet { try print(figures, table, seconds: start.duration(to: .now).inSeconds) }
    }
    return all
  }

  /// Prints the rows of a scenario.
  private func print(
    _ figures: ReferenceFigures, _ table: ReferenceTable, seconds: Double
  ) throws {
    try StandardOutput.print(table.row(figures.scenario, figures.all, figures.converged, seconds))
    guard printsTimes else { return }
    try StandardOutput.print(table.row("  searching", figures.searching, nil, nil))
    try StandardOutput.print(table.row("  filtering", figures.filtering, nil, nil))
    for time in figures.times {
      let name = "  \(time.seconds.text(decimals: 0)) s"
      try StandardOutput.print(table.row(name, time.figures, nil, nil))
    }
  }
}

/// The output of `nearby prove --reference --json`.
private struct ReferenceResult: Encodable {
  /// Those with an exact posterior.
  var scenarios: [ReferenceFigures]
  /// All of them, beside the smoother on prefixes.
  var prefixes: [PrefixFigures]
}
