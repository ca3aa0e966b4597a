// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// What has been measured since a search began, condensed to some keyframes.
///
/// Samples from one place are averaged: their white noise shrinks, their wandering error does not.
/// When the window is full, neighbouring keyframes are averaged, places and all: to first order the
/// mean of the ranges is the range from the mean of the places. So it always spans the whole search
/// and loses hardly any of it.
struct ObservationWindow: Sendable {
  private struct Keyframe {
    var device: TrajectoryPoint
    var count: InlineArray<3, Double> = InlineArray(repeating: 0)
    var mean: InlineArray<3, Double> = InlineArray(repeating: 0)
    /// White variance of one sample, and the wandering error's.
    var white: InlineArray<3, Double> = InlineArray(repeating: 0)
    var wander: InlineArray<3, Double> = InlineArray(repeating: 0)
  }

  private var keyframes: [Keyframe] = []
  /// Samples further apart in time are not averaged: the peer may have moved.
  private let patience: Double

  init(mayMove: Bool) { patience = mayMove ? Self.movingSeconds : .infinity }

  private static let capacity = 48
  /// Within these, metres and radians, is one place.
  private static let onePlace = 0.03
  private static let oneAttitude = 0.05
  /// Keyframes are averaged up to these distances: a share of the range, and radians.
  private static let widestPlace = 0.15
  private static let widestAttitude = 0.25
  /// Values further apart than this many sigmas are not averaged.
  private static let agreement = 3.0
  /// How long a peer that may move is taken to be in one place, seconds.
  private static let movingSeconds = 0.25
  /// Keyframes from one place: the honest values, and faults of a kind or two.
  private static let perPlace = 3

  var count: Int { keyframes.count }

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
  ///   - components: What was measured.
  ///   - device: Where the device was.
  ///   - noise: How noisy each component is.
  ///   - expectation: Where the peer is, if that is known.
  /// - Returns: Whether it made a new keyframe.
  mutating func add(
    _ components: Components, at device: TrajectoryPoint, noise: NoiseLevels,
    expecting expectation: Expectation?
  ) -> Bool {
    var here = 0
    for index in (0..<place(of: device)).reversed() {
      guard isNear(keyframes[index].device, device) else { break }
      here += 1
      if agrees(keyframes[index], components) {
        Self.average(components, into: &keyframes[index], noise)
        return false
      }
    }
    guard here < Self.perPlace else { return false }
    var keyframe = Keyframe(device: device)
    Self.average(components, into: &keyframe, noise)
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
      && abs(a.timestamp.seconds(since: b.timestamp)) < patience
  }

  private func agrees(
    _ keyframe: Keyframe, _ components: Components
  ) -> Bool {
    for index in 0..<3 {
      guard let component = components[index], keyframe.count[index] > 0 else { continue }
      let difference = component.value - keyframe.mean[index]
      let step = index == 0 ? difference : difference.wrappedAngle
      let variance = 2 * keyframe.white[index] + 0.1 * keyframe.wander[index]
      if step * step > Self.agreement * Self.agreement * variance { return false }
    }
    return true
  }

  private static func average(
    _ components: Components, into keyframe: inout Keyframe,
    _ noise: NoiseLevels
  ) {
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      keyframe.count[index] += 1
      let difference = component.value - keyframe.mean[index]
      let step = index == 0 || keyframe.count[index] == 1 ? difference : difference.wrappedAngle
      keyframe.mean[index] += step / keyframe.count[index]
      keyframe.white[index] = noise[index].whiteVariance(stated: component.sigma)
      keyframe.wander[index] = noise[index].wanderVariance(stated: component.sigma)
    }
  }

  /// Averages neighbours; when there are too few to be averaged, every second keyframe goes.
  private mutating func condense(_ expectation: Expectation?) {
    var condensed: [Keyframe] = []
    condensed.reserveCapacity(Self.capacity)
    var index = 0
    while index < keyframes.count {
      if index + 1 < keyframes.count,
        let both = averaged(keyframes[index], keyframes[index + 1], expectation)
      {
        condensed.append(both)
        index += 2
      } else {
        condensed.append(keyframes[index])
        index += 1
      }
    }
    if condensed.count > Self.capacity * 7 / 8 {
      condensed = condensed.indices.filter { $0 % 2 == 0 }.map { condensed[$0] }
    }
    keyframes = condensed
  }

  /// Two keyframes as one, if they hold the same components and agree: a range changes as the
  /// expected one does, or else by no more than the way between the places.
  private func averaged(
    _ a: Keyframe, _ b: Keyframe, _ expectation: Expectation?
  ) -> Keyframe? {
    let step =
      (a.device.worldFromDevice.translation - b.device.worldFromDevice.translation).length
    let turn = a.device.worldFromDevice.rotation.angle(to: b.device.worldFromDevice.rotation)
    let range = a.count[0] > 0 ? max(a.mean[0], 0.1) : 1
    guard step < Self.widestPlace * range, turn < Self.widestAttitude,
      a.device.world == b.device.world
    else { return nil }
    var both = b
    var weight = 0.5
    for index in 0..<3 {
      guard (a.count[index] > 0) == (b.count[index] > 0) else { return nil }
      guard a.count[index] > 0 else { continue }
      let difference = a.mean[index] - b.mean[index]
      let change = index == 0 ? difference : difference.wrappedAngle
      let white = a.white[index] / a.count[index] + b.white[index] / b.count[index]
      let noise = Self.agreement * (white + 0.1 * b.wander[index]).squareRoot()
      let (expected, within) =
        switch (index, expectation) {
        case (0, let expectation?): expectation.change(from: b.device, to: a.device)
        case (0, nil): (0, within: step)
        default: (0, within: step / range + turn)
        }
      guard abs(change - expected) < noise + within else { return nil }
      weight = a.count[index] / (a.count[index] + b.count[index])
      both.count[index] += a.count[index]
      both.mean[index] += weight * change
    }
    both.device.worldFromDevice = b.device.worldFromDevice.interpolated(
      to: a.device.worldFromDevice, fraction: weight)
    if patience.isFinite {
      both.device.timestamp = b.device.timestamp.advanced(
        bySeconds: weight * a.device.timestamp.seconds(since: b.device.timestamp))
    }
    return both
  }

  // MARK: Giving out

  /// The keyframes as the fit wants them, as seen from now.
  ///
  /// Of a keyframe's wandering error, the share that is still that of now is estimated with the state.
  /// The rest is noise, and since it is nearly the same for neighbouring keyframes it counts as an
  /// autoregressive process with correlation ρ, which carries (1 - ρ)/(1 + ρ) of the information of
  /// independent errors. Drift since a keyframe is noise on it.
  ///
  /// - Parameters:
  ///   - now: The device now.
  ///   - antennaInDevice: The antenna.
  ///   - wander: How the wandering errors forget.
  ///   - isPlanar: Whether there is no height.
  ///   - motion: How the peer moves; `nil` when it rests.
  ///   - faultSeconds: How long a fault lasts.
  /// - Returns: The keyframes, the oldest first.
  func kernelKeyframes(
    now: TrajectoryPoint, antennaInDevice: Vector3, wander: WanderModel, isPlanar: Bool,
    motion: MotionConfiguration?, faultSeconds: Double
  ) -> [nearby_keyframe] {
    guard let first = keyframes.first?.device else { return [] }
    var result: [nearby_keyframe] = []
    result.reserveCapacity(keyframes.count)
    var previous: TrajectoryPoint?
    for keyframe in keyframes {
      let pose = keyframe.device.worldFromDevice
      let antenna = pose.act(antennaInDevice)
      let (x, y, z) = (pose.rotation.xAxis, pose.rotation.yAxis, pose.rotation.zAxis)
      let range = max(keyframe.count[0] > 0 ? keyframe.mean[0] : 3, 0.3)
      let remembered = previous.map {
        wander.decay(from: $0, to: keyframe.device, distance: range)
      }
      let since = previous.map { keyframe.device.timestamp.seconds(since: $0.timestamp) } ?? 0
      previous = keyframe.device
      let kept = wander.decay(from: keyframe.device, to: now, distance: range)

      let away = now.worldFromDevice.translation - pose.translation
      let place = Drift(
        since: now.positionDriftVariance - keyframe.device.positionDriftVariance,
        all: now.positionDriftVariance - first.positionDriftVariance, keyframes: keyframes.count)
      let yaw = Drift(
        since: now.yawDriftVariance - keyframe.device.yawDriftVariance,
        all: now.yawDriftVariance - first.yawDriftVariance, keyframes: keyframes.count)
      let pivot = 0.5 * (pose.translation + now.worldFromDevice.translation)
      let ago = max(0, now.timestamp.seconds(since: keyframe.device.timestamp))
      let placeVariance =
        place.rest + keyframe.device.interpolationVariance
        + (motion?.strayingVarianceBesidesVelocity(seconds: ago) ?? 0)
      let turnVariance = yaw.rest + keyframe.device.interpolationVariance
      var present: Int32 = 0
      var variance: InlineArray<3, Double> = InlineArray(repeating: 1)
      for index in 0..<3 where keyframe.count[index] > 0 {
        present |= 1 << Int32(index)
        let memory = remembered.map { index == 0 ? $0.range : $0.angle } ?? 0
        let dilution = (1 + memory) / max(1 - memory, 1e-3)
        let drift =
          index == 0
          ? placeVariance + yaw.rest * away.dot(away)
          : placeVariance / (range * range) + turnVariance
        let now = index == 0 ? kept.range : kept.angle
        variance[index] =
          keyframe.white[index] / keyframe.count[index]
          + keyframe.wander[index] * (1 - now * now) * dilution + drift
      }
      result.append(
        nearby_keyframe(
          antenna_in_world: (antenna.x, antenna.y, antenna.z),
          device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z), present: present,
          value: (keyframe.mean[0], keyframe.mean[1], keyframe.mean[2]),
          variance: (variance[0], variance[1], variance[2]),
          memory: (kept.range, kept.angle, kept.angle), horizontal_drift: place.amplitude,
          vertical_drift: isPlanar ? 0 : place.amplitude, yaw_drift: yaw.amplitude,
          pivot: (pivot.x, pivot.y, pivot.z),
          velocity_reach: motion?.velocityReach(seconds: ago) ?? 0,
          lasting: exp(-max(0, since) / faultSeconds)))
    }
    return result
  }
}

/// The odometry's drift between a keyframe and now, split in what a fit estimates and what it does not.
///
/// Drift is a Brownian motion in the variance it has gathered. Of its Karhunen-Loève series over the
/// window the first term, `√V (2√2/π) sin(π v/2V)` for a drift of variance `v` out of `V`, holds 81 %
/// of the variance; it gets an amplitude of its own. The other terms are noise that is common to
/// neighbouring keyframes, and so counts for more than independent noise.
private struct Drift {
  var amplitude: Double
  var rest: Double

  /// So many keyframes are off together.
  private static let together = 0.125

  init(since variance: Double, all total: Double, keyframes: Int) {
    guard total > 0 else {
      (amplitude, rest) = (0, 0)
      return
    }
    amplitude =
      total.squareRoot() * (2 * 2.0.squareRoot() / .pi) * sin(.pi / 2 * variance / total)
    rest = max(0, variance - amplitude * amplitude) * max(1, Self.together * Double(keyframes))
  }
}
