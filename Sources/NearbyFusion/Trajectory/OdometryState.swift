// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// How the odometry is doing as a sample comes.
struct OdometryState {
  /// What limits it: the light, or its tracking.
  var limits: ConvergenceReasons
  /// Whether it has no pose for the sample's time, and has been silent for so long that this is an
  /// outage.
  var isSilent: Bool
  /// Whether it has slipped lately, or seems to.
  var isSlipping: Bool
  /// When poses came back after the newest outage; `nil` when there was none.
  var resumedAt: Timestamp?
}
