// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A ring of poses, interpolated at any time in it.
///
/// It keeps as much as late samples and gaps can ask for. Appending is O(1) and, once the ring has
/// grown to the pose rate, allocates nothing; a lookup near the newest pose takes a step or two.
struct PoseRing: Sendable {
  private var ring: [TrajectoryPoint] = []
  private var head = 0
  private(set) var count = 0
  /// How many poses there are to a nanosecond, as last measured: a guess for lookups.
  private var rate = 0.0
  private let maximumGap: Double
  private let maximumExtrapolation: Double
  private let secondsKept: Double

  init(_ odometry: OdometryConfiguration, maximumLateness: Double) {
    maximumGap = odometry.maximumPoseGap
    maximumExtrapolation = odometry.maximumExtrapolation
    secondsKept = maximumLateness + odometry.maximumPoseGap + odometry.maximumExtrapolation
  }

  /// The newest pose.
  @inline(__always)
  var newest: TrajectoryPoint? { count == 0 ? nil : self[count &- 1] }
  private var newestTime: Timestamp? { count == 0 ? nil : self[count &- 1].timestamp }
  /// How many poses fit before it grows.
  var capacity: Int { ring.count }

  private subscript(index: Int) -> TrajectoryPoint {
    // The ring's size is a power of two, so that the mask keeps every index in it: only debug builds
    // look.
    @inline(__always) get {
      unsafe ring.withUnsafeBufferPointer { unsafe $0[(head &+ index) & ($0.count &- 1)] }
    }
  }

  /// Puts a point after all others.
  @inline(__always)
  mutating func push(_ point: TrajectoryPoint) {
    if count == ring.count {
      if count > 1, point.timestamp.seconds(since: self[1].timestamp) > secondsKept {
        head = (head &+ 1) & (ring.count &- 1)
        count &-= 1
        if head == 0 { measureRate() }
      } else {
        grow()
      }
    }
    ring[(head &+ count) & (ring.count &- 1)] = point
    count &+= 1
  }

  /// Once a turn of the ring, and when it grows: a lookup then divides nothing.
  @inline(never)
  private mutating func measureRate() {
    let seconds = self[count - 1].timestamp.seconds(since: self[0].timestamp)
    rate = Double(count - 1) / (1e9 * seconds)
  }

  private mutating func grow() {
    let capacity = max(64, 2 * count)
    ring = (0..<capacity).map { $0 < count ? self[$0] : .nowhere }
    head = 0
    if count > 1 { measureRate() }
  }

  // MARK: Looking up

  /// The newest pose, if it is that of a moment: read where it stands.
  @inline(__always)
  func newest(at time: Timestamp) -> TrajectoryPoint? {
    guard let newest, newest.timestamp == time else { return nil }
    return newest
  }

  /// The device at a moment; `nil` when no pose is near enough.
  @inline(__always)
  func point(at time: Timestamp) -> TrajectoryPoint? {
    var point = TrajectoryPoint.nowhere
    return find(time, &point) ? point : nil
  }

  /// Puts the device at a moment into a point; `false` when no pose is near enough.
  ///
  /// The point is written where it is: it is large, and an optional of it would be copied.
  func find(_ time: Timestamp, _ point: inout TrajectoryPoint) -> Bool {
    guard let newest = newestTime else { return false }
    if time > newest { return extrapolate(to: time, &point) }
    let upper = firstIndex(atOrAfter: time)
    if self[upper].timestamp == time {
      point = self[upper]
      return true
    }
    return upper > 0 && interpolate(at: time, between: upper &- 1, and: upper, &point)
  }

  /// The first pose whose time is at or after one that is not after the newest.
  ///
  /// Most often it is one of the newest two. Poses come at a steady rate, so else the time says about where it is;
  /// when it is not within some steps of there, halving finds it.
  @inline(__always)
  private func firstIndex(atOrAfter time: Timestamp) -> Int {
    if count > 2, self[count &- 3].timestamp < time {
      return self[count &- 2].timestamp < time ? count &- 1 : count &- 2
    }
    return guessedIndex(atOrAfter: time)
  }

  private func guessedIndex(atOrAfter time: Timestamp) -> Int {
    let oldest = self[0].timestamp
    guard time > oldest else { return 0 }
    let newest = self[count &- 1].timestamp
    // Later than the oldest: the difference does not overflow, but the rate may have changed.
    let behind = min(Double(newest.nanoseconds &- time.nanoseconds) * rate, Double(count &- 2))
    var index = count &- 1 &- Int(behind)
    for _ in 0..<4 {
      if self[index].timestamp < time {
        index &+= 1
      } else if self[index &- 1].timestamp >= time {
        index &-= 1
      } else {
        return index
      }
    }
    return search(time)
  }

  private func search(_ time: Timestamp) -> Int {
    var low = 0
    var high = count - 1
    while low < high {
      let middle = (low + high) / 2
      if self[middle].timestamp >= time { high = middle } else { low = middle + 1 }
    }
    return low
  }

  @inline(__always)
  private func interpolate(
    at time: Timestamp, between lower: Int, and upper: Int, _ point: inout TrajectoryPoint
  ) -> Bool {
    let before = self[lower]
    let after = self[upper]
    let gap = after.timestamp.seconds(since: before.timestamp)
    guard gap <= maximumGap else { return false }
    let seconds = time.seconds(since: before.timestamp)
    let fraction = seconds / gap
    @inline(__always) func mix(_ a: Double, _ b: Double) -> Double { a + fraction * (b - a) }
    point.timestamp = time
    point.worldFromDevice = before.worldFromDevice.interpolated(
      to: after.worldFromDevice, fraction: fraction)
    point.path = mix(before.path, after.path)
    point.turn = mix(before.turn, after.turn)
    point.world = after.world
    point.positionDriftVariance = mix(before.positionDriftVariance, after.positionDriftVariance)
    point.yawDriftVariance = mix(before.yawDriftVariance, after.yawDriftVariance)
    point.isTracked = before.isTracked && after.isTracked
    point.addInterpolationVariance(halfProduct: 0.5 * seconds * (gap - seconds))
    return true
  }

  @inline(never)
  private func extrapolate(to time: Timestamp, _ point: inout TrajectoryPoint) -> Bool {
    let newest = self[count - 1]
    let seconds = time.seconds(since: newest.timestamp)
    guard seconds <= maximumExtrapolation else { return false }
    point = newest
    point.timestamp = time
    if count > 1 {
      let before = self[count - 2]
      let gap = newest.timestamp.seconds(since: before.timestamp)
      if gap <= maximumGap {
        point.worldFromDevice = before.worldFromDevice.interpolated(
          to: newest.worldFromDevice, fraction: 1 + seconds / gap)
      }
    }
    point.addInterpolationVariance(halfProduct: 0.5 * seconds * (seconds + 0.02))
    return true
  }
}

extension TrajectoryPoint {
  /// What an unknown acceleration does between two poses: `½ a t (T - t)`, for a device in a hand
  /// with 1 m/s² and 1 rad/s² one sigma.
  fileprivate mutating func addInterpolationVariance(halfProduct: Double) {
    interpolationVariance = halfProduct * halfProduct
  }
}
