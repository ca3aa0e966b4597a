// SPDX-License-Identifier: Apache-2.0

/// How far an engine's posterior is from the exact one, over the moments and runs of one scenario.
package struct ReferenceFigures: Sendable, Encodable {
  /// Quantiles over comparisons.
  package struct Quantiles: Sendable, Encodable {
    /// One in twenty is at or below it.
    package var percentile5: Double
    /// Half of them are at or below it.
    package var median: Double
    /// Nineteen in twenty are at or below it.
    package var percentile95: Double

    /// The quantiles of numbers; `nil` without numbers.
    init?(_ values: [Double]) {
      let sorted = values.sorted()
      guard let low = sorted.quantile(0.05), let median = sorted.quantile(0.5),
        let high = sorted.quantile(0.95)
      else { return nil }
      percentile5 = low
      self.median = median
      percentile95 = high
    }
  }

  /// The figures over some of the comparisons.
  package struct Row: Sendable, Encodable {
    /// How many comparisons.
    package var count: Int
    /// The share of them in which the engine had converged.
    package var convergedShare: Double
    /// The distance between the means, in exact sigmas.
    package var meanOff: Quantiles?
    /// The same of the height alone.
    package var heightOff: Quantiles?
    /// The same of the horizontal position alone.
    package var horizontalOff: Quantiles?
    /// The engine's sigma over the exact one.
    package var sigmaRatio: Quantiles?
    /// The same of the height alone.
    package var heightSigmaRatio: Quantiles?
    /// The exact sigma, metres.
    package var exactSigma: Quantiles?
    /// The exact sigma of the height, metres.
    package var exactHeightSigma: Quantiles?
    /// The mean of the exact posterior's normalised error squared over three.
    package var exactErrorSquared: Double?
    /// The mean of the engine's normalised error squared over three.
    package var errorSquared: Double?
    /// The standard error of the exact mean, in its sigmas.
    package var referenceError: Quantiles?

    init(_ comparisons: [ReferenceRun.Comparison]) {
      func quantiles(_ value: (ReferenceRun.Comparison) -> Double) -> Quantiles? {
        Quantiles(comparisons.map(value))
      }
      func mean(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
      }
      count = comparisons.count
      convergedShare = Double(comparisons.count(where: \.isConverged)) / Double(max(1, count))
      meanOff = quantiles(\.meanOff)
      heightOff = quantiles(\.heightOff)
      horizontalOff = quantiles(\.horizontalOff)
      sigmaRatio = quantiles(\.sigmaRatio)
      heightSigmaRatio = quantiles(\.heightSigmaRatio)
      exactSigma = quantiles(\.exactSigma)
      exactHeightSigma = quantiles(\.exactHeightSigma)
      exactErrorSquared = mean(comparisons.map(\.exactErrorSquared))
      errorSquared = mean(comparisons.compactMap(\.errorSquared))
      referenceError = quantiles(\.referenceError)
    }
  }

  /// The figures at one time.
  package struct TimeRow: Sendable, Encodable {
    /// Seconds after the start.
    package var seconds: Double
    /// The figures.
    package var figures: Row
  }

  /// The scenario's name.
  package var scenario: String
  /// Over all moments.
  package var all: Row
  /// Over the moments at which the engine had converged.
  package var converged: Row
  /// Over the moments at which the engine still fitted its hypotheses anew to all samples.
  package var searching: Row
  /// Over the moments at which it only filtered.
  package var filtering: Row
  /// At each time.
  package var times: [TimeRow]
  /// The goals that were missed.
  package var misses: [Miss]

  /// A goal that was not reached.
  package struct Miss: Sendable, Encodable {
    /// The measured value and the goal.
    package var explanation: String
    /// The seeds to look at first, the worst first.
    package var seeds: [UInt64]
  }

  /// Computes the figures.
  ///
  /// - Parameters:
  ///   - scenario: The scenario's name.
  ///   - comparisons: The comparisons of all runs and moments.
  ///   - goals: The goals.
  package init(
    scenario: String, _ comparisons: [ReferenceRun.Comparison], _ goals: ReferenceGoals
  ) {
    self.scenario = scenario
    all = Row(comparisons)
    converged = Row(comparisons.filter(\.isConverged))
    searching = Row(comparisons.filter(\.isSearching))
    filtering = Row(comparisons.filter { !$0.isSearching })
    times = Set(comparisons.map(\.seconds)).sorted().map { seconds in
      TimeRow(seconds: seconds, figures: Row(comparisons.filter { $0.seconds == seconds }))
    }
    misses = goals.misses(of: all, comparisons)
  }
}

/// How close an engine's posterior must be to the exact one, over all moments and runs of a scenario.
package struct ReferenceGoals: Sendable {
  /// The largest median of the distance between the means, in exact sigmas.
  package var largestMedianOff = 0.3
  /// The largest 95th percentile of it.
  package var largestPercentile95Off = 1.0
  /// The interval in which the median of the engine's sigma over the exact one must lie.
  package var sigmaRatioBand = 0.95...1.2
  /// The largest median of the exact mean's own standard error, in its sigmas.
  package var largestReferenceError = 0.1

  /// Makes the goals of this package.
  package init() {}

  /// The goals that were missed.
  ///
  /// - Parameters:
  ///   - row: The figures over all comparisons.
  ///   - comparisons: The comparisons.
  /// - Returns: The missed goals; without comparisons there is one.
  package func misses(
    of row: ReferenceFigures.Row, _ comparisons: [ReferenceRun.Comparison]
  ) -> [ReferenceFigures.Miss] {
    guard let off = row.meanOff, let ratio = row.sigmaRatio, let error = row.referenceError else {
      return [ReferenceFigures.Miss(explanation: "there is nothing to compare", seeds: [])]
    }
    var misses: [ReferenceFigures.Miss] = []
    func check(_ isReached: Bool, _ explanation: String, _ badness: (Comparison) -> Double) {
      if isReached { return }
      let ranked = comparisons.sorted { badness($0) > badness($1) }.map(\.seed)
      var seeds: [UInt64] = []
      for seed in ranked where !seeds.contains(seed) && seeds.count < 5 { seeds.append(seed) }
      misses.append(ReferenceFigures.Miss(explanation: explanation, seeds: seeds))
    }
    check(
      off.median <= largestMedianOff,
      "the mean is \(off.median.short) exact sigmas off at the median, goal at most "
        + largestMedianOff.short, \.meanOff)
    check(
      off.percentile95 <= largestPercentile95Off,
      "the mean is \(off.percentile95.short) exact sigmas off at the 95th percentile, goal at most "
        + largestPercentile95Off.short, \.meanOff)
    check(
      sigmaRatioBand.contains(ratio.median),
      "sigma is \(ratio.median.short) of the exact one at the median, goal "
        + "\(sigmaRatioBand.lowerBound.short) to \(sigmaRatioBand.upperBound.short)",
      { abs($0.sigmaRatio - 1) })
    check(
      error.median <= largestReferenceError,
      "the exact mean itself is known to \(error.median.short) sigmas only at the median",
      \.referenceError)
    return misses
  }

  private typealias Comparison = ReferenceRun.Comparison
}
