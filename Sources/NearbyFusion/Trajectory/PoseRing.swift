// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A ring of poses, interpolated at any time in it.
///
/// It keeps as much as late samples and gaps can ask for. Appending is O(1) and, once the ring has
/// grown to the pose rate, allocates nothing; a lookup near the newest pose takes a step or two.
struct PoseRing: Sendable, Codable {
  private var points = Points()
  /// How many poses there are to a nanosecond, as last measured: a guess for lookups.
  private var rate = 0.0
  private let maximumGap: Double
  private let maximumExtrapolation: Double
  private let secondsKept: Double

  /// The poses in the order of their times.
  ///
  /// Apart from the rest, as three words are handed on in registers.
  private struct Points: Codable {
    var ring: [TrajectoryPoint] = []
    var head = 0
    var count = 0

    subscript(index: Int) -> TrajectoryPoint {
      // The ring's size is a power of two, so that the mask keeps every index in it: only debug builds
      // look.
      @inline(__always) get {
        unsafe ring.withUnsafeBufferPointer { unsafe $0[(head &+ index) & ($0.count &- 1)] }
      }
      @inline(__always) set { ring[(head &+ index) & (ring.count &- 1)] = newValue }
    }
  }

  init(_ odometry: OdometryConfiguration, maximumLateness: Double) {
    maximumGap = odometry.maximumPoseGap
    maximumExtrapolation = odometry.maximumExtrapolation
    secondsKept = maximumLateness + odometry.maximumPoseGap + odometry.maximumExtrapolation
  }

  /// Whether a ring that was saved has indices within it, and times that increase.
  ///
  /// - Parameter other: A ring of the settings that it should have.
  /// - Returns: Whether it is so.
  func isConsistent(with other: PoseRing) -> Bool {
    let size = points.ring.count
    guard size & (size - 1) == 0, (0...size).contains(points.count),
      (0..<max(size, 1)).contains(points.head), rate >= 0, rate.isFinite,
      maximumGap == other.maximumGap, maximumExtrapolation == other.maximumExtrapolation,
      secondsKept == other.secondsKept
    else { return false }
    return (1..<max(count, 1)).allSatisfy { points[$0 - 1].timestamp < points[$0].timestamp }
  }

  /// How many poses there are.
  var count: Int { points.count }
  /// The newest pose.
  @inline(__always)
  var newest: TrajectoryPoint? { points.count == 0 ? nil : points[points.count &- 1] }
  /// How many poses fit before it grows.
  var capacity: Int { points.ring.count }

  /// Puts a point after all others.
  @inline(__always)
  mutating func push(_ point: TrajectoryPoint) {
    if points.count == points.ring.count {
      if points.count > 1, point.timestamp.seconds(since: points[1].timestamp) > secondsKept {
        points.head = (points.head &+ 1) & (points.ring.count &- 1)
        points.count &-= 1
        if points.head == 0 { measureRate() }
      } else {
        grow()
      }
    }
    points[points.count] = point
    points.count &+= 1
  }

  /// Once a turn of the ring, and when it grows: a lookup then divides nothing.
  @inline(never)
  private mutating func measureRate() {
    let seconds = points[count - 1].timestamp.seconds(since: points[0].timestamp)
    rate = Double(count - 1) / (1e9 * seconds)
  }

  private mutating func grow() {
    let capacity = max(64, 2 * count)
    points.ring = (0..<capacity).map { $0 < count ? points[$0] : .nowhere }
    points.head = 0
    if count > 1 { measureRate() }
  }

  // MARK: Looking up

  /// The newest pose, if it is that of a moment.
  ///
  /// Performance: read in place.
  @inline(__always)
  func newest(at time: Timestamp) -> TrajectoryPoint? {
    guard let newest, newest.timestamp == time else { return nil }
    return newest
  }

  /// The last pose before a moment; `nil` when none that is kept is.
  func lastPose(before time: Timestamp) -> TrajectoryPoint? {
    guard let newest else { return nil }
    if newest.timestamp < time { return newest }
    let upper = firstIndex(atOrAfter: time)
    return upper > 0 ? points[upper &- 1] : nil
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
  @inline(__always)
  func find(_ time: Timestamp, _ point: inout TrajectoryPoint) -> Bool {
    guard points.count > 0 else { return false }
    if time > points[points.count &- 1].timestamp {
      return Self.extrapolate(
        points, to: time, atMost: maximumExtrapolation, across: maximumGap, &point)
    }
    let upper = firstIndex(atOrAfter: time)
    if points[upper].timestamp == time {
      point = points[upper]
      return true
    }
    return upper > 0 && interpolate(at: time, between: upper &- 1, and: upper, &point)
  }

  /// The first pose whose time is at or after one that is not after the newest.
  ///
  /// Most often it is one of the newest two. Poses come at a steady rate, so else the time says about
  /// where it is; when it is not within some steps of there, halving finds it.
  @inline(__always)
  private func firstIndex(atOrAfter time: Timestamp) -> Int {
    if points.count > 2, points[points.count &- 3].timestamp < time {
      return points[points.count &- 2].timestamp < time ? points.count &- 1 : points.count &- 2
    }
    return Self.guessedIndex(points, rate, atOrAfter: time)
  }

  private static func guessedIndex(
    _ points: Points, _ rate: Double, atOrAfter time: Timestamp
  ) -> Int {
    let oldest = points[0].timestamp
    guard time > oldest else { return 0 }
    let newest = points[points.count &- 1].timestamp
    // Later than the oldest: the difference does not overflow, but the rate may have changed.
    let behind = min(
      Double(newest.nanoseconds &- time.nanoseconds) * rate, Double(points.count &- 2))
    var index = points.count &- 1 &- Int(behind)
    for _ in 0..<4 {
      if points[index].timestamp < time {
        index &+= 1
      } else if points[index &- 1].timestamp >= time {
        index &-= 1
      } else {
        return index
      }
    }
    return search(points, time)
  }

  private static func search(_ points: Points, _ time: Timestamp) -> Int {
    var low = 0
    var high = points.count - 1
    while low < high {
      let middle = (low + high) / 2
      if points[middle].timestamp >= time { high = middle } else { low = middle + 1 }
    }
    return low
  }

  @inline(__always)
  private func interpolate(
    at time: Timestamp, between lower: Int, and upper: Int, _ point: inout TrajectoryPoint
  ) -> Bool {
    let before = points[lower]
    let after = points[upper]
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
  private static func extrapolate(
    _ points: Points, to time: Timestamp, atMost maximumExtrapolation: Double,
    across maximumGap: Double, _ point: inout TrajectoryPoint
  ) -> Bool {
    let newest = points[points.count - 1]
    let seconds = time.seconds(since: newest.timestamp)
    guard seconds <= maximumExtrapolation else { return false }
    point = newest
    point.timestamp = time
    if points.count > 1 {
      var earlier = points.count - 2
      while earlier > 0,
        newest.timestamp.seconds(since: points[earlier].timestamp) < TrajectoryPoint.velocitySeconds
      {
        earlier -= 1
      }
      let before = points[earlier]
      let gap = newest.timestamp.seconds(since: before.timestamp)
      if gap <= maximumGap, before.world == newest.world {
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
