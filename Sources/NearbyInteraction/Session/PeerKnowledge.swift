// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry

/// All that is behind an object that the app gets.
struct PeerKnowledge: Hashable, Sendable {
  /// What the radio measured.
  var measurement: RadioMeasurement
  /// What the engine says; `nil` without camera assistance.
  var estimate: PeerEstimate?
  /// What the engine did with the measurement; `nil` without camera assistance.
  var report: SampleReport?
  /// Distance and rate from the ranges alone; `nil` before the first.
  var smoothedRange: RangeEstimate?
  /// Whether the peer has been heard lately.
  var isFresh: Bool
  /// Whether the odometry is limited or the scene dark.
  var isDark: Bool
  /// Whether this device's radio measures angles.
  var measuresAngles: Bool
  /// The accuracies that hold where a measurement states none.
  var ranging: RangingConfiguration
  /// Beyond so many metres measurements are not what they should be.
  var validatedRange: Double
}
