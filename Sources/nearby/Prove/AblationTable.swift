// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation

/// An ablation as readable text: for each scenario the figures with all features on and with each
/// feature off, then the effect of each feature over all scenarios.
struct AblationTable {
  private let result: Ablation.Result

  /// Makes the table of a result.
  init(_ result: Ablation.Result) { self.result = result }

  /// The text, with a newline at its end.
  var text: String {
    var table = TextTable(
      header: [
        "scenario", "without", "conv", "RMSE m", "RMSE/bd", "NEES/3", "false", "conv s", "ratio",
        "away s", "missed",
      ])
    for row in result.rows {
      let figures = row.figures
      func text(_ value: Double?, _ decimals: Int) -> String {
        value.map { $0.text(decimals: decimals) } ?? "-"
      }
      table.add([
        row.featureOff == nil ? figures.scenario : "", row.featureOff ?? "-",
        "\(figures.convergedRuns)", text(figures.rmse, 3), text(figures.efficiency, 3),
        text(figures.normalizedErrorSquared?.value, 2), "\(figures.falseRuns)",
        text(figures.timeToConverge?.median, 2), text(figures.timeRatio?.median, 2),
        text(figures.recovery?.longestFalseConvergence, 1), "\(figures.misses.count)",
      ])
    }
    return (table.lines + [""] + summary).joined(separator: "\n") + "\n"
  }
  private var summary: [String] {
    var table = TextTable(
      header: [
        "without", "goals missed", "wrong", "conv", "RMSE x", "conv s x", "most goals lost in",
      ],
      left: [0, 6])
    for summary in result.summaries {
      func text(_ value: Double?) -> String { value.map { $0.text(decimals: 3) } ?? "-" }
      table.add([
        summary.featureOff ?? "-", "\(summary.misses)", "\(summary.wrongRuns)",
        "\(summary.convergedRuns)", text(summary.errorRatio), text(summary.timeRatio),
        summary.worstScenario ?? "-",
      ])
    }
    return table.lines
  }
}
