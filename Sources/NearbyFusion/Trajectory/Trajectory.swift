// SPDX-License-Identifier: Apache-2.0
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
  /// Variance that interpolation adds to the position, m² per axis.
  package var interpolationVariance = 0.0
  /// Variance that interpolation adds to the attitude, rad² per axis.
  package var attitudeInterpolationVariance = 0.0
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
  /// Where drift was last counted from.
  private var driftAnchor = RigidTransform.identity
  /// Where path and turn were last counted from.
  private var placeAnchor = RigidTransform.identity
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
    let position = pose.worldFromDevice.translation
    guard position.isFinite, position.length < 1e7, pose.worldFromDevice.rotation.xAxis.isFinite
    else { return .rejectedNotFinite }
    var point = TrajectoryPoint(timestamp: pose.timestamp, worldFromDevice: pose.worldFromDevice)
    if case .notAvailable = quality { point.isTracked = false }
    guard let last = newest else {
      driftAnchor = pose.worldFromDevice
      placeAnchor = pose.worldFromDevice
      push(point)
      return .accepted
    }
    guard pose.timestamp > last.timestamp else { return .rejectedNotLater }

    point.path = last.path
    point.turn = last.turn
    point.positionDriftVariance = last.positionDriftVariance
    point.yawDriftVariance = last.yawDriftVariance
    point.world = last.world
    let jump = jumped(from: last, to: point)
    if let jump {
      if jump > Self.tolerableJump { point.world += 1 }
      point.positionDriftVariance += jump * jump
      point.yawDriftVariance += Self.jumpYawSigma * Self.jumpYawSigma
      driftAnchor = point.worldFromDevice
      placeAnchor = point.worldFromDevice
    } else {
      accumulateDrift(&point)
      accumulatePath(&point)
    }
    push(point)
    return jump.map { .acceptedAfterJump(metres: $0) } ?? .accepted
  }

  /// Steps below these are jitter: a device at rest does not drift, however long it rests.
  private static let jitterMetres = 0.04
  private static let jitterRadians = 0.02
  /// Steps below these are sway about one place.
  private static let swayMetres = 0.1
  private static let swayRadians = 0.2
  /// Turning on the spot drifts like moving on an arc of this radius, metres.
  private static let turnRadius = 0.25
  /// A limited odometry drifts so many times as fast, in variance.
  private static let limitedDriftFactor = 9.0
  /// A jump by more than this, metres, leaves nothing to go on from: peers are searched for anew.
  private static let tolerableJump = 0.5
  /// How uncertain yaw is after the world has jumped, radians.
  private static let jumpYawSigma = 0.2

  private mutating func accumulateDrift(_ point: inout TrajectoryPoint) {
    let step = (point.worldFromDevice.translation - driftAnchor.translation).length
    let turn = driftAnchor.rotation.angle(to: point.worldFromDevice.rotation)
    guard step > Self.jitterMetres || turn > Self.jitterRadians else { return }
    driftAnchor = point.worldFromDevice
    var factor = 1.0
    if case .normal = quality {} else { factor = Self.limitedDriftFactor }
    let drift = odometry.positionDrift
    let yaw = odometry.yawDriftRadians
    point.positionDriftVariance += factor * drift * drift * step
    point.yawDriftVariance += factor * yaw * yaw * (step + Self.turnRadius * turn)
  }

  private mutating func accumulatePath(_ point: inout TrajectoryPoint) {
    let step = (point.worldFromDevice.translation - placeAnchor.translation).length
    let turn = placeAnchor.rotation.angle(to: point.worldFromDevice.rotation)
    guard step > Self.swayMetres || turn > Self.swayRadians else { return }
    placeAnchor = point.worldFromDevice
    point.path += step
    point.turn += turn
  }

  /// How far the world has jumped between two poses, if no device moves like that.
  private mutating func jumped(from last: TrajectoryPoint, to point: TrajectoryPoint) -> Double? {
    let seconds = point.timestamp.seconds(since: last.timestamp)
    let step = point.worldFromDevice.translation - last.worldFromDevice.translation
    if wasLost, point.isTracked {
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
      if count > 1, self[1].timestamp.advanced(bySeconds: secondsKept) < point.timestamp {
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
    guard let newest else { return nil }
    if time > newest.timestamp { return extrapolated(to: time, from: newest) }
    // Almost always the last pair or the one before.
    var upper = count - 1
    while upper > 0, count - upper < 8, self[upper - 1].timestamp >= time { upper -= 1 }
    if upper > 0, self[upper - 1].timestamp >= time { upper = search(time, below: upper) }
    let after = self[upper]
    if after.timestamp == time { return after }
    guard upper > 0 else { return nil }
    return interpolated(at: time, between: self[upper - 1], and: after)
  }

  /// The first index whose time is at or after the given one.
  private func search(_ time: Timestamp, below: Int) -> Int {
    var low = 0
    var high = below
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

  private func extrapolated(to time: Timestamp, from newest: TrajectoryPoint) -> TrajectoryPoint? {
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

extension TrajectoryPoint {
  /// What an unknown acceleration does between two poses: `½ a t (T - t)`, for a device in a hand
  /// with 1 m/s² and 1 rad/s² one sigma.
  fileprivate mutating func addInterpolationVariance(halfProduct: Double) {
    interpolationVariance = halfProduct * halfProduct
    attitudeInterpolationVariance = halfProduct * halfProduct
  }
}
