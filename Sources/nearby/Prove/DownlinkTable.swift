// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbySimulation

/// `nearby prove --downlink`: the locator of range differences against the bound, as readable text.
struct DownlinkTable {
  private static let columns: [(title: String, width: Int)] = [
    ("runs", 5), ("claimed %", 9), ("RMSE m", 7), ("bound", 6), ("ratio", 6), ("NEES/3", 7),
    ("wrong", 5), ("fix s", 6), ("took s", 7),
  ]

  private let nameWidth: Int

  /// Makes a table whose first column holds these names.
  init(names: [String]) { nameWidth = max(11, names.map(\.count).max() ?? 0) }

  /// The titles.
  var header: String { line("scenario", Self.columns.map(\.title)) }

  /// A row; what misses its goal is marked.
  func row(_ figures: DownlinkProof.Figures, seconds: Double) -> String {
    func marked(_ value: Double, _ isMet: Bool) -> String {
      value.text(decimals: 2) + (isMet ? " " : "!")
    }
    let isConsistent = DownlinkProof.consistency.contains(figures.consistency)
    return line(
      figures.scenario,
      [
        "\(figures.runs)", (100 * figures.claimedShare).text(decimals: 1),
        figures.error.text(decimals: 3), figures.bound.text(decimals: 3),
        marked(figures.ratio, figures.ratio <= DownlinkProof.largestRatio),
        marked(figures.consistency, isConsistent), "\(figures.wrongRuns)",
        figures.secondsToFix.isFinite ? figures.secondsToFix.text(decimals: 1) : "-",
        seconds.text(decimals: 1),
      ])
  }

  private func line(_ name: String, _ fields: [String]) -> String {
    var line = name + String(repeating: " ", count: max(0, nameWidth - name.count))
    for (field, column) in zip(fields, Self.columns) {
      line += String(repeating: " ", count: max(1, column.width + 1 - field.count)) + field
    }
    return line
  }
}
