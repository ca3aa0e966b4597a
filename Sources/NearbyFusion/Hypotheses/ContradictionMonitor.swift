// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Notices when samples keep contradicting every hypothesis.
///
/// A one-sided cumulative sum (Page 1954) of how much better a bank born from the recent samples would
/// have predicted each sample than the bank at hand did. An obstruction and a jump look alike at
/// first; what tells them apart is time, so a converged bank is given ``FaultConfiguration/doubtAfter``
/// seconds, one that is still searching is not.
struct ContradictionMonitor: Hashable, Sendable {
  private var evidence = 0.0
  private var since: Timestamp?

  /// So many nats for a fresh start are beyond chance.
  private static let threshold = 12.0
  /// What a fresh start is charged for each sample.
  private static let charge = 0.5

  /// Takes one sample into account.
  ///
  /// - Parameters:
  ///   - logLikelihood: Of the sample under the bank at hand.
  ///   - fresh: Of the same under a fresh start that fits it.
  ///   - time: The sample's.
  ///   - patience: How many seconds the contradiction must last.
  /// - Returns: Whether it is time for new hypotheses.
  mutating func isContradicted(
    logLikelihood: Double, fresh: Double, at time: Timestamp, patience: Double
  ) -> Bool {
    evidence = max(0, evidence + fresh - logLikelihood - Self.charge)
    guard evidence > 0 else {
      since = nil
      return false
    }
    if since == nil { since = time }
    guard evidence > Self.threshold, let since, time.seconds(since: since) >= patience else {
      return false
    }
    reset()
    return true
  }

  mutating func reset() {
    evidence = 0
    since = nil
  }
}
