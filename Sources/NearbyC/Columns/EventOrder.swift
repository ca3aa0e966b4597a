// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The order in which an engine can use poses, samples and tracking: that of `RecordingEventStream`.
///
/// A sample comes as soon as the first pose at or after its time has come, or once the poses have ended.
/// Tracking comes before the first pose at or after its time.
struct EventOrder {
  /// An event, and its row.
  enum Event { case pose(Int), sample(Int), tracking(Int) }

  private let poses: [Timestamp]
  private let samples: [Timestamp]
  private let trackings: [TrackingSample]
  private var (pose, sample, tracking) = (0, 0, 0)
  private var newestPose: Timestamp?
  private let clockOffset: Double

  /// Begins after the newest pose that an engine has, whose settings say how far the samples' times are ahead.
  init(
    poses: [Timestamp], samples: [Timestamp], trackings: [TrackingSample], after newest: Timestamp?,
    _ configuration: FusionConfiguration
  ) {
    (self.poses, self.samples, self.trackings) = (poses, samples, trackings)
    newestPose = newest
    clockOffset = configuration.ranging.clockOffset
  }

  /// The next event; `nil` after the last one.
  @inline(__always)
  mutating func next() -> Event? {
    if sample < samples.count, hasPose(for: samples[sample].advanced(bySeconds: -clockOffset)) {
      sample += 1
      return .sample(sample - 1)
    }
    if tracking < trackings.count,
      pose == poses.count || trackings[tracking].timestamp <= poses[pose]
    {
      tracking += 1
      return .tracking(tracking - 1)
    }
    guard pose < poses.count else { return nil }
    newestPose = poses[pose]
    pose += 1
    return .pose(pose - 1)
  }

  @inline(__always)
  private func hasPose(for time: Timestamp) -> Bool {
    if let newestPose, newestPose >= time { return true }
    return pose == poses.count
      && (tracking == trackings.count || trackings[tracking].timestamp > time)
  }
}
