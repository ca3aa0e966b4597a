// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// The statistics of many runs of one scenario.
///
/// Each peer of a run has its own record and counts as a run. Means are over moments. Each ``Figure`` has the standard error of its mean.
package struct ConsistencyReport: Sendable, CustomStringConvertible {
  /// The runs, in the order of their seeds and peers.
  package let records: [RunRecord]

  /// Makes the statistics of records.
  package init(records: [RunRecord]) { self.records = records }

  // MARK: Claims while converged

  /// The mean normalised error squared while converged, over three.
  ///
  /// One is expected.
  package var normalizedErrorSquared: Figure? {
    Figure(records.map(\.converged.normalizedErrorSquared)).map { $0 / 3 }
  }

  /// The mean normalised innovations squared of each kind of measurement while converged.
  ///
  /// One is expected; `nil` where nothing was measured.
  package var normalizedInnovationSquared: PerKind<Figure?> {
    PerKind { kind in
      Figure(records.map { $0.converged.normalizedInnovationSquared[kind] })
    }
  }

  /// The root mean square error while converged, metres.
  package var rootMeanSquareError: Double? { root(\.converged.squaredError) }

  /// The root mean square of the claimed sigma over the same moments, metres.
  package var rootMeanSquareClaim: Double? { root(\.converged.squaredClaim) }

  /// The root mean square of the bound over the same moments, metres.
  package var rootMeanSquareBound: Double? { root(\.converged.squaredBound) }

  /// The root mean square error over the bound.
  ///
  /// One is the optimum.
  package var efficiency: Double? {
    rootMeanSquareError.flatMap { error in rootMeanSquareBound.map { error / $0 } }
  }

  // MARK: Convergence

  /// The seeds of the runs that converged at some time.
  package var convergedSeeds: [UInt64] { seeds { $0.firstConvergence != nil } }

  /// The seeds of the runs with a false convergence, except shortly after an event.
  package var falseConvergences: [UInt64] { seeds { $0.falseSamples > 0 } }

  /// The share of converged samples that are falsely converged.
  package var falseSampleShare: Double? {
    let converged = records.reduce(0) { $0 + $1.convergedSamples }
    guard converged > 0 else { return nil }
    return Double(records.reduce(0) { $0 + $1.falseSamples }) / Double(converged)
  }

  /// The share of all samples after which a published distance or horizontal angle was wrong.
  package var wronglyPublishedShare: Double? {
    let samples = records.reduce(0) { $0 + $1.samples }
    guard samples > 0 else { return nil }
    return Double(records.reduce(0) { $0 + $1.outputs.wrongSamples }) / Double(samples)
  }

  /// The seeds of the runs that reported the wrong vertical direction at some time.
  package var wrongSides: [UInt64] { seeds { $0.outputs.wrongSides > 0 } }

  /// The time to converge over the time to the bound's convergence, for each run whose bound meets the
  /// criterion, in ascending order; infinite for runs that never converge.
  ///
  /// One sample period (0.1 s) is added to both times, so that the ratio exists when the first
  /// sample suffices.
  package var timeRatios: [Double] {
    records.compactMap { record in
      record.firstPossibleConvergence.map { possible in
        ((record.firstConvergence?.seconds ?? .infinity) + 0.1) / (possible.seconds + 0.1)
      }
    }.sorted()
  }

  /// The first convergences of the runs that converge.
  var arrivals: [RunRecord.Arrival] { records.compactMap(\.firstConvergence) }

  // MARK: Recovery

  /// The recoveries of the runs in which a sample contradicted the track.
  package var recoveries: [RecoveryRecord] {
    records.compactMap(\.recovery).filter { $0.contradictionSeconds != nil }
  }

  /// The seeds of the runs that stayed falsely converged for longer than allowed.
  package var slowWithdrawals: [UInt64] {
    seeds { ($0.recovery?.withdrawalSeconds ?? 0) > RecoveryRecord.allowedSeconds }
  }

  /// The time to regain convergence over that of a fresh start, in ascending order, for the runs
  /// whose fresh start converges.
  package var regainRatios: [Double] {
    recoveries.compactMap { recovery in
      recovery.freshStartSeconds.map { fresh in
        ((recovery.regainedSeconds ?? .infinity) + 0.1) / (fresh + 0.1)
      }
    }.sorted()
  }

  // MARK: -

  /// The statistics in one line.
  package var description: String {
    func text(_ value: Double?) -> String { value?.fixed(decimals: 3) ?? "-" }
    let figures = normalizedInnovationSquared
    let innovations = MeasurementKind.allCases.map { text(figures[$0]?.value) }
    return """
      NEES/3 \(text(normalizedErrorSquared?.value)), NIS \(innovations.joined(separator: "/")), \
      RMSE \(text(rootMeanSquareError)) m, claimed \(text(rootMeanSquareClaim)) m, \
      bound \(text(rootMeanSquareBound)) m, ratio \(text(efficiency)), \
      converged \(convergedSeeds.count) of \(records.count), false \(falseConvergences.count), \
      time ratio \(text(timeRatios.quantile(0.5)))
      """
  }

  private func seeds(_ isIncluded: (RunRecord) -> Bool) -> [UInt64] {
    records.filter(isIncluded).map(\.seed)
  }

  private func root(_ sum: (RunRecord) -> RunRecord.Sum) -> Double? {
    Figure(records.map(sum))?.value.squareRoot()
  }
}

extension [Double] {
  /// The quantile of ascending numbers: the smallest one that at least the given share of them does
  /// not exceed; `nil` without numbers.
  func quantile(_ share: Double) -> Double? {
    isEmpty ? nil : self[Swift.min(count - 1, Int((share * Double(count)).rounded(.down)))]
  }
}
