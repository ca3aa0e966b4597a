// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry

/// The data behind an object that the app gets.
struct PeerKnowledge: Hashable, Sendable {
  /// The radio's measurement.
  var measurement: RadioMeasurement
  /// The engine's estimate; `nil` without camera assistance.
  var estimate: PeerEstimate?
  /// The engine's report on the measurement; `nil` without camera assistance.
  var report: SampleReport?
  /// Distance and rate from the ranges alone; `nil` before the first.
  var smoothedRange: RangeEstimate?
  /// Whether the peer was measured recently.
  var isFresh: Bool
  /// Whether this device's radio measures angles.
  var measuresAngles: Bool
  /// The accuracies that hold where a measurement states none.
  var ranging: RangingConfiguration
  /// The range beyond which the accuracy is not specified, metres.
  var validatedRange: Double
}
