// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Whether the odometry has stopped telling where the device is, as one peer's samples saw it.
///
/// Without poses the device may be carried anywhere, so no place may be claimed. When poses come back
/// their world may have been restarted unseen. An outage is therefore over only when samples taken with
/// poses have agreed with the track for a while.
enum PoseOutage: Hashable, Sendable, Codable {
  /// Poses come as they should.
  case none
  /// Samples come and poses do not.
  case ongoing
  /// Poses are back; samples have been taken with them since this moment.
  case confirming(since: Timestamp)

  /// Whether poses come as they should.
  @inline(__always)
  var isNone: Bool { if case .none = self { true } else { false } }

  /// A sample came for which there was no pose.
  ///
  /// - Parameter isOutage: Whether the odometry has been silent for so long that it counts.
  mutating func addSampleWithoutPose(isOutage: Bool) {
    if isOutage { self = .ongoing }
  }

  /// A sample was used with a pose.
  ///
  /// - Parameters:
  ///   - time: Its time.
  ///   - hasResumed: Whether poses have come back since the last such sample.
  ///   - isContradicted: Whether the samples contradict the track.
  ///   - probation: How long they must agree, seconds.
  mutating func addSampleWithPose(
    at time: Timestamp, hasResumed: Bool, isContradicted: Bool, probation: Double
  ) {
    if hasResumed || self == .ongoing || isContradicted && self != .none {
      self = .confirming(since: time)
    } else if case .confirming(let start) = self, time.seconds(since: start) >= probation {
      self = .none
    }
  }
}
