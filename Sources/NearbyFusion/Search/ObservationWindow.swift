// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What has been measured since a search began, condensed to some keyframes.
///
/// Samples from one place are averaged: their white noise shrinks, their wandering error does not.
/// When the window is full, neighbouring keyframes are averaged, places and all: to first order the
/// mean of the ranges is the range from the mean of the places. So it always spans the whole search
/// and loses hardly any of it.
struct ObservationWindow: Sendable, Codable {
  private struct Keyframe: Codable {
    var device: TrajectoryPoint
    var values = PerKind(repeating: Average())
    /// When the range was not measured, or is very short: what drift is divided by, metres.
    var range: Double { max(values.range.count > 0 ? values.range.mean : 3, 0.3) }
    /// Whether it holds anything but a height difference.
    var hasRadio: Bool {
      MeasurementKind.allCases.contains { $0.isOfRadio && values[$0].count > 0 }
    }
    /// Whether anything in it tells how high the peer is.
    var measuresHeight: Bool {
      MeasurementKind.allCases.contains { $0.tellsHeight && values[$0].count > 0 }
    }
  }

  /// The values of one kind in a keyframe.
  private struct Average: Codable {
    /// How many; zero when the kind was not measured.
    var count = 0.0
    var mean = 0.0
    /// White variance of one sample, and the part of its accuracy that wanders.
    var white = 0.0
    var wander = 0.0

    /// The value as the fit wants it.
    ///
    /// - Parameters:
    ///   - wandering: The variance of the wandering error.
    ///   - toNow: Its correlation with that of now.
    ///   - dilution: The factor by which errors that keyframes have in common count for more.
    ///   - poseVariance: The variance that drift since and an uncertain pose add.
    /// - Returns: The value.
    func fitValue(
      wandering: Double, _ toNow: Double, dilution: Double, _ poseVariance: Double
    ) -> FitKeyframe.Value {
      FitKeyframe.Value(
        value: mean,
        variance: white / count + wandering * (1 - toNow * toNow) * dilution + poseVariance,
        correlation: toNow)
    }

    /// The average with another one.
    func averaged(with other: Average) -> Average {
      guard count > 0 else { return other }
      guard other.count > 0 else { return self }
      var both = self
      both.count += other.count
      both.mean += other.count / both.count * (other.mean - mean)
      return both
    }
  }

  private var keyframes: [Keyframe] = []

  private static let capacity = 48
  /// Within these, metres and radians, is one place.
  private static let onePlace = 0.03
  private static let oneAttitude = 0.05
  /// Keyframes are averaged up to these distances: a share of the range, and radians.
  private static let widestPlace = 0.15
  private static let widestAttitude = 0.25
  /// Values further apart than this many sigmas are not averaged.
  private static let agreement = 3.0
  /// Keyframes from one place: one for inliers, and others for faults.
  private static let perPlace = 3

  var count: Int { keyframes.count }

  /// Whether a restored window is within its capacity.
  var isConsistent: Bool { count <= Self.capacity }

  /// Makes room for all that it may hold.
  mutating func reserve() { keyframes.reserveCapacity(Self.capacity) }

  // MARK: Filling

  /// Where the peer is thought to be: an antenna's range to there says by how much it must change.
  struct Expectation {
    var position: Vector3
    /// The spread across the line of sight, as a ratio to the distance.
    var spread: Double

    /// By how much the range changes from one place to another, and how wrong that may be.
    fileprivate func change(from a: TrajectoryPoint, to b: TrajectoryPoint) -> (
      Double, within: Double
    ) {
      let (from, to) = (a.worldFromDevice.translation, b.worldFromDevice.translation)
      return (
        (position - to).length - (position - from).length,
        within: 2 * min(spread, 1) * (to - from).length
      )
    }
  }

  /// Takes a sample in.
  ///
  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - device: Where the device was.
  ///   - noise: How noisy each kind is.
  ///   - expectation: Where the peer is, if that is known.
  /// - Returns: Whether it made a new keyframe.
  mutating func add(
    _ measurements: Measurements, at device: TrajectoryPoint, noise: NoiseLevels,
    expecting expectation: Expectation?
  ) -> Bool {
    var here = 0
    for index in (0..<place(of: device)).reversed() {
      guard isNear(keyframes[index].device, device) else { break }
      here += 1
      if agrees(keyframes[index], measurements) {
        Self.average(measurements, into: &keyframes[index], noise)
        return false
      }
    }
    guard here < Self.perPlace else { return false }
    var keyframe = Keyframe(device: device)
    Self.average(measurements, into: &keyframe, noise)
    if keyframes.count == Self.capacity { condense(expectation) }
    keyframes.insert(keyframe, at: place(of: device))
    return true
  }

  /// Where a keyframe belongs, late or not: neighbours in time are neighbours in place.
  private func place(of device: TrajectoryPoint) -> Int {
    let before = keyframes.lastIndex { $0.device.timestamp <= device.timestamp }
    return before.map { $0 + 1 } ?? 0
  }

  private func isNear(_ a: TrajectoryPoint, _ b: TrajectoryPoint) -> Bool {
    let step = (a.worldFromDevice.translation - b.worldFromDevice.translation).length
    let turn = a.worldFromDevice.rotation.angle(to: b.worldFromDevice.rotation)
    return step < Self.onePlace && turn < Self.oneAttitude
  }

  private func agrees(
    _ keyframe: Keyframe, _ measurements: Measurements
  ) -> Bool {
    for kind in MeasurementKind.allCases {
      let average = keyframe.values[kind]
      guard let measurement = measurements[kind], average.count > 0 else { continue }
      let step = kind.wrapped(measurement.value - average.mean)
      let variance = 2 * average.white + 0.1 * average.wander
      if step * step > Self.agreement * Self.agreement * variance { return false }
    }
    return true
  }

  private static func average(
    _ measurements: Measurements, into keyframe: inout Keyframe, _ noise: NoiseLevels
  ) {
    for kind in MeasurementKind.allCases {
      guard let measurement = measurements[kind] else { continue }
      var average = keyframe.values[kind]
      average.count += 1
      let difference = measurement.value - average.mean
      let step = average.count == 1 ? difference : kind.wrapped(difference)
      average.mean += step / average.count
      average.white = noise[kind].whiteVariance(stated: measurement.sigma)
      average.wander = noise[kind].wanderVariance(stated: measurement.sigma)
      keyframe.values[kind] = average
    }
  }

  /// Averages neighbours; when there are too few to be averaged, every second keyframe goes.
  private mutating func condense(_ expectation: Expectation?) {
    // Performance: in place, as a settled track allocates nothing.
    var (kept, index) = (0, 0)
    while index < keyframes.count {
      if index + 1 < keyframes.count,
        let both = averaged(keyframes[index], keyframes[index + 1], expectation)
      {
        keyframes[kept] = both
        index += 2
      } else {
        keyframes[kept] = keyframes[index]
        index += 1
      }
      kept += 1
    }
    if kept > Self.capacity * 7 / 8 {
      kept = (kept + 1) / 2
      for index in 0..<kept { keyframes[index] = keyframes[2 * index] }
    }
    keyframes.removeLast(keyframes.count - kept)
  }

  /// Two keyframes as one, if they hold the same components and agree: a range changes as the
  /// expected one does, or else by no more than the way between the places.
  private func averaged(
    _ a: Keyframe, _ b: Keyframe, _ expectation: Expectation?
  ) -> Keyframe? {
    let step =
      (a.device.worldFromDevice.translation - b.device.worldFromDevice.translation).length
    let turn = a.device.worldFromDevice.rotation.angle(to: b.device.worldFromDevice.rotation)
    let range = a.values.range.count > 0 ? max(a.values.range.mean, 0.1) : 1
    guard step < Self.widestPlace * range, turn < Self.widestAttitude,
      a.device.world == b.device.world
    else { return nil }
    if !a.hasRadio || !b.hasRadio {
      let both = a.hasRadio ? a : b
      return withHeights(of: a, b, both)
    }
    var both = b
    var weight = 0.5
    for kind in MeasurementKind.allCases where kind.isOfRadio {
      let (first, second) = (a.values[kind], b.values[kind])
      guard (first.count > 0) == (second.count > 0) else { return nil }
      guard first.count > 0 else { continue }
      let change = kind.wrapped(first.mean - second.mean)
      let white = first.white / first.count + second.white / second.count
      let noise = Self.agreement * (white + 0.1 * second.wander).squareRoot()
      let (expected, within) =
        switch (kind.wandering, expectation) {
        case (.withPlace, let expectation?): expectation.change(from: b.device, to: a.device)
        case (.withPlace, nil): (0, within: step)
        case (.withDirection, _): (0, within: step / range + turn)
        case (.withTime, _): (0, within: .infinity)
        }
      guard abs(change - expected) < noise + within else { return nil }
      weight = first.count / (first.count + second.count)
      both.values[kind].count += first.count
      both.values[kind].mean += weight * change
    }
    both.device.worldFromDevice = b.device.worldFromDevice.interpolated(
      to: a.device.worldFromDevice, fraction: weight)
    return withHeights(of: a, b, both)
  }

  /// A keyframe with the height differences of two, as they would be seen from its place; `nil` when
  /// they do not agree.
  ///
  /// A height difference needs no radio, so either may be without.
  private func withHeights(of a: Keyframe, _ b: Keyframe, _ keyframe: Keyframe) -> Keyframe? {
    func heights(of other: Keyframe) -> Average {
      var heights = other.values.heightDifference
      heights.mean +=
        other.device.worldFromDevice.translation.y - keyframe.device.worldFromDevice.translation.y
      return heights
    }
    let (first, second) = (heights(of: a), heights(of: b))
    let white = first.white + second.white
    guard
      first.count == 0 || second.count == 0
        || abs(first.mean - second.mean) < Self.agreement * white.squareRoot()
    else { return nil }
    var both = keyframe
    both.values.heightDifference = first.averaged(with: second)
    return both
  }

  /// Removes what was measured from a time on.
  mutating func removeAll(from time: Timestamp) {
    keyframes.removeAll { $0.device.timestamp >= time }
  }

  // MARK: Giving out

  /// The share of the ranges that are too short for a place, in keyframes.
  ///
  /// - Parameters:
  ///   - place: The place now.
  ///   - metres: By how much.
  ///   - now: The device now.
  /// - Returns: The share, 0 to 1.
  func shareOfShortRanges(for place: Vector3, by metres: Double, now: TrajectoryPoint) -> Double {
    var (count, short) = (0, 0)
    for keyframe in keyframes where keyframe.values.range.count > 0 {
      count += 1
      let drift = OdometryDrift(from: keyframe.device, to: now, isPlanar: false)
      let sight = place - keyframe.device.worldFromDevice.translation
      let tolerated =
        metres + 3 * drift.covariance(for: sight).trace.squareRoot()
      if keyframe.values.range.mean < sight.length - tolerated { short += 1 }
    }
    return count > 0 ? Double(short) / Double(count) : 0
  }

  /// The range that was measured nearest to a place of the device.
  ///
  /// - Parameters:
  ///   - place: The place, metres.
  ///   - radius: How far away it may have been measured, metres.
  /// - Returns: The range and the device's pose at that time; `nil` if no range was measured within the radius.
  func nearestRange(
    to place: Vector3, within radius: Double
  ) -> (range: MeasuredValue, device: TrajectoryPoint)? {
    var nearest: Keyframe?
    var least = radius
    for keyframe in keyframes where keyframe.values.range.count > 0 {
      let distance = (keyframe.device.worldFromDevice.translation - place).length
      if distance <= least { (nearest, least) = (keyframe, distance) }
    }
    return nearest.map { keyframe in
      let range = keyframe.values.range
      return (
        MeasuredValue(value: range.mean, sigma: (range.white + range.wander).squareRoot()),
        keyframe.device
      )
    }
  }

  /// Whether nothing but ranges and azimuths from a flat walk tells where the peer is.
  func isFlatWalk(until now: TrajectoryPoint) -> Bool {
    guard let first = keyframes.first?.device, now.path - first.path > FlatWalk.long else {
      return false
    }
    return !keyframes.contains { $0.measuresHeight }
      && WalkShape(
        of: keyframes.lazy.map(\.device.worldFromDevice.translation), isAlone: false
      ).isFlat
  }

  /// The keyframes as the fit wants them, as seen from now.
  ///
  /// Of a keyframe's wandering error, the part that is correlated with that of now is estimated with
  /// the state. The rest is noise, and since it is nearly the same for neighbouring keyframes it counts
  /// as an autoregressive process with correlation ρ, which carries (1 - ρ)/(1 + ρ) of the information
  /// of independent errors. Drift since a keyframe is noise on it.
  ///
  /// - Parameters:
  ///   - now: The device now.
  ///   - mayMove: Whether the peer may move.
  ///   - settings: The settings.
  /// - Returns: The keyframes, the oldest first.
  func fitKeyframes(
    now: TrajectoryPoint, mayMove: Bool, _ settings: Settings
  ) -> [FitKeyframe] {
    guard let first = keyframes.first?.device else { return [] }
    // Of a peer at rest the joint fit knows the drift.
    let isFlat =
      mayMove && !settings.configuration.odometry.isPlanar && isFlatWalk(until: now)
    var result: [FitKeyframe] = []
    result.reserveCapacity(keyframes.count)
    var previous: TrajectoryPoint?
    for keyframe in keyframes {
      result.append(
        fitKeyframe(
          keyframe, after: previous, first: first, now: now, isFlat: isFlat, settings))
      previous = keyframe.device
    }
    return result
  }

  private func fitKeyframe(
    _ keyframe: Keyframe, after previous: TrajectoryPoint?, first: TrajectoryPoint,
    now: TrajectoryPoint, isFlat: Bool, _ settings: Settings
  ) -> FitKeyframe {
    let device = keyframe.device
    let pose = device.worldFromDevice
    let range = keyframe.range
    let isPlanar = settings.configuration.odometry.isPlanar
    let since = OdometryDrift(from: device, to: now, isPlanar: isPlanar)
    let all = OdometryDrift(from: first, to: now, isPlanar: isPlanar)
    let place = DriftInWindow(
      since: since.horizontal, all: all.horizontal, keyframes: keyframes.count, isFlat: isFlat)
    let yaw = DriftInWindow(
      since: since.yaw, all: all.yaw, keyframes: keyframes.count, isFlat: isFlat)
    var drift = FitKeyframe.Drift()
    drift.horizontal = place.amplitude
    drift.vertical = isPlanar ? 0 : place.amplitude
    drift.yaw = yaw.amplitude
    drift.pivot = 0.5 * (pose.translation + now.worldFromDevice.translation)
    let step = previous.map { max(0, device.timestamp.seconds(since: $0.timestamp)) } ?? 0
    var result = FitKeyframe(
      from: AntennaPose(pose, antennaInDevice: settings.configuration.ranging.antennaInDevice),
      drift: drift,
      faultCorrelation: settings.faults.correlation(seconds: step))

    let placeVariance = place.rest + device.interpolationVariance
    let away = now.worldFromDevice.translation - pose.translation
    let rangeVariance = placeVariance + yaw.rest * away.dot(away)
    let angleVariance =
      placeVariance / (range * range) + (yaw.rest + device.interpolationVariance)
    let toPrevious = previous.map {
      CorrelatedNoise.correlation(
        from: $0, to: device, distance: range, settings.heightOffset)
    }
    let toNow = CorrelatedNoise.correlation(
      from: device, to: now, distance: range, settings.heightOffset)
    for kind in MeasurementKind.allCases where keyframe.values[kind].count > 0 {
      let value = keyframe.values[kind]
      let dilution: Double
      let poseVariance: Double
      switch kind.wandering {
      case .withPlace:
        (dilution, poseVariance) = (Self.dilution(toPrevious?[kind] ?? 0), rangeVariance)
      case .withDirection:
        (dilution, poseVariance) = (Self.dilution(toPrevious?[kind] ?? 0), angleVariance)
      case .withTime:
        // The offset has hardly changed from one keyframe to the next.
        dilution = DriftInWindow.dilution(keyframes: keyframes.count, isFlat: false)
        poseVariance = placeVariance
      }
      let wandering = kind.wanderingVariance(part: value.wander, settings.heightOffset)
      result[kind] = value.fitValue(
        wandering: wandering, toNow[kind], dilution: dilution, poseVariance)
    }
    return result
  }

  /// The factor by which errors of a correlation with those of the keyframe before count for more.
  private static func dilution(_ toPrevious: Double) -> Double {
    (1 + toPrevious) / max(1 - toPrevious, 1e-3)
  }
}
