// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Collects the figures of a ``RecordingSurvey`` from a recording's events, one by one.
///
/// Memory grows by 16 bytes with each range, for the alignment of the clocks.
struct SurveyGatherer {
  private var poses = RecordingSurvey.Poses()
  private var samples = RecordingSurvey.Samples()
  private var peers: [Int: RangeSeries] = [:]
  private var clocks = ClockAligner()

  private let manifest: RecordingManifest
  /// So far from the first and last pose a sample can still be used, seconds.
  private static let extrapolation = OdometryConfiguration().maximumExtrapolation
  /// The two newest poses.
  private var previous: DevicePose?
  private var newest: DevicePose?
  private var attitudes = AttitudeMeans()
  private var spread = LevelMoments()
  private var smallest = Vector3.zero
  private var largest = Vector3.zero
  /// The pose at which the second began over which the speed is measured.
  private var secondStart: DevicePose?
  private var speeds = LogHistogram()
  private var poseSteps = LogHistogram()
  private var sampleSteps = LogHistogram()
  /// The gaps between samples that are longer than ``leastGap``, seconds.
  private var gaps: [Double] = []
  private static let leastGap = 0.2

  init(_ manifest: RecordingManifest) { self.manifest = manifest }

  mutating func add(_ pose: DevicePose) {
    let place = manifest.frames.worldVector(fromEngine: pose.worldFromDevice.translation)
    if let newest {
      poseSteps.add(pose.timestamp.seconds(since: newest.timestamp))
      smallest = smallest.lesser(place)
      largest = largest.greater(place)
      let turn = newest.worldFromDevice.rotation.angle(to: pose.worldFromDevice.rotation)
      if turn > 1e-6 { poses.attitudeIsConstant = false }
    } else {
      poses.first = pose.timestamp
      (smallest, largest) = (place, place)
      secondStart = pose
    }
    attitudes.add(manifest.frames.worldDeviceRotation(of: pose), up: manifest.worldUp)
    spread.add(pose.worldFromDevice.translation)
    measureSpeed(pose)
    clocks.add(pose.timestamp, pose.worldFromDevice.translation)
    poses.last = pose.timestamp
    previous = newest
    newest = pose
  }

  private mutating func measureSpeed(_ pose: DevicePose) {
    guard let start = secondStart else { return }
    let seconds = pose.timestamp.seconds(since: start.timestamp)
    guard seconds >= 1 else { return }
    let step = (pose.worldFromDevice.translation - start.worldFromDevice.translation).length
    poses.watchedSeconds += seconds
    if step < 0.05 * seconds {
      poses.restingSeconds += seconds
    } else {
      speeds.add(step / seconds)
    }
    secondStart = pose
  }

  mutating func add(_ row: RangingRow) {
    if let last = samples.last {
      let step = row.timestamp.seconds(since: last)
      if step > 0 { sampleSteps.add(step) }
      if step > Self.leastGap { gaps.append(step) }
    }
    samples.first = min(samples.first ?? row.timestamp, row.timestamp)
    samples.last = max(samples.last ?? row.timestamp, row.timestamp)
    samples.count += 1
    if let first = poses.first, let last = poses.last,
      row.timestamp.seconds(since: first) >= -Self.extrapolation,
      row.timestamp.seconds(since: last) <= Self.extrapolation
    {
      samples.withinPoses += 1
    }
    guard let distance = row.distance, distance.isFinite else { return }
    if distance == 0 { samples.zeroDistances += 1 }
    if row.peerIndex >= manifest.peers.count || manifest.peers[row.peerIndex].motion == .stationary
    {
      clocks.add(row.timestamp, range: distance, of: row.peerIndex)
    }
    guard distance > 0, let place = position(at: row.timestamp) else { return }
    let sigma = row.distanceSigma ?? manifest.ranging.rangeSigma
    var series = peers.removeValue(forKey: row.peerIndex) ?? RangeSeries()
    switch series.add(
      RangeSeries.Entry(time: row.timestamp, distance: distance, sigma: sigma, place: place))
    {
    case .repeated:
      samples.repeatedDistances += 1
      samples.comparedDistances += 1
    case .changed: samples.comparedDistances += 1
    case .notComparable: break
    }
    peers[row.peerIndex] = series
  }

  /// The device's position at a time between the newest poses.
  private func position(at time: Timestamp) -> Vector3? {
    guard let newest else { return nil }
    let end = newest.worldFromDevice.translation
    guard let previous, time != newest.timestamp else {
      return time == newest.timestamp ? end : nil
    }
    let whole = newest.timestamp.seconds(since: previous.timestamp)
    let part = time.seconds(since: previous.timestamp)
    guard part >= 0, part <= whole, whole > 0, whole < 2 else { return nil }
    let start = previous.worldFromDevice.translation
    return start + (end - start) * (part / whole)
  }

  /// The extent of the positions; what is nothing but rounding is zero.
  private var extent: Vector3 {
    func extent(_ low: Double, _ high: Double) -> Double {
      high - low < 1e-9 * max(1, abs(low)) ? 0 : high - low
    }
    return Vector3(
      extent(smallest.x, largest.x), extent(smallest.y, largest.y), extent(smallest.z, largest.z))
  }

  func finish(_ info: RecordingInfo) -> RecordingSurvey {
    var survey = RecordingSurvey(info: info, manifest: manifest)
    survey.poses = poses
    survey.poses.extent = extent
    survey.poses.meanUpInDevice = attitudes.mean
    survey.poses.meanUpInDeviceScalarFirst = attitudes.meanScalarFirst
    survey.poses.levelSpread = spread.spread
    survey.poses.medianSpeed = speeds.median
    survey.poses.medianStep = poseSteps.median
    survey.poses.shortStep = poseSteps.quantile(0.1)
    survey.samples = samples
    let usual = sampleSteps.median ?? 0
    let long = gaps.filter { $0 > 10 * usual }
    survey.samples.secondsInGaps = long.reduce(0, +)
    survey.samples.longestGap = long.max() ?? 0
    survey.clock = ClockChecks.areApart(samples) ? clocks.wideAlignment() : clocks.alignment()
    survey.peers = info.peers.indices.map { index in
      guard let series = peers[index] else { return RecordingSurvey.Peer() }
      return series.figures(isStationary: info.peers[index].peer.motion == .stationary)
    }
    return survey
  }
}

/// The vertical in the device's axes, on average over the poses.
private struct AttitudeMeans {
  private var count = 0
  private var sum = Vector3.zero
  private var sumScalarFirst = Vector3.zero

  var mean: Vector3 { count > 0 ? (1 / Double(count)) * sum : .zero }
  var meanScalarFirst: Vector3 { count > 0 ? (1 / Double(count)) * sumScalarFirst : .zero }

  mutating func add(_ rotation: Rotation, up axis: WorldUp) {
    let up = axis == .y ? Vector3(0, 1, 0) : Vector3(0, 0, 1)
    count += 1
    sum = sum + rotation.inverse.act(up)
    // What was read as x, y, z, w is w, x, y, z.
    guard
      let other = Rotation(normalizing: rotation.y, rotation.z, rotation.w, rotation.x)
    else { return }
    sumScalarFirst = sumScalarFirst + other.inverse.act(up)
  }
}

/// The moments of positions in the level plane of the engine's world.
private struct LevelMoments {
  private var count = 0.0
  private var first: Vector3?
  private var (x, z, xx, xz, zz) = (0.0, 0.0, 0.0, 0.0, 0.0)

  mutating func add(_ place: Vector3) {
    let origin = first ?? place
    first = origin
    let (dx, dz) = (place.x - origin.x, place.z - origin.z)
    count += 1
    x += dx
    z += dz
    xx += dx * dx
    xz += dx * dz
    zz += dz * dz
  }

  /// The roots of the eigenvalues of the covariance.
  var spread: RecordingSurvey.LevelSpread {
    guard count > 1 else { return RecordingSurvey.LevelSpread() }
    let (mx, mz) = (x / count, z / count)
    let (a, b, c) = (xx / count - mx * mx, xz / count - mx * mz, zz / count - mz * mz)
    let (middle, half) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).squareRoot())
    return RecordingSurvey.LevelSpread(
      along: max(0, middle + half).squareRoot(), across: max(0, middle - half).squareRoot())
  }
}

extension FrameConvention {
  /// The rotation from the device's axes to the world's, both as the recording has them.
  fileprivate func worldDeviceRotation(of pose: DevicePose) -> Rotation {
    worldFromDevice(fromEngine: pose.worldFromDevice).rotation
  }
}

extension Vector3 {
  fileprivate func lesser(_ other: Vector3) -> Vector3 {
    Vector3(min(x, other.x), min(y, other.y), min(z, other.z))
  }

  fileprivate func greater(_ other: Vector3) -> Vector3 {
    Vector3(max(x, other.x), max(y, other.y), max(z, other.z))
  }
}
