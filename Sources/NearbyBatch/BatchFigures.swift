// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// Figures over the recordings of a group.
///
/// Medians and the 90th percentile are over peers, each peer of each recording once; of an even
/// number the median is the mean of the middle two. A figure without data is `nil`.
public struct BatchFigures: Sendable, Encodable {
  /// The group's name.
  public var group: String
  /// How many recordings it has.
  public var recordings: Int
  /// How many of them failed.
  public var failed: Int
  /// How many peers the others have in total.
  public var peers: Int
  /// How many of those converged at some time.
  public var convergedPeers: Int
  /// The samples of all peers.
  public var samples: Int
  /// How many samples were rejected as a whole.
  public var samplesRejected: Int
  /// The median of the seconds to convergence, over peers that converged.
  public var medianSecondsToConvergence: Double?
  /// How many peers have a known truth.
  public var peersWithTruth: Int
  /// The median of the RMSE over the second half, metres.
  public var medianRMSESecondHalf: Double?
  /// The 90th percentile of it, metres.
  public var percentile90RMSESecondHalf: Double?
  /// The median of the error of the distance over the second half, metres.
  public var medianDistanceErrorSecondHalf: Double?
  /// The median of the error of the bearing over the second half, degrees.
  public var medianBearingErrorDegreesSecondHalf: Double?
  /// The median of the mean NEES over its degrees of freedom: 1 when claimed errors are right.
  public var medianNormalizedNEES: Double?
  /// The share of converged samples that are falsely converged, over all peers.
  public var falselyConvergedShare: Double?
  /// The share of samples after which a published distance or horizontal angle is wrong, over all peers.
  public var wronglyPublishedShare: Double?
  /// The median of the smoother's RMSE over the second half, metres.
  public var medianSmoothedRMSESecondHalf: Double?

  init(group: String, _ entries: [BatchReport.Entry]) {
    self.group = group
    recordings = entries.count
    var rows: [PeerSummary] = []
    failed = 0
    for entry in entries {
      switch entry.outcome {
      case .success(let found): rows += found.map(\.peer)
      case .failure: failed += 1
      }
    }
    peers = rows.count
    convergedPeers = rows.count { $0.secondsToFirstConvergence != nil }
    samples = rows.reduce(0) { $0 + $1.samples }
    samplesRejected = rows.reduce(0) { $0 + $1.samplesRejected }
    medianSecondsToConvergence = Self.quantile(0.5, rows.map(\.secondsToFirstConvergence))
    let errors = rows.compactMap(\.errors)
    peersWithTruth = errors.count
    medianRMSESecondHalf = Self.quantile(0.5, errors.map(\.rmseSecondHalf))
    percentile90RMSESecondHalf = Self.quantile(0.9, errors.map(\.rmseSecondHalf))
    medianDistanceErrorSecondHalf = Self.quantile(
      0.5, errors.map(\.medianDistanceErrorSecondHalf))
    medianBearingErrorDegreesSecondHalf = Self.quantile(
      0.5, errors.map(\.medianBearingErrorDegreesSecondHalf))
    medianNormalizedNEES = Self.quantile(0.5, errors.map(\.meanNormalizedNEES))
    let converged = errors.reduce(0.0) { $0 + Double($1.convergedSamples) }
    let wrong = errors.reduce(0.0) {
      $0 + Double($1.convergedSamples) * ($1.falselyConvergedShare ?? 0)
    }
    falselyConvergedShare = converged > 0 ? wrong / converged : nil
    let scored = errors.filter { $0.wronglyPublishedShare != nil }
    let published = scored.reduce(0.0) {
      $0 + Double($1.samples) * ($1.wronglyPublishedShare ?? 0)
    }
    let samplesScored = scored.reduce(0) { $0 + $1.samples }
    wronglyPublishedShare = samplesScored > 0 ? published / Double(samplesScored) : nil
    medianSmoothedRMSESecondHalf = Self.quantile(
      0.5, rows.map { $0.smoothed?.errors?.rmseSecondHalf })
  }

  /// A quantile of the numbers that exist, interpolated between neighbours.
  static func quantile(_ share: Double, _ numbers: [Double?]) -> Double? {
    let sorted = numbers.compactMap(\.self).filter(\.isFinite).sorted()
    guard let last = sorted.indices.last else { return nil }
    let place = share * Double(last)
    let low = Int(place)
    let fraction = place - Double(low)
    return sorted[low] + fraction * (sorted[min(low + 1, last)] - sorted[low])
  }
}
