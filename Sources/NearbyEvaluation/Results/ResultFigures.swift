// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry
public import NearbyRecordings

/// Figures of a result over some rows, including the errors against the truth.
public struct ResultFigures: Sendable, Codable {
  /// The errors.
  public var errors: ErrorStatistics
  /// The mean NIS over the number of components, of completely used samples.
  ///
  /// One is expected.
  public var normalizedInnovationSquared: Double?
  /// The share of rows in which each output was available; `nil` for smoothed rows.
  public var availability: PerOutput?
  /// Seconds from the peer's first row to the first that is converged; over several peers the latest,
  /// `nil` when one never converges.
  public var secondsToConverge: Double?
  /// How often convergence was lost again.
  public var losses: Int
  /// The root mean square step of the published position from row to row, beyond the true motion,
  /// metres.
  public var jitter: Double?
}

extension ResultFigures {
  init(_ entries: [ResultEntry], _ errors: ErrorStatistics) {
    self.errors = errors
    losses = entries.reduce(0) { $0 + $1.losses }
    let components = entries.reduce(0) { $0 + $1.innovationComponents }
    if components > 0 {
      normalizedInnovationSquared =
        (entries.reduce(0.0) { $0 + $1.innovations.total } / Double(components)).finite
    }
    let rows = entries.reduce(0) { $0 + $1.rows }
    if rows > 0, entries.contains(where: \.hasStatus) {
      func share(_ output: Int) -> Double {
        Double(entries.reduce(0) { $0 + $1.published[output] }) / Double(rows)
      }
      availability = PerOutput(
        distance: share(0), direction: share(1), horizontalAngle: share(2), vertical: share(3),
        worldTransform: share(4))
    }
    let times = entries.map { (entry: ResultEntry) -> Double in
      entry.converged.map { Double($0.nanoseconds - entry.start.nanoseconds) / 1e9 } ?? .infinity
    }
    secondsToConverge = times.max()?.finite
    jitter = Figure(entries.map(\.jitter))?.value.squareRoot().finite
  }
}
