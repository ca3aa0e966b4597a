// SPDX-License-Identifier: Apache-2.0

/// How an engine came through an event after which its account was wrong, moment by moment.
///
/// Times count from the first sample that contradicts the account from before the event: earlier
/// nobody can know. See ``RunEvent``.
public struct RecoveryRecord: Sendable {
  /// How long after the first contradicting sample a false convergence is allowed, seconds.
  public static let allowedSeconds = 2.0
  /// What begins to go wrong later than this after the first contradicting sample is not of the
  /// event, seconds.
  public static let longestReaction = 5.0

  /// When the event happened, seconds after the start of the run.
  public let eventSeconds: Double
  /// When the first contradicting sample came, seconds after the start of the run.
  public private(set) var contradictionSeconds: Double?
  /// The longest stretch, from the contradiction on, through which it was falsely converged, seconds.
  ///
  /// How long it took to withdraw a convergence that had become false; zero when it never had.
  public private(set) var withdrawalSeconds = 0.0
  /// How long after the contradiction it was converged and right for the first time again, seconds;
  /// zero when it never was anything else, `nil` when it never was again.
  public private(set) var regainedSeconds: Double?
  /// How long an engine that starts with the first contradicting sample takes to be converged and
  /// right, seconds; `nil` when it never is.
  public var freshStartSeconds: Double?

  private var hasHappened = false
  private var hasBeenWrong = false
  private var falseSince: Double?

  /// Makes the record of an event that is to come.
  public init(eventSeconds: Double) { self.eventSeconds = eventSeconds }

  /// Whether the event has happened and convergence is not regained.
  public var isUnderWay: Bool { hasHappened && regainedSeconds == nil }

  /// Whether a false convergence at that moment is not held against the engine.
  func isGrace(at seconds: Double) -> Bool {
    guard seconds >= eventSeconds else { return false }
    return seconds <= (contradictionSeconds ?? .infinity) + Self.allowedSeconds
  }

  /// Takes note of the next moment.
  public mutating func add(_ moment: Moment) {
    guard moment.seconds >= eventSeconds else { return }
    hasHappened = true
    if contradictionSeconds == nil, moment.contradictsFormerPlace {
      contradictionSeconds = moment.seconds
    }
    guard let contradictionSeconds else { return }
    noteFalseConvergence(moment)
    let isRight = moment.isConverged && !moment.isFalselyConverged
    let elapsed = moment.seconds - contradictionSeconds
    guard regainedSeconds == nil else { return }
    if elapsed <= Self.longestReaction, !isRight { hasBeenWrong = true }
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
