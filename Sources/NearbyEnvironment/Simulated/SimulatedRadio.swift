// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyGeometry
internal import NearbySimulation

/// Something through which radio waves come late and without a direction: a box along the axes.
public struct SimulatedObstacle: Hashable, Sendable, Codable {
  /// The corner with the smallest coordinates, metres.
  public var lower: [Double]
  /// The corner with the largest coordinates, metres.
  public var upper: [Double]

  /// Makes a box from two opposite corners.
  public init(_ a: Vector3, _ b: Vector3) {
    lower = [min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)]
    upper = [max(a.x, b.x), max(a.y, b.y), max(a.z, b.z)]
  }

  /// Whether the straight line between two places meets the box (the slab method).
  func blocks(_ a: Vector3, _ b: Vector3) -> Bool {
    let (from, to) = ([a.x, a.y, a.z], [b.x, b.y, b.z])
    var (enter, leave) = (0.0, 1.0)
    for axis in 0..<3 {
      let step = to[axis] - from[axis]
      if abs(step) < 1e-12 {
        if from[axis] < lower[axis] || from[axis] > upper[axis] { return false }
        continue
      }
      let (s, t) = ((lower[axis] - from[axis]) / step, (upper[axis] - from[axis]) / step)
      enter = max(enter, min(s, t))
      leave = min(leave, max(s, t))
    }
    return enter <= leave
  }
}

/// What two radios make of an exchange.
///
/// Every number is a function of the world's seed, the two devices and the number of the exchange, and
/// of nothing else: two processes that know both poses measure the same distance without a word, and
/// an exchange that is lost or told twice leaves the others as they are.
struct SimulatedRadio: Sendable {
  /// The radio's errors; times and garbage are of no meaning here.
  let settings: ScenarioRadio
  let seed: UInt64
  let obstacles: [SimulatedObstacle]

  /// What is measured, before it has a time.
  struct Values: Hashable {
    var distance: Double?
    var angles: ArrivalAngles?
    var isNonLineOfSight = false
  }

  /// What a device measures of another.
  ///
  /// - Parameters:
  ///   - exchange: The number of the exchange.
  ///   - here: The device: its number and true pose.
  ///   - there: The other device.
  ///   - measuresAngles: Whether the device has an antenna array.
  ///   - reachFactor: By how much extended distances stretch the reach.
  /// - Returns: The values; without any when the exchange failed.
  func measure(
    exchange: Int64, from here: (number: UInt64, pose: RigidTransform),
    to there: (number: UInt64, pose: RigidTransform), measuresAngles: Bool, reachFactor: Double
  ) -> Values {
    let antenna = here.pose.act(settings.antennaInDevice)
    let otherAntenna = there.pose.act(settings.antennaInDevice)
    let offset = here.pose.rotation.inverse.act(otherAntenna - antenna)
    let length = offset.length
    let low = min(here.number, there.number)
    let high = max(here.number, there.number)

    // One exchange gives one range: both sides draw it from the same stream.
    var pair = SeededGenerator(seed: seed &+ low &* 0x9E37_79B9, stream: high)
    let bias = settings.rangeBias + pair.normal(sigma: settings.rangeBiasSigma)
    let scale = pair.normal(sigma: settings.rangeScaleSigma)
    var shared = SeededGenerator(seed: pair.next(), stream: UInt64(bitPattern: exchange))
    let white = shared.normal(sigma: settings.rangeNoise)
    let (lost, faulty) = (shared.uniform(), shared.uniform())
    let excess = shared.exponential(mean: settings.rangeExcess)
    let roll = shared.uniform()

    let reach = settings.reach.upperBound * reachFactor
    guard length >= settings.reach.lowerBound, length <= reach, lost >= settings.lostShare else {
      return Values()
    }
    var values = Values()
    values.isNonLineOfSight = obstacles.contains { $0.blocks(antenna, otherAntenna) }
    values.distance = max(0.01, (1 + scale) * length + bias + white)
    if values.isNonLineOfSight || faulty < settings.rangeFaults.share {
      values.distance? += excess
    }
    guard measuresAngles, settings.measuresAngles, !values.isNonLineOfSight else { return values }
    // One in portrait and the other in landscape: antennas across each other hear little.
    let mismatch = abs(here.pose.rotation.xAxis.dot(there.pose.rotation.yAxis))
    if roll < max(0, 1.6 * mismatch - 0.6) { return values }
    values.angles = angles(offset, exchange: exchange, here: here.number, there: there.number)
    return values
  }

  private func angles(
    _ offset: Vector3, exchange: Int64, here: UInt64, there: UInt64
  ) -> ArrivalAngles? {
    let ahead = ArrivalAngles(
      ofDirection: Vector3(Vector3(offset.x, offset.y, 0).length, 0, offset.z))
    guard ahead.azimuthRadians <= settings.fieldOfViewRadians / 2 else { return nil }
    // Direction-dependent errors are those of the device's own antennas.
    var own = SeededGenerator(seed: seed &+ 0x616E_6700, stream: here)
    let azimuthBias = DirectionField(sigma: settings.azimuth.bias, &own)
    let elevationBias = DirectionField(sigma: settings.elevation.bias, &own)
    var noise = SeededGenerator(
      seed: own.next() ^ there &* 0x9E37_79B9_7F4A_7C15, stream: UInt64(bitPattern: exchange))
    let truth = ArrivalAngles(ofDirection: offset)
    let azimuth =
      truth.azimuthRadians + azimuthBias.value(at: offset)
      + noise.normal(sigma: settings.azimuth.noise)
    let elevation =
      truth.elevationRadians + elevationBias.value(at: offset)
      + noise.normal(sigma: settings.elevation.noise)
    return ArrivalAngles(
      azimuthRadians: azimuth.wrappedAngle, elevationRadians: min(max(elevation, -.pi / 2), .pi / 2)
    )
  }
}
