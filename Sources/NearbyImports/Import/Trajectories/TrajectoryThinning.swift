// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry
public import NearbyRecordings

/// Thins a trajectory: leaves out the poses that interpolation between the others restores.
///
/// Each pose left out is restored, by a straight line in position and the shorter arc in attitude,
/// within the two tolerances. The method is greedy: the next kept pose is as far as possible from
/// the last one.
public struct TrajectoryThinning: Hashable, Sendable {
  /// The largest error of a position restored, metres.
  public var maximumPositionError = 0.01
  /// The largest error of an attitude restored, radians.
  public var maximumAngleErrorRadians = 0.1.degreesAsRadians
  /// The longest time between two poses kept, seconds: readers may refuse to interpolate further.
  public var maximumGapSeconds = 1.0

  /// Makes a thinning of 1 cm, 0.1 degrees and 1 s.
  public init() {}

  /// The poses to keep.
  ///
  /// Takes O(n log n) steps for n poses. If hundreds of poses in a row stay so close to the limits
  /// that each must be checked repeatedly, one more pose is kept.
  ///
  /// - Parameter rows: Poses in the order of time.
  /// - Returns: The first, the last, and those between that the others do not restore.
  public func thinned(_ rows: [PoseRow]) -> [PoseRow] {
    var stream = ThinningStream(self)
    var kept = rows.compactMap { stream.add($0) }
    if let last = stream.finish() { kept.append(last) }
    return kept
  }

  /// Whether interpolation between two poses restores one that lies between them.
  fileprivate func restores(_ row: PoseRow, between first: PoseRow, and last: PoseRow) -> Bool {
    let gap = last.timestamp.seconds(since: first.timestamp)
    let pose = row.worldFromDevice
    let restored = first.worldFromDevice.interpolated(
      to: last.worldFromDevice, fraction: row.timestamp.seconds(since: first.timestamp) / gap)
    return (restored.translation - pose.translation).length <= maximumPositionError
      && restored.rotation.angle(to: pose.rotation) <= maximumAngleErrorRadians
  }

  /// Whether the bounds of a stretch guarantee that interpolation restores all its poses.
  fileprivate func restores(_ stretch: PoseStretch, along motion: PoseMotion) -> Bool {
    stretch.position.farthest(from: motion.velocity)
      <= maximumPositionError - Self.positionRounding
      && stretch.attitude.farthest(from: motion.angularVelocity)
        <= maximumAngleErrorRadians - Self.attitudeRounding
  }

  /// Covers rounding: positions are below 1e7 m and computed to 1e-9 m.
  private static let positionRounding = 1e-8
  /// Covers the difference between the interpolation and the arc, with a factor of two.
  private static let attitudeRounding = 2e-6
}

/// Thins a trajectory pose by pose.
///
/// Holds the poses within the longest gap.
struct ThinningStream: Sendable {
  /// How many poses and stretches were checked, which determines the running time.
  private(set) var checks = 0

  private let thinning: TrajectoryThinning
  private var kept: PoseRow?
  /// The poses since the one kept last.
  private var held: [PoseRow] = []
  /// Their motions since the one kept last.
  private var motions: [PoseMotion] = []
  /// Bounds of the held poses by level.
  ///
  /// A stretch of level k has `leaf << k` poses.
  private var stretches: [[PoseStretch]] = []
  /// How many more checks are allowed before a pose must be kept.
  private var checksAllowed = 0

  /// The number of poses in the shortest stretch.
  private static let leaf = 16
  /// How many checks each pose adds to those allowed.
  ///
  /// Gaps of up to 100 poses never need more.
  private static let checksPerPose = 64

  init(_ thinning: TrajectoryThinning) { self.thinning = thinning }

  /// Takes the next pose.
  ///
  /// - Returns: A pose to be kept, not later than the one taken.
  mutating func add(_ row: PoseRow) -> PoseRow? {
    guard let from = kept else {
      kept = row
      return row
    }
    checksAllowed += Self.checksPerPose
    guard let last = held.last, !restoresHeld(between: from, and: row) else {
      hold(row, since: from)
      return nil
    }
    kept = last
    held.removeAll(keepingCapacity: true)
    motions.removeAll(keepingCapacity: true)
    for level in stretches.indices { stretches[level].removeAll(keepingCapacity: true) }
    checksAllowed = checks + Self.checksPerPose
    hold(row, since: last)
    return last
  }

  /// The last pose of all, if it is still to be kept.
  mutating func finish() -> PoseRow? { held.popLast() }

  private mutating func hold(_ row: PoseRow, since from: PoseRow) {
    held.append(row)
    motions.append(PoseMotion(from: from, to: row))
    var level = 0
    while held.count.isMultiple(of: Self.leaf << level) {
      if stretches.count == level { stretches.append([]) }
      stretches[level].append(PoseStretch(motions.suffix(Self.leaf << level)))
      level += 1
    }
  }

  /// Whether interpolation between two poses restores all that are held.
  ///
  /// The bounds of stretches of poses are checked first. Only if they are inconclusive is every
  /// pose checked, so that the answer is exact unless the allowed checks run out.
  private mutating func restoresHeld(between first: PoseRow, and last: PoseRow) -> Bool {
    let motion = PoseMotion(from: first, to: last)
    guard motion.seconds > 0, motion.seconds <= thinning.maximumGapSeconds else { return false }
    var start = 0
    // From the longest stretch to the shortest, one after the other.
    for level in stretches.indices.reversed() where held.count & (Self.leaf << level) != 0 {
      guard restores(start / (Self.leaf << level), level, along: motion, first, last) else {
        return false
      }
      start += Self.leaf << level
    }
    return restores(start..<held.count, first, last)
  }

  private mutating func restores(
    _ index: Int, _ level: Int, along motion: PoseMotion, _ first: PoseRow, _ last: PoseRow
  ) -> Bool {
    checks += 1
    if thinning.restores(stretches[level][index], along: motion) { return true }
    if level == 0 {
      return restores(index * Self.leaf..<(index + 1) * Self.leaf, first, last)
    }
    return restores(2 * index, level - 1, along: motion, first, last)
      && restores(2 * index + 1, level - 1, along: motion, first, last)
  }

  private mutating func restores(_ range: Range<Int>, _ first: PoseRow, _ last: PoseRow) -> Bool {
    for index in range {
      checks += 1
      guard checks <= checksAllowed,
        thinning.restores(held[index], between: first, and: last)
      else { return false }
    }
    return true
  }
}

/// How a pose differs from an earlier one.
private struct PoseMotion: Sendable {
  var seconds: Double
  var translation: Vector3
  /// Axis times angle, radians, in the earlier pose's frame.
  var turn: Vector3

  init(from first: PoseRow, to last: PoseRow) {
    seconds = last.timestamp.seconds(since: first.timestamp)
    translation = last.worldFromDevice.translation - first.worldFromDevice.translation
    let (a, b) = (first.worldFromDevice.rotation, last.worldFromDevice.rotation)
    let rotation = a.inverse * b
    let axis = Vector3(rotation.x, rotation.y, rotation.z).normalized
    turn = (rotation.w < 0 ? -a.angle(to: b) : a.angle(to: b)) * axis
  }

  var velocity: Vector3 { translation / seconds }
  var angularVelocity: Vector3 { turn / seconds }
}

/// Bounds of some consecutive poses.
private struct PoseStretch: Sendable {
  var position: PathTube
  /// Bounds of the turns as vectors.
  ///
  /// The angle between two rotations is at most the distance of their rotation vectors, since the
  /// exponential map does not expand distances.
  var attitude: PathTube

  init(_ motions: ArraySlice<PoseMotion>) {
    position = PathTube(motions) { $0.translation }
    attitude = PathTube(motions) { $0.turn }
  }
}

/// A point of constant velocity, and a bound of the distance of a path's points from it.
private struct PathTube: Sendable {
  private var start = Double.infinity
  private var end = -Double.infinity
  private var startPoint = Vector3.zero
  private var endPoint = Vector3.zero
  private var radius = 0.0

  /// The tube about the line of least squares.
  init(_ motions: ArraySlice<PoseMotion>, _ point: (PoseMotion) -> Vector3) {
    var (meanSeconds, mean) = (0.0, Vector3.zero)
    for motion in motions {
      start = min(start, motion.seconds)
      end = max(end, motion.seconds)
      meanSeconds += motion.seconds
      mean += point(motion)
    }
    meanSeconds /= Double(motions.count)
    mean = mean / Double(motions.count)
    var (squares, products) = (0.0, Vector3.zero)
    for motion in motions {
      let seconds = motion.seconds - meanSeconds
      squares += seconds * seconds
      products += seconds * point(motion)
    }
    let slope = squares > 0 ? products / squares : .zero
    startPoint = mean + (start - meanSeconds) * slope
    endPoint = mean + (end - meanSeconds) * slope
    for motion in motions {
      let distance = (mean + (motion.seconds - meanSeconds) * slope - point(motion)).length
      // NaN has no bound.
      radius = distance <= radius ? radius : distance.isFinite ? distance : .infinity
    }
  }

  /// A bound of the distance of the path's points from a point that leaves the origin with a
  /// velocity.
  ///
  /// The distance between two points of constant velocity is greatest at an end of the interval.
  func farthest(from velocity: Vector3) -> Double {
    let atStart = (start * velocity - startPoint).length
    let atEnd = (end * velocity - endPoint).length
    return (atStart <= atEnd ? atEnd : atStart) + radius
  }
}
