// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The rules by which a second track challenges the one that is published.
///
/// When the samples keep contradicting the incumbent track, a challenger is born from them and runs
/// beside it. If it is consistent with the data, the evidence of all that was measured decides
/// (``ModeChain``). Both rules are pure, and `ChallengeTests` tests them as tables.
enum Challenge {
  /// What the rules ask of the incumbent.
  struct Incumbent: Hashable {
    /// Whether all samples agree with it.
    var isConsistent: Bool
    /// Whether the samples contradict it.
    var isContradicted: Bool
    /// Whether it has become too wide for its linearisation.
    var isLost: Bool

    /// Whether another track should be tried.
    var isDoubted: Bool { isContradicted || isLost }
  }

  /// What they ask of the challenger.
  struct Challenger: Hashable {
    var isConsistent: Bool
    var isContradicted: Bool
    /// Whether it has found one place, or of a peer at rest places that differ in height only.
    ///
    /// The joint fit finds the height, but only of the incumbent.
    var isPlaced: Bool
    /// Whether the incumbent's place is one of those that it allows; always of a peer that may move.
    var includesIncumbent: Bool
    /// The time since its first sample.
    var seconds: Double
  }

  /// A challenger must have run for so long before it takes over, seconds.
  private static let probation = 1.0

  /// Whether a challenger is given up: the data contradict it, or the incumbent agrees with them and with it.
  ///
  /// An incumbent that agrees with the data alone may do so by chance, on a walk along the plane between its place
  /// and the one to which the peer was moved.
  static func ends(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    challenger.isContradicted
      || incumbent.isConsistent && !incumbent.isLost && challenger.includesIncumbent
  }

  /// Whether a challenger may take the incumbent's place, if its own is the more probable one (``ModeChain``).
  static func mayWin(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    incumbent.isDoubted && challenger.isPlaced && challenger.isConsistent
      && challenger.seconds >= probation
  }
}

extension Track {
  /// The track as an incumbent.
  var asIncumbent: Challenge.Incumbent {
    Challenge.Incumbent(
      isConsistent: consistency.isConsistent, isContradicted: consistency.isContradicted,
      isLost: phase.isLost)
  }

  /// The track as a challenger, at the time of a sample.
  func asChallenger(of incumbent: Track, at device: TrajectoryPoint) -> Challenge.Challenger {
    Challenge.Challenger(
      isConsistent: consistency.isConsistent, isContradicted: consistency.isContradicted,
      isPlaced: phase.isSettled || motion == .stationary && isOnePlaceFromAbove,
      includesIncumbent: motion != .stationary || includes(incumbent),
      seconds: device.timestamp.seconds(since: birthDevice.timestamp))
  }
}
