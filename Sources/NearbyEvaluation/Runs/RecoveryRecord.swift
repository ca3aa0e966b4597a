// SPDX-License-Identifier: Apache-2.0

/// How an engine came through an event after which its account was wrong, moment by moment.
///
/// A false convergence counts from the first sample that contradicts the account from before the event
/// (``RunEvent``): earlier nobody can know. The way back counts from there or from the end of the
/// event, whichever is later: earlier there is nothing to come back to.
public struct RecoveryRecord: Sendable {
  /// How long after the first contradicting sample a false convergence is allowed, seconds.
  public static let allowedSeconds = 2.0
  /// What begins to go wrong later than this after the event is not of the event, seconds.
  public static let longestReaction = 5.0

  /// The event, from its beginning to its end, seconds after the start of the run.
  public let span: ClosedRange<Double>
  /// When the first contradicting sample came, seconds after the start of the run.
  public private(set) var contradictionSeconds: Double?
  /// When the way back began: the first sample that is neither before the contradiction nor before
  /// the end of the event, seconds after the start of the run.
  public private(set) var settledSeconds: Double?
  /// The longest stretch, from the contradiction on, through which it was falsely converged, seconds.
  ///
  /// How long it took to withdraw a convergence that had become false; zero when it never had.
  public private(set) var withdrawalSeconds = 0.0
  /// How long after ``settledSeconds`` it was converged and right again, seconds; zero when it was
  /// never anything else, `nil` when it never was again.
  public private(set) var regainedSeconds: Double?
  /// How long an engine that starts at ``settledSeconds`` takes to be converged and right, seconds;
  /// `nil` when it never is.
  public internal(set) var freshStartSeconds: Double?

  private var hasHappened = false
  private var hasBeenWrong = false
  private var falseSince: Double?

  /// Makes the record of an event that is to come.
  public init(span: ClosedRange<Double>) { self.span = span }

  /// Whether the event has happened and convergence is not regained.
  public var isUnderWay: Bool { hasHappened && regainedSeconds == nil }

  /// Whether a false convergence at that moment is not held against the engine.
  func isGrace(at seconds: Double) -> Bool {
    guard seconds >= span.lowerBound else { return false }
    return seconds <= (contradictionSeconds ?? .infinity) + Self.allowedSeconds
  }

  /// Takes note of the next moment.
  public mutating func add(_ moment: Moment) {
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
    // A stretch ends with the first moment that is not false: until then a person was misled.
    if let since = falseSince {
      withdrawalSeconds = max(withdrawalSeconds, moment.seconds - since)
    }
    falseSince = moment.isFalselyConverged ? falseSince ?? moment.seconds : nil
  }
}
