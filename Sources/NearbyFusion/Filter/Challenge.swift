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
    /// Whether the samples contradict it, and whether the ranges do.
    var isContradicted: Bool
    var rangesContradict: Bool
    /// Whether it has become too wide for its linearisation.
    var isLost: Bool

    /// Whether another track should be tried.
    var isDoubted: Bool { isContradicted || isLost }
  }

  /// What they ask of the challenger.
  struct Challenger: Hashable {
    var isConsistent: Bool
    var isContradicted: Bool
    /// Whether it has found one place.
    var isSettled: Bool
    /// Whether the device has seen the peer from another side since its birth: an angle that is stuck
    /// would have shown.
    var hasBeenTested: Bool
    /// The time since its first sample.
    var seconds: Double
  }

  /// A challenger must have run for so long before it takes over, seconds.
  private static let probation = 1.0

  /// Whether a challenger is given up: the incumbent agrees with the data, or the challenger does not.
  static func ends(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    incumbent.isConsistent && !incumbent.isLost || challenger.isContradicted
  }

  /// Whether a challenger takes the incumbent's place.
  static func wins(_ challenger: Challenger, _ incumbent: Incumbent) -> Bool {
    incumbent.isDoubted && challenger.isSettled && challenger.isConsistent
      && (challenger.hasBeenTested || incumbent.rangesContradict || incumbent.isLost)
      && challenger.seconds >= probation
  }
}

extension Track {
  /// The track as an incumbent.
  var asIncumbent: Challenge.Incumbent {
    Challenge.Incumbent(
      isConsistent: consistency.isConsistent, isContradicted: consistency.isContradicted,
      rangesContradict: consistency.rangesContradict, isLost: phase.isLost)
  }

  /// The track as a challenger, at the time of a sample.
  func asChallenger(at device: TrajectoryPoint) -> Challenge.Challenger {
    Challenge.Challenger(
      isConsistent: consistency.isConsistent, isContradicted: consistency.isContradicted,
      isSettled: phase.isSettled, hasBeenTested: hasBeenTested,
      seconds: device.timestamp.seconds(since: birthDevice.timestamp))
  }
}
