// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Notices that the odometry has slipped: ranges and angles of most peers at rest turn against their
/// places at about the same time.
///
/// One peer that is contradicted was moved, or its ranges are those of a reflection. Several at once have
/// only the odometry in common, unless all are obstructed: a slip makes some ranges shorter. A slip that lasts is noticed again and again while it lasts.
struct SlipMonitor: Sendable {
  /// When the newest slip was noticed; `nil` when there was none.
  private(set) var noticedAt: Timestamp?

  /// Contradictions that begin within so many seconds are taken for one event.
  private static let sameEvent = 2.5
  /// A peer that was not heard for so long says nothing, seconds.
  private static let heardWithin = 2.0
  /// So many peers at least must be contradicted, and this share of those that are heard.
  private static let fewest = 2
  private static let share = 0.7
  /// A slip is noticed once in so many seconds.
  private static let pause = 0.7
  /// How long after it was noticed a slip may still last, seconds.
  static let lasting = 1.5

  /// Whether a slip may still last at a moment.
  func isOpen(at time: Timestamp) -> Bool {
    noticedAt.map { time.seconds(since: $0) < Self.lasting } ?? false
  }

  /// Takes note of a sample of a peer that is contradicted.
  ///
  /// - Parameters:
  ///   - time: The sample's time.
  ///   - witnesses: What the peers at rest say of the odometry.
  /// - Returns: Whether a slip is noticed.
  mutating func notice(at time: Timestamp, _ witnesses: some Sequence<SlipWitness>) -> Bool {
    if let noticedAt, time.seconds(since: noticedAt) < Self.pause { return false }
    var (heard, contradicted, short) = (0, 0, 0)
    for witness in witnesses where time.seconds(since: witness.heardAt) < Self.heardWithin {
      heard += 1
      if let since = witness.contradictedSince, time.seconds(since: since) < Self.sameEvent {
        contradicted += 1
        if witness.isShort { short += 1 }
      }
    }
    guard short >= 1, contradicted >= Self.fewest,
      Double(contradicted) >= Self.share * Double(heard)
    else { return false }
    noticedAt = time
    return true
  }
}

/// What a peer at rest, whose place was found, says of the odometry.
struct SlipWitness: Hashable, Sendable {
  /// Its newest sample.
  var heardAt: Timestamp
  /// Since when samples have contradicted its place; `nil` when they agree.
  var contradictedSince: Timestamp?
  /// Whether its ranges are too short, and not only obstructed.
  var isShort = false
}
