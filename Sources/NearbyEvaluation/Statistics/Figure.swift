// SPDX-License-Identifier: Apache-2.0
package import NearbyRecordings

/// A mean over many runs, with its standard error.
package struct Figure: Sendable, Hashable, Encodable {
  /// The mean over all moments of all runs.
  package var value: Double
  /// Its standard error; `nil` of a single run.
  ///
  /// Moments within a run are correlated, so it comes from the runs: with the moments `n_i` and the
  /// mean `m_i` of run `i` of `R`, and the mean of all `m`,
  ///
  ///     √( R / (R - 1) · Σ n_i² (m_i - m)² ) / Σ n_i
  ///
  /// the standard error of a ratio over clusters.
  @OrNull package var standardError: Double? = nil
  /// How many runs contributed, which are the independent draws of the mean.
  package var runs: Int

  /// Makes the figure from the sums of independent runs; `nil` when none has a moment.
  ///
  /// - Parameter sums: One sum for each run; empty ones do not count.
  package init?(_ sums: [RunRecord.Sum]) {
    let sums = sums.filter { $0.count > 0 }
    let count = sums.reduce(0) { $0 + $1.count }
    guard count > 0 else { return nil }
    let mean = sums.reduce(0) { $0 + $1.total } / Double(count)
    value = mean
    runs = sums.count
    guard sums.count > 1, mean.isFinite else { return }
    let scatter = sums.reduce(0.0) { sum, run in
      let deviation = run.total - Double(run.count) * mean
      return sum + deviation * deviation
    }
    let ratio = Double(sums.count) / Double(sums.count - 1)
    standardError = (ratio * scatter).squareRoot() / Double(count)
  }

  /// The figure over a constant, such as a number of degrees of freedom.
  package static func / (figure: Figure, divisor: Double) -> Figure {
    var figure = figure
    figure.value /= divisor
    figure.standardError = figure.standardError.map { $0 / divisor }
    return figure
  }
}
