// SPDX-License-Identifier: Apache-2.0

/// An engine's recovery from an event that made its track wrong, moment by moment.
///
/// A false convergence counts from the first sample that contradicts the track from before the
/// event (``RunEvent``), because nothing reveals it earlier. The time to regain convergence counts
/// from there or from the end of the event, whichever is later.
package struct RecoveryRecord: Sendable {
  /// How long after the first contradicting sample a false convergence is allowed, seconds.
  package static let allowedSeconds = 2.0
  /// A false convergence that begins later than this after the event is not attributed to the
  /// event, seconds.
  package static let longestReaction = 5.0

  /// The event, from its beginning to its end, seconds after the start of the run.
  package let span: ClosedRange<Double>
  /// The time of the first contradicting sample, seconds after the start of the run.
  package private(set) var contradictionSeconds: Double?
  /// The time of the first sample that is neither before the contradiction nor before the end of
  /// the event, seconds after the start of the run.
  package private(set) var settledSeconds: Double?
  /// The longest interval of false convergence after the contradiction, seconds.
  ///
  /// This is the time that it took to withdraw a convergence that had become false; zero if none
  /// had.
  package private(set) var withdrawalSeconds = 0.0
  /// How long after ``settledSeconds`` the engine was converged and right again, seconds; zero if
  /// it always was, `nil` if it never was again.
  package private(set) var regainedSeconds: Double?
  /// How long an engine that starts at ``settledSeconds`` takes to converge to the right position,
  /// seconds; `nil` if it never does.
  package internal(set) var freshStartSeconds: Double?

  private var hasHappened = false
  private var hasBeenWrong = false
  private var falseSince: Double?

  /// Makes the record of a future event.
  package init(span: ClosedRange<Double>) { self.span = span }

  /// Whether the event has happened and convergence is not regained yet.
  package var isUnderWay: Bool { hasHappened && regainedSeconds == nil }

  /// Whether a false convergence at that time is excused by the event.
  func isGrace(at seconds: Double) -> Bool {
    guard seconds >= span.lowerBound else { return false }
    return seconds <= (contradictionSeconds ?? .infinity) + Self.allowedSeconds
  }

  /// Adds the next moment.
  package mutating func add(_ moment: Moment) {
    guard moment.seconds >= span.lowerBound else { return }
    hasHappened = true
    if contradictionSeconds == nil, moment.contradictsFormerPlace {
      contradictionSeconds = moment.seconds
    }
    guard contradictionSeconds != nil else { return }
    noteFalseConvergence(moment)
    guard regainedSeconds == nil else { return }
    let isRight = moment.isConverged && !moment.isFalselyConverged
    if !isRight { hasBeenWrong = true }
    if settledSeconds == nil, moment.seconds >= span.upperBound { settledSeconds = moment.seconds }
    guard let settledSeconds else { return }
    let elapsed = moment.seconds - settledSeconds
    if hasBeenWrong {
      if isRight { regainedSeconds = elapsed }
    } else if elapsed > Self.longestReaction {
      regainedSeconds = 0
    }
  }

  private mutating func noteFalseConvergence(_ moment: Moment) {
    // The interval extends to the first moment that is not false, since a user is misled until
    // then.
    if let since = falseSince {
      withdrawalSeconds = max(withdrawalSeconds, moment.seconds - since)
    }
    falseSince = moment.isFalselyConverged ? falseSince ?? moment.seconds : nil
  }
}
