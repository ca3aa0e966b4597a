// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// How the odometry is doing as a sample comes.
struct OdometryState {
  /// Whether it is limited, or the scene dark.
  var isDark: Bool
  /// Whether it has no pose for the sample's time.
  var hasNoPose = false
  /// Whether it has been silent for so long that this is an outage.
  var isSilent = false
  /// When poses came back after the newest outage; `nil` when there was none.
  var resumedAt: Timestamp?
}
