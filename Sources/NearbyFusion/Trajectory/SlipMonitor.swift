// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Detects a slip of the odometry: at about the same time the samples of most peers at rest begin to
/// contradict their places.
///
/// A single contradicted peer was moved, or its ranges are those of a reflection. Several peers have only the
/// odometry in common. Obstruction may lengthen the ranges of several peers, too, so at least one peer's
/// ranges must be too short or its angles wrong. A slip that continues is detected again.
struct SlipMonitor: Sendable, Codable {
  /// When the newest slip was detected; `nil` when there was none.
  private(set) var detectedAt: Timestamp?
  /// Since when it has lasted: the first contradiction.
  private var beganAt: Timestamp?

  /// The window, seconds, within which contradictions of several peers have one cause.
  private static let sameEvent = 2.5
  /// Peers whose newest sample is older than this do not count, seconds.
  private static let heardWithin = 2.0
  /// The least number of contradicted peers, and their least share of the peers heard lately.
  private static let fewest = 2
  private static let share = 0.7
  /// The least time between two detections, seconds.
  private static let pause = 0.7
  /// The time after a detection in which the slip may continue, seconds.
  static let lasting = 1.5

  /// Whether a slip may still last at a moment.
  func isOpen(at time: Timestamp) -> Bool {
    detectedAt.map { time.seconds(since: $0) < Self.lasting } ?? false
  }

  /// Whether a slip explains a contradiction, by when that began: until the peers are found again, all that
  /// contradicts their places follows from the slip.
  func explains(contradictionSince time: Timestamp) -> Bool {
    guard let beganAt, let detectedAt else { return false }
    return time.seconds(since: beganAt) > -Self.sameEvent
      && time.seconds(since: detectedAt) < SlipMeasurement.latest
  }

  /// Takes note of a sample of a peer that is contradicted.
  ///
  /// - Parameters:
  ///   - time: The sample's time.
  ///   - witnesses: What the peers at rest say of the odometry.
  /// - Returns: Since when the first of them has been contradicted; `nil` when no slip is detected.
  mutating func detect(at time: Timestamp, _ witnesses: some Sequence<SlipWitness>) -> Timestamp? {
    if let detectedAt, time.seconds(since: detectedAt) < Self.pause { return nil }
    var (heard, contradicted, unobstructed) = (0, 0, 0)
    var first = time
    for witness in witnesses where time.seconds(since: witness.heardAt) < Self.heardWithin {
      heard += 1
      if let since = witness.contradictedSince, time.seconds(since: since) < Self.sameEvent {
        contradicted += 1
        first = min(first, since)
        if witness.isUnobstructed { unobstructed += 1 }
      }
    }
    guard unobstructed >= 1, contradicted >= Self.fewest,
      Double(contradicted) >= Self.share * Double(heard)
    else { return nil }
    if !isOpen(at: time) { beganAt = first }
    detectedAt = time
    return first
  }
}

/// What a peer at rest, whose place was found, says of the odometry.
struct SlipWitness: Hashable, Sendable {
  /// Its newest sample.
  var heardAt: Timestamp
  /// Since when samples have contradicted its place; `nil` when they agree.
  var contradictedSince: Timestamp?
  /// Whether its ranges are too short or its angles wrong, which no obstacle makes them.
  var isUnobstructed = false
}
