// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation

/// The comparison with exact posteriors as readable text.
struct ReferenceTable {
  private static let columns: [(title: String, width: Int)] = [
    ("moments", 7), ("conv %", 6), ("off", 6), ("off 95", 6), ("height", 6), ("h. 95", 6),
    ("flat", 6), ("flat 95", 7), ("sigma", 6), ("sigma 5..95", 12), ("exact m", 7), ("NEES/3", 7),
    ("exact", 6), ("error", 6), ("| off", 6), ("off 95", 6), ("sigma", 6), ("took s", 7),
  ]

  private let nameWidth: Int

  /// Makes a table whose first column holds these names.
  init(names: [String]) { nameWidth = max(11, names.map(\.count).max() ?? 0) }

  /// The titles.
  var header: String { line("scenario", Self.columns.map(\.title)) }

  /// A row: all moments, then those at which the engine had converged.
  func row(
    _ name: String, _ all: ReferenceFigures.Row, _ converged: ReferenceFigures.Row?,
    _ seconds: Double?
  ) -> String {
    func text(_ value: Double?, _ decimals: Int = 2) -> String {
      value.map { $0.text(decimals: decimals) } ?? "-"
    }
    let spread = all.sigmaRatio.map { "\(text($0.percentile5))..\(text($0.percentile95))" } ?? "-"
    return line(
      name,
      [
        "\(all.count)", text(100 * all.convergedShare, 0), text(all.meanOff?.median),
        text(all.meanOff?.percentile95), text(all.heightOff?.median),
        text(all.heightOff?.percentile95), text(all.horizontalOff?.median),
        text(all.horizontalOff?.percentile95), text(all.sigmaRatio?.median), spread,
        text(all.exactSigma?.median), text(all.errorSquared), text(all.exactErrorSquared),
        text(all.referenceError?.median, 3), text(converged?.meanOff?.median),
        text(converged?.meanOff?.percentile95), text(converged?.sigmaRatio?.median),
        text(seconds, 1),
      ])
  }

  /// The missed goals with explanations and the runs to look at first, with a newline at the end.
  static func verdict(_ all: [ReferenceFigures]) -> String {
    let missing = all.filter { !$0.misses.isEmpty }
    guard !missing.isEmpty else {
      return "\nAll goals are reached in \(all.count) scenario\(all.count == 1 ? "" : "s").\n"
    }
    var text = "\nGoals are missed in \(missing.count) of \(all.count) scenarios:\n"
    for figures in missing {
      for miss in figures.misses {
        let seeds = miss.seeds.map { "\($0)" }.joined(separator: ", ")
        text += "  \(figures.scenario): \(miss.explanation); seeds \(seeds)\n"
      }
    }
    return text
  }

  private func line(_ name: String, _ fields: [String]) -> String {
    var line = name + String(repeating: " ", count: max(0, nameWidth - name.count))
    for (field, column) in zip(fields, Self.columns) {
      line += String(repeating: " ", count: max(1, column.width + 1 - field.count)) + field
    }
    return line
  }
}
