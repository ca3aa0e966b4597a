// SPDX-License-Identifier: Apache-2.0
import Foundation
package import NearbyGeometry

/// The device at one moment, with what has happened to the odometry on the way there.
///
/// The sums run from the first pose on; the difference of two points is what lies between them.
package struct TrajectoryPoint: Hashable, Sendable {
  package var timestamp: Timestamp
  package var worldFromDevice: RigidTransform
  /// Metres travelled from place to place, swaying left out.
  ///
  /// Path and turn renew the wandering errors of the radio. Those are functions of the pose, so
  /// swaying about one pose, however long, renews nothing.
  package var path = 0.0
  /// Radians turned from place to place, swaying left out.
  package var turn = 0.0
  /// How often the world has been lost: by a jump, or while there was no tracking.
  package var world = 0
  /// Variance by which the odometry's position has drifted, m² per axis.
  package var positionDriftVariance = 0.0
  /// Variance by which the odometry's yaw has drifted, rad².
  package var yawDriftVariance = 0.0
  /// Variance that interpolation adds to the position, m² per axis, and to the attitude, rad² per axis:
  /// ``addInterpolationVariance(halfProduct:)`` makes them the same number.
  package var interpolationVariance = 0.0
  /// Whether the odometry vouched for the pose.
  package var isTracked = true
}

/// The device's recent past: a ring of poses, interpolated at any time in it.
///
/// It keeps as much as late samples and gaps can ask for. Appending is O(1) and, once the ring has
/// grown to the pose rate, allocates nothing; a lookup near the newest pose takes a step or two.
struct Trajectory: Sendable {
  private var ring: [TrajectoryPoint] = []
  private var head = 0
  private(set) var count = 0

  private let odometry: OdometryConfiguration
  private let secondsKept: Double
  private let detectsJumps: Bool
  private var quality = TrackingSample.Quality.normal
  /// Where drift was last counted from: a device at rest does not drift, however long it rests.
  private var driftAnchor = MotionAnchor(metres: 0.04, radians: 0.02)
  /// Where path and turn were last counted from: what is less is sway about one place.
  private var placeAnchor = MotionAnchor(metres: 0.1, radians: 0.2)
  /// The device's velocity before the newest pose, jumps left out, m/s.
  private var velocity = Vector3.zero
  /// Whether the odometry has been lost since the last pose that it vouched for.
  private var wasLost = false

  init(odometry: OdometryConfiguration, maximumLateness: Double, detectsJumps: Bool = true) {
    self.odometry = odometry
    self.detectsJumps = detectsJumps
    secondsKept = maximumLateness + odometry.maximumPoseGap + odometry.maximumExtrapolation
  }

  var newest: TrajectoryPoint? { count > 0 ? self[count - 1] : nil }

  private subscript(index: Int) -> TrajectoryPoint {
    ring[(head + index) & (ring.count - 1)]
  }

  // MARK: Extending

  /// From now on the odometry is as good as it says.
  mutating func setQuality(_ quality: TrackingSample.Quality) {
    self.quality = quality
    if case .notAvailable = quality { wasLost = true }
  }

  mutating func append(_ pose: DevicePose) -> PoseOutcome {
    let (position, attitude) = (pose.worldFromDevice.translation, pose.worldFromDevice.rotation)
    // What is not a number is not below anything.
    guard position.dot(position) < 1e14, attitude.squaredNorm < 2 else {
      return .rejectedNotFinite
    }
    guard count > 0 else {
      var first = TrajectoryPoint(timestamp: pose.timestamp, worldFromDevice: pose.worldFromDevice)
      first.isTracked = isTracked
      begin(at: pose.worldFromDevice)
      push(first)
      return .accepted
    }
    // The sums go on from the newest point.
    var point = self[count - 1]
    let step = position - point.worldFromDevice.translation
    let seconds = pose.timestamp.seconds(since: point.timestamp)
    guard pose.timestamp > point.timestamp else { return .rejectedNotLater }
    point.timestamp = pose.timestamp
    point.worldFromDevice = pose.worldFromDevice
    point.isTracked = isTracked
    let jump = jumped(by: step, in: seconds)
    if let jump {
      if jump > Self.tolerableJump { point.world += 1 }
      point.positionDriftVariance += jump * jump
      point.yawDriftVariance += Self.jumpYawSigma * Self.jumpYawSigma
      begin(at: pose.worldFromDevice)
    } else {
      accumulateDrift(&point)
      accumulatePath(&point)
    }
    push(point)
    return jump.map { .acceptedAfterJump(metres: $0) } ?? .accepted
  }

  /// Turning on the spot drifts like moving on an arc of this radius, metres.
  private static let turnRadius = 0.25
  /// A limited odometry drifts so many times as fast, in variance.
  private static let limitedDriftFactor = 9.0
  /// A jump by more than this, metres, leaves nothing to go on from: peers are searched for anew.
  private static let tolerableJump = 0.5
  /// How uncertain yaw is after the world has jumped, radians.
  private static let jumpYawSigma = 0.2

  private var isTracked: Bool { if case .notAvailable = quality { false } else { true } }

  /// Counts motion from a pose on.
  private mutating func begin(at pose: RigidTransform) {
    driftAnchor.pose = pose
    placeAnchor.pose = pose
  }

  private mutating func accumulateDrift(_ point: inout TrajectoryPoint) {
    guard let step = driftAnchor.step(to: point.worldFromDevice) else { return }
    var factor = 1.0
    if case .normal = quality {} else { factor = Self.limitedDriftFactor }
    let drift = odometry.positionDrift
    let yaw = odometry.yawDriftRadians
    point.positionDriftVariance += factor * drift * drift * step.metres
    point.yawDriftVariance +=
      factor * yaw * yaw * (step.metres + Self.turnRadius * step.radians)
  }

  private mutating func accumulatePath(_ point: inout TrajectoryPoint) {
    guard let step = placeAnchor.step(to: point.worldFromDevice) else { return }
    point.path += step.metres
    point.turn += step.radians
  }

  /// How far the world has jumped with a step from pose to pose, if no device moves like that.
  private mutating func jumped(by step: Vector3, in seconds: Double) -> Double? {
    if wasLost, isTracked {
      // Back from nowhere, with poses in between or without: the world may be another.
      wasLost = false
      velocity = .zero
      return max(1, step.length)
    }
    guard seconds <= odometry.maximumPoseGap else {
      velocity = .zero
      return nil
    }
    // A hand shakes a device with less than 40 m/s²; 0.3 m cover a pose's own noise.
    let surprise = (step - seconds * velocity).length
    if detectsJumps, surprise > 0.3 + 0.5 * 40 * seconds * seconds { return surprise }
    velocity = step / seconds
    return nil
  }

  private mutating func push(_ point: TrajectoryPoint) {
    if count == ring.count {
      if count > 1, point.timestamp.seconds(since: self[1].timestamp) > secondsKept {
        head = (head + 1) & (ring.count - 1)
        count -= 1
      } else {
        grow(filling: point)
      }
    }
    ring[(head + count) & (ring.count - 1)] = point
    count += 1
  }

  private mutating func grow(filling point: TrajectoryPoint) {
    var larger: [TrajectoryPoint] = []
    larger.reserveCapacity(max(64, 2 * count))
    for index in 0..<count { larger.append(self[index]) }
    while larger.count < max(64, 2 * count) { larger.append(point) }
    ring = larger
    head = 0
  }

  // MARK: Looking up

  /// The device at a moment; `nil` when no pose is near enough.
  func point(at time: Timestamp) -> TrajectoryPoint? {
    guard count > 0 else { return nil }
    if time > self[count - 1].timestamp { return extrapolated(to: time) }
    let upper = firstIndex(atOrAfter: time)
    if self[upper].timestamp == time { return self[upper] }
    guard upper > 0 else { return nil }
    return interpolated(at: time, between: self[upper - 1], and: self[upper])
  }

  /// The first pose whose time is at or after one that is not after the newest.
  ///
  /// Poses come at a steady rate, so the time says about where it is; when it is not within some
  /// steps of there, halving finds it.
  private func firstIndex(atOrAfter time: Timestamp) -> Int {
    let (oldest, newest) = (self[0].timestamp, self[count - 1].timestamp)
    guard time > oldest else { return 0 }
    let share = newest.seconds(since: time) / newest.seconds(since: oldest)
    var index = count - 1 - Int(share * Double(count - 1))
    for _ in 0..<4 {
      if self[index].timestamp < time {
        index += 1
      } else if self[index - 1].timestamp >= time {
        index -= 1
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

  private func interpolated(
    at time: Timestamp, between before: TrajectoryPoint, and after: TrajectoryPoint
  ) -> TrajectoryPoint? {
    let gap = after.timestamp.seconds(since: before.timestamp)
    guard gap <= odometry.maximumPoseGap else { return nil }
    let seconds = time.seconds(since: before.timestamp)
    let fraction = seconds / gap
    func mix(_ a: Double, _ b: Double) -> Double { a + fraction * (b - a) }
    var point = after
    point.timestamp = time
    point.worldFromDevice = before.worldFromDevice.interpolated(
      to: after.worldFromDevice, fraction: fraction)
    point.path = mix(before.path, after.path)
    point.turn = mix(before.turn, after.turn)
    point.positionDriftVariance = mix(before.positionDriftVariance, after.positionDriftVariance)
    point.yawDriftVariance = mix(before.yawDriftVariance, after.yawDriftVariance)
    point.isTracked = before.isTracked && after.isTracked
    point.addInterpolationVariance(halfProduct: 0.5 * seconds * (gap - seconds))
    return point
  }

  private func extrapolated(to time: Timestamp) -> TrajectoryPoint? {
    let newest = self[count - 1]
    let seconds = time.seconds(since: newest.timestamp)
    guard seconds <= odometry.maximumExtrapolation else { return nil }
    var point = newest
    point.timestamp = time
    if count > 1 {
      let before = self[count - 2]
      let gap = newest.timestamp.seconds(since: before.timestamp)
      if gap <= odometry.maximumPoseGap {
        point.worldFromDevice = before.worldFromDevice.interpolated(
          to: newest.worldFromDevice, fraction: 1 + seconds / gap)
      }
    }
    point.addInterpolationVariance(halfProduct: 0.5 * seconds * (seconds + 0.02))
    return point
  }
}

/// The pose from which motion was last counted; what stays near it is no motion.
private struct MotionAnchor {
  var pose = RigidTransform.identity
  private let squaredMetres: Double
  private let squaredHalfCosine: Double

  /// An anchor that is left by more than so many metres or radians.
  init(metres: Double, radians: Double) {
    squaredMetres = metres * metres
    let halfCosine = cos(radians / 2)
    squaredHalfCosine = halfCosine * halfCosine
  }

  /// The step to a pose, which becomes the anchor; `nil` when it is near.
  ///
  /// Most poses are: they cost no trigonometric function and no root.
  @inline(__always)
  mutating func step(to next: RigidTransform) -> (metres: Double, radians: Double)? {
    let away = next.translation - pose.translation
    guard
      away.dot(away) > squaredMetres
        || pose.rotation.squaredHalfCosine(to: next.rotation) < squaredHalfCosine
    else { return nil }
    let radians = pose.rotation.angle(to: next.rotation)
    pose = next
    return (away.length, radians)
  }
}

extension TrajectoryPoint {
  /// What an unknown acceleration does between two poses: `½ a t (T - t)`, for a device in a hand
  /// with 1 m/s² and 1 rad/s² one sigma.
  fileprivate mutating func addInterpolationVariance(halfProduct: Double) {
    interpolationVariance = halfProduct * halfProduct
  }
}
