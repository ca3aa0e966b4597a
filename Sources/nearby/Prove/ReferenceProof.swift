// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyRecordings
import NearbySimulation

/// `nearby prove --reference`: the engine beside the exact posterior.
struct ReferenceProof {
  /// The seeds, the jobs and the engine's configuration.
  let proof: Proof
  /// Whether to print JSON instead of tables.
  let isQuiet: Bool
  /// Whether to print a row for each moment.
  let printsTimes: Bool

  /// Compares in every scenario that has an exact posterior.
  ///
  /// - Parameters:
  ///   - scenarios: The scenarios.
  ///   - namesEach: Whether each was asked for, so that one without an exact posterior is an error.
  /// - Returns: Whether a goal was missed.
  /// - Throws: When a scenario has no exact posterior, or the engine's configuration is invalid.
  func run(_ scenarios: [Scenario], namesEach: Bool) async throws -> Bool {
    let runs = try scenarios.compactMap { scenario -> ReferenceRun? in
      let configuration = try proof.run(of: scenario).configuration
      if let run = ReferenceRun(scenario, configuration) { return run }
      guard namesEach else { return nil }
      let reason = ReferenceModel.obstacle(in: scenario) ?? "its samples do not allow it"
      throw CommandFailure(.usage, "\(scenario.name) has no exact posterior: \(reason)")
    }
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
      if isQuiet { continue }
      let seconds = start.duration(to: .now).inSeconds
      try StandardOutput.print(table.row(figures.scenario, figures.all, figures.converged, seconds))
      guard printsTimes else { continue }
      try StandardOutput.print(table.row("  searching", figures.searching, nil, nil))
      try StandardOutput.print(table.row("  filtering", figures.filtering, nil, nil))
      for time in figures.times {
        let name = "  \(time.seconds.text(decimals: 0)) s"
        try StandardOutput.print(table.row(name, time.figures, nil, nil))
      }
    }
    if isQuiet {
      try StandardOutput.write(CanonicalJSON.text(of: ReferenceResult(scenarios: all)))
    } else {
      try StandardOutput.print(ReferenceTable.verdict(all), terminator: "")
    }
    return all.contains { !$0.misses.isEmpty }
  }
}

/// The output of `nearby prove --reference --json`.
private struct ReferenceResult: Encodable {
  var scenarios: [ReferenceFigures]
}
