// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyRecordings

/// The figures of a proof as readable text, with a row for each scenario.
struct ProofTable {
  private static let columns: [(title: String, width: Int)] =
    [("runs", 6), ("conv", 6), ("RMSE/bd", 8), ("NEES/3", 7)]
    + MeasurementKind.allCases.map { ("NIS \($0.name.prefix(1))", 7) }
    + [
      ("false", 6), ("wrong %", 7), ("out %", 6), ("conv s", 7), ("ratio", 7), ("away s", 7),
      ("back x", 7),
      ("took s", 7),
    ]

  private let nameWidth: Int

  /// Makes a table whose first column holds these names.
  init(names: [String]) { nameWidth = max(8, names.map(\.count).max() ?? 0) }

  /// The titles.
  var header: String { line("scenario", Self.columns.map(\.title)) }

  /// The row of a scenario.
  ///
  /// - Parameters:
  ///   - figures: Its figures; those that miss a goal are marked.
  ///   - seconds: How long it took.
  ///   - isWithout: Whether the figures are those without calibration, which have no goals.
  /// - Returns: The line.
  func row(_ figures: ScenarioFigures, seconds: Double, isWithout: Bool = false) -> String {
    let missed = isWithout ? [] : Set(figures.misses.map(\.goal))
    func text(_ value: Double?, _ decimals: Int, _ goal: ProofGoals.Goal?) -> String {
      let mark = goal.map { missed.contains($0) ? "!" : " " } ?? " "
      return (value.map { $0.text(decimals: decimals) } ?? "-") + mark
    }
    let claims = [
      "\(figures.runs) ", text(Double(figures.convergedRuns), 0, .neverConverges),
      text(figures.efficiency, 3, .efficiency),
      text(figures.normalizedErrorSquared?.value, 2, .normalizedErrorSquared),
    ]
    let name = isWithout ? "  off" : figures.scenario
    let innovations = MeasurementKind.allCases.map { kind in
      text(figures[kind]?.value, 2, .innovation(of: kind))
    }
    let times = [
      text(Double(figures.falseRuns), 0, .falseConvergence),
      text(figures.falseSampleShare.map { 100 * $0 }, 2, nil),
      text(figures.wronglyPublishedShare.map { 100 * $0 }, 2, .publishedOutputs),
      text(figures.timeToConverge?.median, 2, nil),
      text(figures.timeRatio?.median, 2, .timeToConverge),
      text(figures.recovery?.longestFalseConvergence, 1, .withdrawal),
      text(figures.recovery?.ratio?.median, 2, .regain), text(seconds, 1, nil),
    ]
    return line(name, claims + innovations + times)
  }

  private func line(_ name: String, _ fields: [String]) -> String {
    var line = name + String(repeating: " ", count: max(0, nameWidth - name.count))
    for (field, column) in zip(fields, Self.columns) {
      // Titles are aligned with the numbers; marks have their own column.
      let field = field.last == "!" || field.last == " " ? field : field + " "
      line += String(repeating: " ", count: max(1, column.width + 1 - field.count)) + field
    }
    while line.last == " " { line.removeLast() }
    return line
  }

  /// The missed goals with explanations and the runs to look at first, with a newline at the end.
  static func verdict(_ all: [ScenarioFigures]) -> String {
    let missing = all.filter { !$0.misses.isEmpty }
    guard !missing.isEmpty else {
      return "\nAll goals are reached in \(all.count) scenario\(all.count == 1 ? "" : "s").\n"
    }
    var text = "\nGoals are missed in \(missing.count) of \(all.count) scenarios:\n"
    for figures in missing {
      for miss in figures.misses {
        text += "  \(figures.scenario): \(miss.explanation)"
        if !miss.seeds.isEmpty {
          text += "; seeds \(miss.seeds.map { "\($0)" }.joined(separator: ", "))"
        }
        text += "\n"
      }
    }
    return text
  }

  /// The outputs, their errors, and the cost of convergence, with a newline at the end.
  static func details(_ all: [ScenarioFigures]) -> String {
    var table = TextTable(
      header: [
        "scenario", "dist/dir/angle/vert/place %", "dist m", "dir °", "angle °", "height m",
        "jitter m", "path m", "swept °", "conv s 90 %", "ratio 90 %", "lost/run", "wrong side",
      ])
    func text(_ value: Double?, _ decimals: Int) -> String {
      value.map { $0.text(decimals: decimals) } ?? "-"
    }
    for figures in all {
      let (shares, errors) = (figures.availability, figures.outputErrors)
      let available = [
        shares.distance, shares.direction, shares.horizontalAngle, shares.vertical,
        shares.worldTransform,
      ].map { text($0.map { 100 * $0 }, 0) }
      table.add([
        figures.scenario, available.joined(separator: "/"), text(errors.distance, 3),
        text(errors.direction, 2), text(errors.horizontalAngle, 2), text(errors.vertical, 3),
        text(figures.jitter, 4), text(figures.pathToConverge?.median, 1),
        text(figures.sweptDegreesToConverge?.median, 1),
        text(figures.timeToConverge?.percentile90, 2), text(figures.timeRatio?.percentile90, 2),
        text(figures.lossesPerRun, 2), "\(figures.wrongSideRuns)",
      ])
    }
    return "\n" + table.lines.joined(separator: "\n") + "\n"
  }
}
