// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// An event of a recording, in the engine's types.
public enum RecordingEvent: Hashable, Sendable {
  /// The device moved; in the engine's frames.
  case pose(DevicePose)
  /// The odometry's quality changed.
  case tracking(TrackingSample)
  /// The radio measured; ``RangingRow/peerIndex`` counts in ``RecordingEventStream/peers``.
  case ranging(RangingRow)
}
