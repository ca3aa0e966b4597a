// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
public import NearbyGeometry
internal import NearbySimulation

/// An axis-aligned box that delays radio waves and removes their direction.
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

  /// Whether the straight line between two positions meets the box (the slab method).
  ///
  /// A decoded box without three coordinates per corner blocks nothing.
  package func blocks(_ a: Vector3, _ b: Vector3) -> Bool {
    guard lower.count == 3, upper.count == 3 else { return false }
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

/// The measurements of two radios in an exchange.
///
/// Every number is a function of the world's seed, the two devices and the number of the exchange
/// only. Two processes that know both poses therefore measure the same distance without
/// communication, and an exchange that is lost or delivered twice does not change the others.
///
/// Within the validated range the noise is that of the settings. Beyond it, it depends on the
/// signal's amplitude, which falls with the distance: white noise grows in proportion to the
/// distance, and the share of failed exchanges grows with the square of the distance from the
/// validated range to the end of the reach, where it is one.
package struct SimulatedRadio: Sendable {
  private let world: SimulatedWorldSettings
  /// The radio's errors; its times and garbage are not used.
  private let settings: ScenarioRadio

  /// Makes the radios of a world.
  package init(_ world: SimulatedWorldSettings) {
    self.world = world
    settings = world.radio
  }

  /// One end of an exchange.
  package struct End {
    /// The device's number.
    package var number: UInt64
    /// Its true pose.
    package var pose: RigidTransform
    /// Whether a wall stands between it and all others.
    package var isBehindWall: Bool
    /// Whether the others are in its reach.
    package var isInReach: Bool

    /// Makes an end.
    package init(
      number: UInt64, pose: RigidTransform, isBehindWall: Bool = false, isInReach: Bool = true
    ) {
      self.number = number
      self.pose = pose
      self.isBehindWall = isBehindWall
      self.isInReach = isInReach
    }
  }

  /// The measurement of another device by a device.
  ///
  /// - Parameters:
  ///   - exchange: The number of the exchange.
  ///   - time: The time of the exchange.
  ///   - here: The device.
  ///   - there: The other device.
  ///   - measuresAngles: Whether the device has an antenna array.
  ///   - reachFactor: The factor by which extended distances increase the reach.
  /// - Returns: The measurement, an empty one when the exchange failed.
  package func measure(
    exchange: Int64, at time: Timestamp, from here: End, to there: End, measuresAngles: Bool,
    reachFactor: Double
  ) -> RadioMeasurement {
    let antenna = here.pose.act(settings.antennaInDevice)
    let otherAntenna = there.pose.act(settings.antennaInDevice)
    let offset = here.pose.rotation.inverse.act(otherAntenna - antenna)
    let length = offset.length
    let low = min(here.number, there.number)
    let high = max(here.number, there.number)

    // An exchange has one range, so both sides draw it from the same stream.
    var pair = SeededGenerator(seed: world.seed &+ low &* 0x9E37_79B9, stream: high)
    let bias = settings.rangeBias + pair.normal(sigma: settings.rangeBiasSigma)
    let scale = pair.normal(sigma: settings.rangeScaleSigma)
    var shared = SeededGenerator(seed: pair.next(), stream: UInt64(bitPattern: exchange))
    let white = shared.normal(sigma: settings.rangeNoise)
    let (lost, faulty) = (shared.uniform(), shared.uniform())
    let excess = shared.exponential(mean: settings.rangeExcess)
    let roll = shared.uniform()

    var measurement = RadioMeasurement(timestamp: time)
    guard here.isInReach, there.isInReach, length >= settings.reach.lowerBound,
      lost >= lostShare(at: length, reachFactor: reachFactor)
    else { return measurement }
    let isBlocked =
      here.isBehindWall || there.isBehindWall
      || world.obstacles.contains { $0.blocks(antenna, otherAntenna) }
    let widening = max(1, length / (world.limits.validatedRange * reachFactor))
    measurement.isNonLineOfSight = isBlocked
    measurement.distance = max(0.01, (1 + scale) * length + bias + widening * white)
    if isBlocked || faulty < settings.rangeFaults.share { measurement.distance? += excess }
    if widening > 1 { measurement.distanceSigma = widening * settings.rangeNoise }
    measurement.peerAddress = Self.address(of: there.number)
    measurement.signalStrength =
      world.signalStrengthAtOneMetre - 20 * log10(max(length, 0.01))
      - (isBlocked ? world.obstacleLoss : 0)
    measurement.carrierFrequencyOffset = clockRate(of: there.number) - clockRate(of: here.number)

    guard measuresAngles, settings.measuresAngles, !isBlocked else { return measurement }
    // If one device is in portrait and the other in landscape, the antennas are crossed and receive
    // little.
    let mismatch = abs(here.pose.rotation.xAxis.dot(there.pose.rotation.yAxis))
    if roll < max(0, 1.6 * mismatch - 0.6) { return measurement }
    addAngles(
      offset, exchange: exchange, here: here.number, there: there.number, widening: widening,
      to: &measurement)
    return measurement
  }

  /// The share of exchanges that fail at a distance.
  private func lostShare(at distance: Double, reachFactor: Double) -> Double {
    let (start, end) = (
      world.limits.validatedRange * reachFactor, settings.reach.upperBound * reachFactor
    )
    if distance > end { return 1 }
    guard distance > start else { return settings.lostShare }
    let way = (distance - start) / (end - start)
    return settings.lostShare + (1 - settings.lostShare) * way * way
  }

  private func addAngles(
    _ offset: Vector3, exchange: Int64, here: UInt64, there: UInt64, widening: Double,
    to measurement: inout RadioMeasurement
  ) {
    let ahead = ArrivalAngles(
      ofDirection: Vector3(Vector3(offset.x, offset.y, 0).length, 0, offset.z))
    guard ahead.azimuthRadians <= settings.fieldOfViewRadians / 2 else { return }
    // Direction-dependent errors are those of the device's own antennas.
    var own = SeededGenerator(seed: world.seed &+ 0x616E_6700, stream: here)
    let azimuthBias = DirectionField(sigma: settings.azimuth.bias, &own)
    let elevationBias = DirectionField(sigma: settings.elevation.bias, &own)
    var noise = SeededGenerator(
      seed: own.next() ^ there &* 0x9E37_79B9_7F4A_7C15, stream: UInt64(bitPattern: exchange))
    let truth = ArrivalAngles(ofDirection: offset)
    let azimuth =
      truth.azimuthRadians + azimuthBias.value(at: offset)
      + widening * noise.normal(sigma: settings.azimuth.noise)
    let elevation =
      truth.elevationRadians + elevationBias.value(at: offset)
      + widening * noise.normal(sigma: settings.elevation.noise)
    measurement.azimuthRadians = azimuth.wrappedAngle
    measurement.elevationRadians = min(max(elevation, -.pi / 2), .pi / 2)
    guard widening > 1 else { return }
    measurement.azimuthSigmaRadians = widening * settings.azimuth.totalSigma
    measurement.elevationSigmaRadians = widening * settings.elevation.totalSigma
  }

  /// The relative rate error of a device's clock.
  func clockRate(of device: UInt64) -> Double {
    var own = SeededGenerator(seed: world.seed &+ 0x636C_6F63, stream: device)
    return own.normal(sigma: world.clockRateSigma)
  }

  /// A device's radio address: the last two bytes of its number.
  private static func address(of device: UInt64) -> String {
    [device >> 8, device].map { byte in
      let digits = String(byte & 0xFF, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined(separator: ":")
  }
}
