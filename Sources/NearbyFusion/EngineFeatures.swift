// SPDX-License-Identifier: Apache-2.0

/// Parts of the engine that can be switched off, to measure what each is worth.
///
/// No settings: an engine without one of them is a worse engine, or the part would not be here.
package struct EngineFeatures: OptionSet, Hashable, Sendable, Codable {
  package var rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A place that is found is fitted to all samples until its shell is flat.
  package static let refinement = EngineFeatures(rawValue: 1 << 0)
  /// Convergence needs two searches in a row that looked everywhere.
  package static let confirmation = EngineFeatures(rawValue: 1 << 1)
  /// A search in which no place explains the ranges has found nothing.
  package static let explanation = EngineFeatures(rawValue: 1 << 2)
  /// Each place is tried with azimuths that confuse front and back, too.
  package static let mirroredAzimuths = EngineFeatures(rawValue: 1 << 3)
  /// A share of the angles' errors does not depend on the pose.
  package static let constantAngleErrors = EngineFeatures(rawValue: 1 << 4)
  /// Faults of neighbouring keyframes hang together.
  package static let faultChains = EngineFeatures(rawValue: 1 << 5)
  /// Angles that repeat themselves to the last digit are left out.
  package static let stuckAngles = EngineFeatures(rawValue: 1 << 6)
  /// How noisy the radio is, and in which way, is learnt.
  package static let noiseLearning = EngineFeatures(rawValue: 1 << 7)
  /// Steps that no device makes are jumps of the odometry's world.
  package static let jumpDetection = EngineFeatures(rawValue: 1 << 8)
  /// A place found for a peer of unknown motion is on probation.
  package static let probation = EngineFeatures(rawValue: 1 << 9)
  /// Peers at rest are fitted together with the odometry's drift, and heights are verified by that.
  package static let jointFit = EngineFeatures(rawValue: 1 << 10)

  /// A challenger may win by the evidence of all that was measured.
  package static let walkHistory = EngineFeatures(rawValue: 1 << 11)
  /// A place that another one has replaced is kept: the peer may be there after all, or was moved from it.
  package static let dormantTracks = EngineFeatures(rawValue: 1 << 12)
  /// Where too many ranges are too short for a place, all places are searched anew.
  package static let reopening = EngineFeatures(rawValue: 1 << 13)
  /// Residuals that are larger than they should be widen the covariance that is published.
  package static let inflation = EngineFeatures(rawValue: 1 << 14)
  /// A place across a flat walk is claimed only once the joint fit has verified it; a peer that is alone has a joint
  /// fit for that only.
  package static let verification = EngineFeatures(rawValue: 1 << 15)

  package static let all = EngineFeatures(rawValue: .max)
}
