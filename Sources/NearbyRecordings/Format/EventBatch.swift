// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion

/// A batch of consecutive events, stored in one array per kind.
///
/// Performance: a ``RecordingEvent`` is as large as its largest case, a row of ranging, while most
/// events are poses, which take a third of that.
struct EventBatch {
  /// The kind of an event.
  enum Kind { case pose, tracking, ranging }

  /// The number of events of a full batch.
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
