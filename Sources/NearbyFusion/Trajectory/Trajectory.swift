// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The device at one moment, with what has happened to the odometry on the way there.
///
/// The sums run from the first pose on; the difference of two points is what lies between them.
package struct TrajectoryPoint: Hashable, Sendable, Codable {
  // In this order for the reason given in `DevicePose`.
  package var worldFromDevice: RigidTransform
  package var timestamp: Timestamp
  /// Metres travelled from place to place, swaying left out.
  ///
  /// Path and turn renew the wandering errors of the radio. Those are functions of the pose, so
  /// swaying about one pose, however long, renews nothing.
  package var path = 0.0
  /// Radians turned from place to place, swaying left out.
  package var turn = 0.0
  /// Variance by which the odometry's position has drifted, m² per axis.
  package var positionDriftVariance = 0.0
  /// Variance by which the odometry's yaw has drifted, rad².
  package var yawDriftVariance = 0.0
  /// Variance that interpolation adds to the position, m² per axis, and to the attitude, rad² per axis:
  /// ``addInterpolationVariance(halfProduct:)`` makes them the same number.
  package var interpolationVariance = 0.0
  /// How often the world has been lost: by a jump, or while there was no tracking.
  package var world = 0
  /// Whether the odometry vouched for the pose.
  package var isTracked = true

  /// How much of the drift between two points lies before this one; of the path where nothing drifts.
  package func driftShare(from a: TrajectoryPoint, to b: TrajectoryPoint) -> Double {
    let all = b.summedDrift - a.summedDrift
    if all > 0 { return min(max((summedDrift - a.summedDrift) / all, 0), 1) }
    return b.path > a.path ? min(max((path - a.path) / (b.path - a.path), 0), 1) : 0
  }

  private var summedDrift: Double { positionDriftVariance + yawDriftVariance }
}

/// The device's recent past, with what has happened to the odometry on the way.
struct Trajectory: Sendable, Codable {
  private(set) var poses: PoseRing

  private let odometry: OdometryConfiguration
  private let detectsJumps: Bool
  private var quality = TrackingSample.Quality.normal
  /// Where drift was last counted from: a device at rest does not drift, however long it rests.
  private var driftAnchor = MotionAnchor(metres: 0.04, radians: 0.02)
  /// Where path and turn were last counted from: what is less is sway about one place.
  private var placeAnchor = MotionAnchor(metres: 0.1, radians: 0.2)
  /// The device's velocity before the newest pose, jumps left out, m/s, and from where it is measured
  /// next.
  private var velocity = Vector3.zero
  private var velocityStart = VelocityStart()
  /// Whether the odometry has been lost since the last pose that it vouched for.
  private var wasLost = false
  /// When the odometry last vouched for a pose; `nil` before the first.
  private var lastTracked: Timestamp?
  /// The time between the newest two tracked poses, seconds.
  private var poseInterval = 0.0
  /// When poses came back after the newest outage; `nil` when there was none.
  private(set) var resumedAt: Timestamp?

  /// The trajectory before a pose that came after an outage, until another one has followed it: its stamp may be wrong.
  ///
  /// Performance: in an array, as it is large and rare.
  private var beforeLeap: [Trajectory] = []
  /// How many poses in a row were earlier than that pose, and the last of them.
  private var disagreeing = Disagreement()
  /// Poses in a row that were earlier than one.
  private struct Disagreement: Codable {
    var count = 0
    var last = Timestamp(nanoseconds: 0)
  }

  /// The number of consecutive earlier poses after which a pose with a later stamp is removed.
  private static let refutingPoses = 3

  init(odometry: OdometryConfiguration, maximumLateness: Double, detectsJumps: Bool = true) {
    self.odometry = odometry
    self.detectsJumps = detectsJumps
    poses = PoseRing(odometry, maximumLateness: maximumLateness)
  }

  var newest: TrajectoryPoint? { poses.newest }

  /// Whether a restored trajectory fits the settings of a configuration.
  func isConsistent(with configuration: FusionConfiguration) -> Bool {
    odometry == configuration.odometry && beforeLeap.count <= 1
      && poses.isConsistent(
        with: PoseRing(odometry, maximumLateness: configuration.ranging.maximumLateness))
      && beforeLeap.allSatisfy { $0.isConsistent(with: configuration) }
  }

  // MARK: Extending

  /// From now on the odometry is as good as it says.
  mutating func setQuality(_ quality: TrackingSample.Quality) {
    self.quality = quality
    if case .notAvailable = quality { wasLost = true }
  }

  mutating func append(_ pose: DevicePose) -> PoseOutcome {
    let next = pose.worldFromDevice
    // NaN fails every `<`, so it is rejected here too.
    guard next.translation.dot(next.translation) < 1e14, next.rotation.squaredNorm < 2 else {
      return .rejectedNotFinite
    }
    // The sums go on from those of the pose before: in registers, as it is read and written once.
    var point = TrajectoryPoint(worldFromDevice: next, timestamp: pose.timestamp)
    var jump: Double?
    if let latest = poses.newest {
      guard pose.timestamp > latest.timestamp else { return refuse(pose, before: latest.timestamp) }
      // Performance: no silence of a second or less is an outage. One that overflows is negative.
      let silence = pose.timestamp.nanoseconds &- latest.timestamp.nanoseconds
      if silence > Self.shortestOutageNanoseconds || silence < 0 || !beforeLeap.isEmpty {
        noteLeap(from: latest.timestamp, to: pose.timestamp)
      }
      point.continueSums(of: latest)
      jump = jumped(from: latest, to: point)
      if let jump {
        point.addJump(by: jump)
        begin(at: next)
      } else {
        addDrift(to: &point)
        addPath(to: &point)
      }
    } else {
      begin(at: next)
      velocityStart = VelocityStart(point)
    }
    point.isTracked = isTracked
    if point.isTracked { countOutage(before: pose.timestamp) }
    poses.push(point)
    return jump.map { .acceptedAfterJump(metres: $0) } ?? .accepted
  }

  /// Keeps the trajectory before a pose that comes after an outage.
  @inline(never)
  private mutating func noteLeap(from before: Timestamp, to time: Timestamp) {
    let isLeap = time.seconds(since: before) > longestSilence
    beforeLeap = []
    disagreeing.count = 0
    if isLeap { beforeLeap = [self] }
  }

  /// Leaves out a pose that is not later than the newest, or takes that back: one wrong stamp far ahead must not make
  /// all poses late that come after it.
  @inline(never)
  private mutating func refuse(_ pose: DevicePose, before newest: Timestamp) -> PoseOutcome {
    guard var former = beforeLeap.first, let latest = former.poses.newest?.timestamp,
      pose.timestamp > latest
    else { return .rejectedNotLater }
    let isNext = disagreeing.count == 0 || pose.timestamp > disagreeing.last
    disagreeing = Disagreement(count: isNext ? disagreeing.count + 1 : 1, last: pose.timestamp)
    guard disagreeing.count >= Self.refutingPoses else { return .rejectedNotLater }
    former.quality = quality
    former.wasLost = former.wasLost || wasLost
    self = former
    _ = append(pose)
    return .acceptedInstead(ofPoseAheadBySeconds: newest.seconds(since: pose.timestamp))
  }

  /// Turning on the spot drifts like moving on an arc of this radius, metres.
  private static let turnRadius = 0.25
  /// A limited odometry drifts so many times as fast, in variance.
  private static let limitedDriftFactor = 9.0

  private var isTracked: Bool { if case .notAvailable = quality { false } else { true } }

  // MARK: Outages

  /// Poses that come at least this often, seconds, are never an outage.
  private static let shortestOutage = 1.0
  private static let shortestOutageNanoseconds: Int64 = 1_000_000_000

  /// How long the odometry may be silent before that is an outage, seconds: a second, or twice the
  /// usual interval where poses come more slowly.
  private var longestSilence: Double {
    max(Self.shortestOutage, min(2 * poseInterval, odometry.maximumPoseGap))
  }

  /// Takes note of a tracked pose, and of the outage that it ends.
  @inline(__always)
  private mutating func countOutage(before time: Timestamp) {
    if let lastTracked {
      let seconds = time.seconds(since: lastTracked)
      if seconds > Self.shortestOutage, seconds > longestSilence { resumedAt = time }
      poseInterval = seconds
    }
    lastTracked = time
  }

  /// How long the odometry has been silent at a moment for which it has no pose.
  ///
  /// - Parameter time: The moment.
  /// - Returns: The seconds since the last tracked pose, infinite before the first one, and whether
  ///   that is an outage.
  func silence(at time: Timestamp) -> (seconds: Double, isOutage: Bool) {
    guard let lastTracked else { return (.infinity, true) }
    let newest = time >= lastTracked ? lastTracked : poses.lastPose(before: time)?.timestamp
    let seconds = newest.map { time.seconds(since: $0) } ?? .infinity
    return (seconds, seconds > longestSilence)
  }

  /// Counts motion from a pose on.
  private mutating func begin(at pose: RigidTransform) {
    driftAnchor.pose = pose
    placeAnchor.pose = pose
  }

  @inline(__always)
  private mutating func addDrift(to point: inout TrajectoryPoint) {
    guard let step = driftAnchor.step(to: point.worldFromDevice) else { return }
    var factor = 1.0
    if case .normal = quality {} else { factor = Self.limitedDriftFactor }
    let drift = odometry.positionDrift
    let yaw = odometry.yawDriftRadians
    point.positionDriftVariance += factor * drift * drift * step.metres
    point.yawDriftVariance +=
      factor * yaw * yaw * (step.metres + Self.turnRadius * step.radians)
  }

  @inline(__always)
  private mutating func addPath(to point: inout TrajectoryPoint) {
    guard let step = placeAnchor.step(to: point.worldFromDevice) else { return }
    point.path += step.metres
    point.turn += step.radians
  }

  /// How far the world has jumped with a step from pose to pose, if no device moves like that.
  @inline(__always)
  private mutating func jumped(from latest: TrajectoryPoint, to next: TrajectoryPoint) -> Double? {
    let step = next.worldFromDevice.translation - latest.worldFromDevice.translation
    if wasLost, isTracked {
      // Back from nowhere, with poses in between or without: the world may be another.
      wasLost = false
      velocity = .zero
      velocityStart = VelocityStart(next)
      return max(1, step.length)
    }
    let seconds = next.timestamp.seconds(since: latest.timestamp)
    guard seconds <= odometry.maximumPoseGap else {
      velocity = .zero
      velocityStart = VelocityStart(next)
      return nil
    }
    // A hand shakes a device with less than 40 m/s²; 0.3 m cover a pose's own noise.
    let surprise = step - seconds * velocity
    let tolerable = 0.3 + 0.5 * 40 * seconds * seconds
    if detectsJumps, surprise.dot(surprise) > tolerable * tolerable {
      velocityStart = VelocityStart(next)
      return surprise.length
    }
    let measured = next.timestamp.seconds(since: velocityStart.time)
    if measured >= TrajectoryPoint.velocitySeconds {
      velocity =
        (1 / measured) * (next.worldFromDevice.translation - velocityStart.place)
      velocityStart = VelocityStart(next)
    }
    return nil
  }

  /// From where and when the velocity is measured next.
  private struct VelocityStart: Codable {
    var place = Vector3.zero
    var time = Timestamp(nanoseconds: 0)

    init() {}

    init(_ point: TrajectoryPoint) {
      place = point.worldFromDevice.translation
      time = point.timestamp
    }
  }

  // MARK: Looking up

  /// The device at a moment; `nil` when no pose is near enough.
  @inline(__always)
  func point(at time: Timestamp) -> TrajectoryPoint? { poses.point(at: time) }

  /// Puts the device at a moment into a point; `false` when no pose is near enough.
  @inline(__always)
  func find(_ time: Timestamp, _ point: inout TrajectoryPoint) -> Bool { poses.find(time, &point) }
}

extension TrajectoryPoint {
  /// Velocities are measured over this time at least, seconds: poses that are stamped as they arrive may
  /// follow each other within microseconds.
  static let velocitySeconds = 0.02

  /// For what is not looked at.
  static let nowhere = TrajectoryPoint(
    worldFromDevice: .identity, timestamp: Timestamp(nanoseconds: 0))
}

extension TrajectoryPoint {
  /// A jump by more than this, metres, leaves nothing to go on from: peers are searched for anew.
  private static let tolerableJump = 0.5
  /// How uncertain yaw is after the world has jumped, radians.
  private static let jumpYawSigma = 0.2

  /// Begins with what has happened on the way to the point before.
  @inline(__always)
  fileprivate mutating func continueSums(of before: TrajectoryPoint) {
    path = before.path
    turn = before.turn
    world = before.world
    positionDriftVariance = before.positionDriftVariance
    yawDriftVariance = before.yawDriftVariance
  }

  /// Takes note of a jump.
  fileprivate mutating func addJump(by metres: Double) {
    if metres > Self.tolerableJump { world += 1 }
    positionDriftVariance += metres * metres
    yawDriftVariance += Self.jumpYawSigma * Self.jumpYawSigma
  }
}

/// The pose from which motion was last counted; what stays near it is no motion.
private struct MotionAnchor: Codable {
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
    let squaredCosine = pose.rotation.squaredHalfCosine(to: next.rotation)
    guard away.dot(away) > squaredMetres || squaredCosine < squaredHalfCosine else { return nil }
    pose = next
    return (away.length, Rotation.angle(ofSquaredHalfCosine: squaredCosine))
  }
}
