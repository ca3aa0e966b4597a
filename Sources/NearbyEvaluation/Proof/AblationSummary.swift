// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The effect of one feature over all scenarios of an ablation.
package struct AblationSummary: Sendable, Encodable {
  /// The feature that is switched off; `nil` for the engine with all features.
  package var featureOff: String?
  /// Goals missed, over all scenarios.
  package var misses: Int
  /// Runs over all scenarios that were falsely converged at some time, or converged although the
  /// scenario does not allow it.
  package var wrongRuns: Int
  /// Runs that converged, in scenarios that allow it.
  package var convergedRuns: Int
  /// The ratio of the error to that of the engine with all features, as geometric mean over
  /// scenarios; `nil` when no scenario has both.
  package var errorRatio: Double?
  /// The same ratio of the time to converge.
  package var timeRatio: Double?
  /// The scenario with the most missed goals that the engine with all features reaches, and their
  /// number; `nil` when there is none.
  package var worstScenario: String?
}

extension Ablation.Result {
  /// A row for the engine with all features, then one for each feature.
  package var summaries: [AblationSummary] {
    var features: [String?] = []
    for row in rows where !features.contains(row.featureOff) { features.append(row.featureOff) }
    let whole = Dictionary(
      rows.filter { $0.featureOff == nil }.map { ($0.figures.scenario, $0.figures) },
      uniquingKeysWith: { first, _ in first })
    return features.map { feature in
      let figures = rows.filter { $0.featureOff == feature }.map(\.figures)
      func ratio(_ value: (ScenarioFigures) -> Double?) -> Double? {
        let logarithms = figures.compactMap { without -> Double? in
          guard let a = value(without), let b = whole[without.scenario].flatMap(value), a > 0, b > 0
          else { return nil }
          return log(a / b)
        }
        return logarithms.isEmpty
          ? nil : exp(logarithms.reduce(0, +) / Double(logarithms.count))
      }
      let added = figures.map { without in
        let before = Set(whole[without.scenario]?.misses.map(\.goal) ?? [])
        return (without.scenario, Set(without.misses.map(\.goal)).subtracting(before).count)
      }
      let worst = added.max { $0.1 < $1.1 }
      return AblationSummary(
        featureOff: feature, misses: figures.reduce(0) { $0 + $1.misses.count },
        wrongRuns: figures.reduce(0) { sum, figures in
          let isNever = figures.misses.contains { $0.goal == .neverConverges }
          return sum + max(figures.falseRuns, isNever ? figures.convergedRuns : 0)
        },
        convergedRuns: figures.reduce(0) { $0 + $1.convergedRuns }, errorRatio: ratio(\.rmse),
        timeRatio: ratio { $0.timeToConverge?.median },
        worstScenario: worst.flatMap { $0.1 > 0 ? $0.0 : nil })
    }
  }
}
