// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion

/// Events in a row, each kind packed for itself.
///
/// A ``RecordingEvent`` is as large as its largest case, a row of ranging; most events are poses, a
/// third as large.
struct EventBatch {
  /// What an event is.
  enum Kind { case pose, tracking, ranging }

  /// So many events make a full batch.
  static let capacity = 256

  /// The events' kinds, in their order.
  var kinds: [Kind] = []
  /// The poses, in their order.
  var poses: [DevicePose] = []
  /// The rows of tracking, in their order.
  var tracking: [TrackingSample] = []
  /// The rows of ranging, in their order.
  var ranging: [RangingRow] = []

  /// Empties the batch and keeps its storage.
  mutating func removeAll() {
    kinds.removeAll(keepingCapacity: true)
    poses.removeAll(keepingCapacity: true)
    tracking.removeAll(keepingCapacity: true)
    ranging.removeAll(keepingCapacity: true)
  }
}
