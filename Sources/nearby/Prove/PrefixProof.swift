// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbySimulation

/// `nearby prove --reference`: the engine beside the smoother on prefixes of the runs.
struct PrefixProof {
  /// The seeds, the jobs and the engine's configuration.
  let proof: Proof
  /// Whether to print nothing but progress.
  let isQuiet: Bool
  /// Whether to print a row for each moment.
  let printsTimes: Bool

  /// Compares in every scenario, and prints each row as soon as it is available.
  ///
  /// - Parameter scenarios: The scenarios.
  /// - Returns: The figures.
  /// - Throws: When the engine's configuration is invalid.
  func run(_ scenarios: [Scenario]) async throws -> [PrefixFigures] {
    let progress = ProgressLine(isQuiet: false)
    defer { progress.finish() }
    let table = PrefixTable(names: scenarios.map(\.name))
    if !isQuiet { try StandardOutput.print(table.header) }
    let total = scenarios.count * proof.seeds.count
    var count = 0
    var all: [PrefixFigures] = []
    for scenario in scenarios {
      let start = ContinuousClock.now
      let run = PrefixRun(scenario, try proof.run(of: scenario).configuration)
      let outcome = try await run.outcome(seeds: proof.seeds, jobs: proof.jobs) {
        count += 1
        progress.update(
          fraction: Double(count) / Double(total),
          what: "\(scenario.name), prefixes  \(count) of \(total) runs")
      }
      let figures = PrefixFigures(scenario: scenario.name, outcome)
      all.append(figures)
      progress.finish()
      if isQuiet { continue }
      let seconds = start.duration(to: .now).inSeconds
      try StandardOutput.print(table.row(figures.scenario, figures.all, figures.delay, seconds))
      guard printsTimes else { continue }
      for time in figures.times {
        let name = "  \(time.seconds.text(decimals: 0)) s"
        try StandardOutput.print(table.row(name, time.figures, nil, nil))
      }
    }
    return all
  }
}
