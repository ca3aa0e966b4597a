// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings
package import NearbySimulation

/// The goals that an engine must reach in every scenario.
package struct ProofGoals: Sendable {
  /// The largest root mean square error over the bound.
  package var largestEfficiency = 1.10
  /// The interval in which NEES over three and each component's NIS must lie.
  package var consistencyBand = 0.8...1.25
  /// The share of runs that may be falsely converged at some time must be below this.
  package var falseRunShare = 0.001
  /// The largest share of samples after which a published distance or horizontal angle is wrong.
  package var wronglyPublishedShare = 0.001
  /// The largest median of the time to converge over the bound's.
  package var largestMedianTimeRatio = 1.15
  /// The largest median of the time to regain convergence over that of a fresh start.
  package var largestMedianRegainRatio = 1.15

  /// Makes the goals of this package.
  package init() {}

  /// A goal that was not reached.
  package struct Miss: Sendable, Encodable {
    /// The goal's name.
    package var goal: Goal
    /// The measured value and the goal.
    package var explanation: String
    /// The seeds of the runs to look at first, the worst first.
    package var seeds: [UInt64]
  }

  /// A goal, by name.
  package struct Goal: Hashable, Sendable, Encodable, RawRepresentable, CaseIterable {
    /// The name.
    package let rawValue: String

    /// Makes one of its name; `nil` when there is no such goal.
    package init?(rawValue: String) {
      guard Self.allCases.contains(where: { $0.rawValue == rawValue }) else { return nil }
      self.rawValue = rawValue
    }

    private init(_ name: String) { rawValue = name }

    /// RMSE over the bound.
    package static let efficiency = Goal("efficiency")
    /// NEES over three.
    package static let normalizedErrorSquared = Goal("normalizedErrorSquared")
    /// Runs with a false convergence.
    package static let falseConvergence = Goal("falseConvergence")
    /// Samples after which what is published is wrong.
    package static let publishedOutputs = Goal("publishedOutputs")
    /// The time to converge.
    package static let timeToConverge = Goal("timeToConverge")
    /// No convergence in scenarios that do not allow it.
    package static let neverConverges = Goal("neverConverges")
    /// The time until a false convergence is withdrawn.
    package static let withdrawal = Goal("withdrawal")
    /// The time until convergence is regained.
    package static let regain = Goal("regain")

    /// The goal of the NIS of a kind of measurement: `rangeInnovation`, say.
    package static func innovation(of kind: MeasurementKind) -> Goal { Goal("\(kind)Innovation") }

    /// All goals.
    package static var allCases: [Goal] {
      [efficiency, normalizedErrorSquared] + MeasurementKind.allCases.map(innovation(of:))
        + [falseConvergence, publishedOutputs, timeToConverge, neverConverges, withdrawal, regain]
    }
  }

  /// Compares statistics with the goals.
  ///
  /// - Parameters:
  ///   - report: The statistics of a scenario.
  ///   - expectation: The scenario's expected outcome.
  /// - Returns: The missed goals; a missing figure misses its goal.
  package func misses(of report: ConsistencyReport, _ expectation: Scenario.Expectation) -> [Miss] {
    var misses: [Miss] = []
    switch expectation {
    case .neverConverges:
      if !report.convergedSeeds.isEmpty {
        misses.append(
          Miss(
            goal: .neverConverges,
            explanation: "\(report.convergedSeeds.count) of \(report.records.count) runs converged",
            seeds: report.convergedSeeds.worst()))
      }
    case .converges, .follows:
      misses += claims(report)
      misses += [timeToConverge(report)].compactMap(\.self)
    case .mayConverge:
      if !report.convergedSeeds.isEmpty {
        misses += consistency(report).filter { $0.goal == .normalizedErrorSquared }
      }
    case .recovers:
      misses += claims(report)
      misses += [timeToConverge(report), withdrawal(report), regain(report)].compactMap(\.self)
    }
    return misses + [falseConvergence(report), publishedOutputs(report)].compactMap(\.self)
  }

  // MARK: One goal each

  private func claims(_ report: ConsistencyReport) -> [Miss] {
    guard let efficiency = report.efficiency else {
      return [
        Miss(goal: .efficiency, explanation: "no run was ever converged", seeds: [])
      ]
    }
    var misses: [Miss] = []
    if !(efficiency <= largestEfficiency) {
      misses.append(
        Miss(
          goal: .efficiency,
          explanation: """
            RMSE is \(efficiency.short) times the bound, goal at most \(largestEfficiency.short)
            """,
          seeds: report.records.worst { record in
            record.converged.squaredError.total - record.converged.squaredBound.total
          }))
    }
    return misses + consistency(report)
  }

  private func consistency(_ report: ConsistencyReport) -> [Miss] {
    var misses: [Miss] = []
    var components: [(Goal, String, Figure?, Int, (RunRecord) -> RunRecord.Sum)] = [
      (
        .normalizedErrorSquared, "NEES/3", report.normalizedErrorSquared, 3,
        \.converged.normalizedErrorSquared
      )
    ]
    let figures = report.normalizedInnovationSquared
    for kind in MeasurementKind.allCases {
      components.append(
        (
          .innovation(of: kind), "NIS of \(kind.name)", figures[kind], 1,
          { $0.converged.normalizedInnovationSquared[kind] }
        ))
    }
    for (goal, name, figure, degrees, sum) in components {
      guard let figure, !consistencyBand.contains(figure.value) else { continue }
      let band = ChiSquare(degreesOfFreedom: degrees)
        .meanBand(count: figure.runs, probability: 0.95)
      let sign = figure.value > consistencyBand.upperBound ? 1.0 : -1.0
      misses.append(
        Miss(
          goal: goal,
          explanation: """
            \(name) is \(figure.value.short)\(figure.standardError.map { " ± \($0.short)" } ?? "") \
            over \(figure.runs) run\(figure.runs == 1 ? "" : "s"), goal \(consistencyBand.lowerBound.short) to \
            \(consistencyBand.upperBound.short); as many independent draws lie within \
            \((band.lowerBound / Double(degrees)).short) to \
            \((band.upperBound / Double(degrees)).short) in 95 %
            """,
          seeds: report.records.worst { sign * (sum($0).total - Double(sum($0).count * degrees)) }))
    }
    return misses
  }

  private func falseConvergence(_ report: ConsistencyReport) -> Miss? {
    let seeds = report.falseConvergences
    let share = Double(seeds.count) / Double(max(1, report.records.count))
    guard share >= falseRunShare else { return nil }
    return Miss(
      goal: .falseConvergence,
      explanation: """
        \(seeds.count) of \(report.records.count) runs were falsely converged at some moment, goal \
        below \((falseRunShare * 100).short) %
        """,
      seeds: seeds.worst())
  }

  private func publishedOutputs(_ report: ConsistencyReport) -> Miss? {
    guard let share = report.wronglyPublishedShare, share > wronglyPublishedShare else {
      return nil
    }
    return Miss(
      goal: .publishedOutputs,
      explanation: """
        a distance or angle is published and wrong after \((share * 100).short) % of the samples, goal at \
        most \((wronglyPublishedShare * 100).short) %
        """,
      seeds: report.records.worst { Double($0.outputs.wrongSamples) })
  }

  private func timeToConverge(_ report: ConsistencyReport) -> Miss? {
    let ratios = report.timeRatios
    guard let median = ratios.quantile(0.5), !(median <= largestMedianTimeRatio) else { return nil }
    return Miss(
      goal: .timeToConverge,
      explanation: median.isFinite
        ? "the median time to converge is \(median.short) times the bound's, goal at most "
          + largestMedianTimeRatio.short
        : "\(ratios.count { !$0.isFinite }) of \(ratios.count) runs that could converge never did, goal "
          + "a median of at most \(largestMedianTimeRatio.short) times the bound's time",
      seeds: report.records.worst { record in
        record.firstPossibleConvergence.map { possible in
          ((record.firstConvergence?.seconds ?? 1e6) + 0.1) / (possible.seconds + 0.1)
        } ?? 0
      })
  }

  private func withdrawal(_ report: ConsistencyReport) -> Miss? {
    let seeds = report.slowWithdrawals
    guard !seeds.isEmpty else { return nil }
    return Miss(
      goal: .withdrawal,
      explanation: """
        \(seeds.count) of \(report.recoveries.count) runs stayed falsely converged for more than \
        \(RecoveryRecord.allowedSeconds.short) s
        """,
      seeds: report.records.worst { $0.recovery?.withdrawalSeconds ?? 0 })
  }

  private func regain(_ report: ConsistencyReport) -> Miss? {
    let ratios = report.regainRatios
    guard let median = ratios.quantile(0.5), !(median <= largestMedianRegainRatio) else {
      return nil
    }
    return Miss(
      goal: .regain,
      explanation: median.isFinite
        ? "the median time to regain convergence is \(median.short) times that of a fresh start, goal at "
          + "most \(largestMedianRegainRatio.short)"
        : "\(ratios.count { !$0.isFinite }) of \(ratios.count) runs never regained convergence, goal a "
          + "median of at most \(largestMedianRegainRatio.short) times the time of a fresh start",
      seeds: report.records.worst { $0.recovery.map { $0.regainedSeconds ?? 1e6 } ?? 0 })
  }
}

/// The number of seeds that a miss names.
private let namedSeeds = 5

extension [UInt64] {
  /// The first seeds, each once, since each peer of a run has its own record.
  fileprivate func worst() -> [UInt64] {
    Array(reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.prefix(namedSeeds))
  }
}

extension [RunRecord] {
  /// The seeds of the runs with the largest values above zero, the largest first.
  fileprivate func worst(_ value: (RunRecord) -> Double) -> [UInt64] {
    let ranked = map { (seed: $0.seed, value: value($0)) }.filter { $0.value > 0 }
      .sorted { ($1.value, $0.seed) < ($0.value, $1.seed) }
    return ranked.map(\.seed).worst()
  }
}
