// SPDX-License-Identifier: Apache-2.0

/// A way in which the places of anchors may be wrong, as surveys go wrong.
///
/// Anchors are numbered as those who gave their places have them.
public enum SurveyFault: Hashable, Sendable {
  /// An anchor is somewhere else.
  case displaced(Int)
  /// Two anchors have each other's name.
  case exchanged(Int, Int)
  /// All heights have the wrong sign.
  case upsideDown
  /// The plan is its mirror image: left and right are exchanged.
  case mirrored
  /// All distances of the survey are too large by a factor, which is below one where they are too small.
  case scaled(by: Double)
  /// Range differences have the wrong sign: the two anchors of each are exchanged.
  case reversed
}

/// What measurements say of the places of anchors.
public enum SurveyVerdict: Hashable, Sendable {
  /// Too little has been measured to tell whether the places are right; they are not used.
  case untested
  /// The places are right to a metre, but for these faults, which are corrected. Those of which it is not known
  /// better are taken as uncertain.
  case plausible([SurveyFault])
  /// The places are right, but for these faults, which are corrected: a displaced anchor is left out. None
  /// where all is as surveyed.
  case confirmed([SurveyFault])
  /// The places are wrong, and not all of what is wrong is known; they are not used. These faults explain
  /// the measurements best.
  case contradicted([SurveyFault])

  /// What is wrong with the places, as far as it is known.
  public var faults: [SurveyFault] {
    switch self {
    case .untested: []
    case .plausible(let faults), .confirmed(let faults), .contradicted(let faults): faults
    }
  }
}
