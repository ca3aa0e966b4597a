// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Notices when samples keep contradicting every hypothesis.
///
/// A burst of faults and a peer that is not where the bank believes look alike sample by sample, and a
/// fault that lasts explains everything; what tells them apart is time. So the share of contradicting
/// samples is averaged over the last second or so (a leaky integral with time constant
/// ``FaultConfiguration/doubtAfter``).
struct ContradictionMonitor: Hashable, Sendable, Codable {
  /// The share of contradicting samples, lately.
  private(set) var share = 0.0
  /// Contradicting samples less consistent ones, at least zero.
  private var surplus = 0
  private var last: Timestamp?

  private static let high = 0.65
  private static let low = 0.3
  private static let fewest = 4
  /// A share below this is none.
  private static let negligible = 1e-3

  /// Whether the samples contradict the bank.
  var isContradicted: Bool { share > Self.high && surplus >= Self.fewest }
  /// Whether more of them contradict it than agree.
  var isDoubtful: Bool { share > 0.5 }
  /// Whether they agree with it.
  var isConsistent: Bool { share < Self.low }

  /// Whether hardly any contradicts it.
  var isNegligible: Bool { share <= Self.negligible }

  /// Goes on to a time without a sample that tells anything.
  @inline(__always)
  mutating func skip(to time: Timestamp) { last = time }

  /// Takes one sample into account.
  ///
  /// - Parameters:
  ///   - contradicts: Whether it contradicts the heaviest hypothesis.
  ///   - time: Its time.
  ///   - patience: The time constant, seconds.
  @inline(__always)
  mutating func add(contradicts: Bool, at time: Timestamp, patience: Double) {
    // Nothing but consistent samples lately: there is nothing to forget.
    if contradicts || share > Self.negligible || surplus > 0 {
      weigh(contradicts: contradicts, at: time, patience: patience)
    }
    last = time
  }

  @inline(never)
  private mutating func weigh(contradicts: Bool, at time: Timestamp, patience: Double) {
    let seconds = last.map { max(0, time.seconds(since: $0)) } ?? 0
    share += (1 - exp(-seconds / patience)) * ((contradicts ? 1 : 0) - share)
    surplus = max(0, min(surplus + (contradicts ? 1 : -1), 4 * Self.fewest))
  }
}
