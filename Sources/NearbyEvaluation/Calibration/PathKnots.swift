// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// Knots of a path, with equal sums of walked and waited between them.
struct PathKnots {
  /// The device at each, in the odometry's world.
  private(set) var places: [Vector3] = []
  /// When, seconds after the start, and at which pose.
  private(set) var times: [Double] = []
  private(set) var poses: [Int] = []
  /// Of each interval the path, metres, and the time.
  private(set) var lengths: [Double] = []
  private(set) var durations: [Double] = []
  /// Whether there are no new poses for some time in an interval.
  private(set) var areFrozen: [Bool] = []

  private static let mostKnots = 90
  private static let leastKnots = 5
  /// A second of waiting counts as so much of a path, metres.
  private static let metresPerSecond = 0.5
  private static let spacing = 2.0
  private static let leastLength = 1e-3

  /// Places the knots; `nil` for a path whose length is beyond all numbers.
  init?(_ poses: [DevicePose], from start: Timestamp, until end: Double) {
    let last = poses.lastIndex { $0.timestamp.seconds(since: start) <= end } ?? poses.count - 1
    var path = [0.0]
    path.reserveCapacity(last + 1)
    for index in 1...max(last, 1) {
      path.append(
        path[index - 1]
          + (poses[index].worldFromDevice.translation
          - poses[index - 1].worldFromDevice.translation).length)
    }
    func measure(_ index: Int) -> Double {
      path[index] + Self.metresPerSecond * poses[index].timestamp.seconds(since: start)
    }
    let total = measure(path.count - 1)
    guard total.isFinite else { return nil }
    let wanted = Int(min(total / Self.spacing, Double(Self.mostKnots)))
    let count = min(max(wanted, Self.leastKnots), path.count - 1)
    var indices = [0]
    for index in path.indices.dropFirst()
    where measure(index) >= Double(indices.count) * total / Double(count) {
      indices.append(index)
    }
    if indices.count < 2 || indices[indices.count - 1] != path.count - 1 {
      indices.append(path.count - 1)
    }
    self.poses = indices
    times = indices.map { poses[$0].timestamp.seconds(since: start) }
    places = indices.map { poses[$0].worldFromDevice.translation }
    for (from, to) in zip(indices, indices.dropFirst()) {
      lengths.append(max(path[to] - path[from], Self.leastLength))
      durations.append(poses[to].timestamp.seconds(since: poses[from].timestamp))
      areFrozen.append(
        (from..<to).contains {
          poses[$0 + 1].timestamp.seconds(since: poses[$0].timestamp) > PathReader.longestGap
        })
    }
  }
}
