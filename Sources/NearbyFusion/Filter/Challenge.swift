// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The rules by which a second track challenges the one that is published.
///
/// When the samples keep contradicting the incumbent track, a challenger is born from them and runs
/// beside it. The track that is consistent with the data wins. Both rules are pure, and
/// `ChallengeTests` tests them as tables.
enum Challenge {
  /// What the rules ask of the incumbent.
  struct Incumbent: Hashable {
    /// Whether all samples agree with it.
    var isConsistent: Bool
    /// Whether the samples contradict it.
    var isContradicted: Bool
    /// Whether it has become too wide for its linearisation.
    var isLost: Bool
    /// Whether the peer may have moved as fast as the ranges have changed.
    var mayHaveMoved = true
    /// How far the device has gone in agreement with it, metres; zero of a peer that moves at will.
    var explainedWalk = 0.0

    /// Removes the walk that it has explained, which is void in a new world of the odometry.
    mutating func forgetWalk() {
      mayHaveMoved = true
      explainedWalk = 0
    }

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
    /// How far the device has gone in agreement with it, metres.
    var explainedWalk = 0.0
    /// Whether angles agree with it, too.
    var hasAngles = false
    /// The logarithm of its evidence over the incumbent's, by all that was ever measured, nats.
    var logEvidenceRatio = 0.0
  }

  /// A challenger must have run for so long before it takes over, seconds.
  private static let probation = 1.0
  /// The walk with ranges alone, metres, and the time with angles, seconds, that a challenger must explain
  /// before a peer at rest is taken to have been moved: most reflections and faults are shorter.
  static let movedWalk = 8.0
  private static let movedSeconds = 3.0
  /// The walk with a challenger, metres, after which a peer is taken to have been moved however suddenly the
  /// ranges changed: a reflection hardly explains a longer one.
  private static let suddenlyMovedWalk = 20.0
  /// The log evidence ratio, nats, from which the peer is taken to have been at the challenger's place
  /// all along.
  static let decisiveNats = 7.0

  /// Whether a challenger is given up: the data contradict it, or the incumbent agrees with them and with it.
  ///
  /// An incumbent that agrees with the data alone may do so by chance, on a walk along the plane between its place
  /// and the one to which the peer was moved.
  static func ends(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    challenger.isContradicted
      || incumbent.isConsistent && !incumbent.isLost && challenger.includesIncumbent
  }

  /// Whether a challenger takes the incumbent's place.
  static func wins(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    incumbent.isDoubted && challenger.isPlaced && challenger.isConsistent
      && challenger.seconds >= probation && outweighs(challenger, incumbent)
  }

  /// Whether a challenger has enough evidence against what the incumbent has explained before.
  ///
  /// Either the peer was at the challenger's place all along: the whole history is in favour of it. Or it
  /// was moved: then the challenger has explained a walk that is longer than most faults last, and a longer
  /// one if the ranges have changed faster than a peer moves.
  private static func outweighs(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    if incumbent.isLost { return true }
    if challenger.logEvidenceRatio > decisiveNats { return true }
    if challenger.explainedWalk >= suddenlyMovedWalk { return true }
    guard incumbent.mayHaveMoved else { return false }
    return challenger.explainedWalk >= min(movedWalk, incumbent.explainedWalk)
      || challenger.hasAngles && challenger.seconds >= movedSeconds
  }
}

extension Track {
  /// The track as an incumbent.
  var asIncumbent: Challenge.Incumbent {
    Challenge.Incumbent(
      isConsistent: consistency.isConsistent, isContradicted: consistency.isContradicted,
      isLost: phase.isLost,
      mayHaveMoved: consistency.onset == .gradual || motion != .stationary,
      explainedWalk: motion == .stationary && phase.isSettled ? explainedWalk : 0)
  }

  /// The track as a challenger, at the time of a sample.
  func asChallenger(of incumbent: Track, at device: TrajectoryPoint) -> Challenge.Challenger {
    Challenge.Challenger(
      isConsistent: consistency.isConsistent, isContradicted: consistency.isContradicted,
      isPlaced: phase.isSettled || motion == .stationary && isOnePlaceFromAbove,
      includesIncumbent: motion != .stationary || includes(incumbent),
      seconds: device.timestamp.seconds(since: birthDevice.timestamp),
      explainedWalk: explainedWalk, hasAngles: hasAngles)
  }
}
