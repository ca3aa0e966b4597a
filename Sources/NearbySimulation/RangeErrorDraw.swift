// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

/// The lasting errors of one peer's ranges in one run (``ScenarioRangeErrors``).
struct RangeErrorDraw {
  private let attitude: DirectionField?
  private let places: PlaceField
  private var zones: [Zone] = []
  /// The horizontal direction that the peer's antenna faces, and how much too long ranges from
  /// behind are; `nil` of an antenna that faces all directions alike.
  private var turned: (facing: Vector3, excess: Double)?
  private var lapse: (span: ClosedRange<Double>, error: Double, wildShare: Double)?
  private let walls: Walls?
  private let warming: ScenarioRangeErrors.Warming
  private var noise: SeededGenerator

  /// Planes at `offset + n spacing` along both horizontal axes.
  private struct Walls {
    var excess: Double
    var offset: (x: Double, z: Double)
    var spacing: (x: Double, z: Double)

    init(_ walls: ScenarioRangeErrors.Walls, seed: UInt64) {
      var generator = SeededGenerator(seed: seed, stream: 7)
      excess = walls.excess
      spacing = (generator.uniform(in: walls.spacing), generator.uniform(in: walls.spacing))
      offset = (
        generator.uniform(in: 0...max(spacing.x, 0)), generator.uniform(in: 0...max(spacing.z, 0))
      )
    }

    /// How much longer the walls between two places make a range, metres.
    func error(from a: Vector3, to b: Vector3) -> Double {
      func count(_ a: Double, _ b: Double, _ offset: Double, _ spacing: Double) -> Double {
        abs(((a - offset) / spacing).rounded(.down) - ((b - offset) / spacing).rounded(.down))
      }
      return excess
        * (count(a.x, b.x, offset.x, spacing.x) + count(a.z, b.z, offset.z, spacing.z))
    }
  }

  private struct Zone {
    var center: Vector3
    var radius: Double
    /// From the peer to its mirror image.
    var imageOffset: Vector3
  }

  /// An error beyond this counts as a fault, in standard deviations of white noise.
  private static let faultSigmas = 3.4

  /// Draws the errors.
  ///
  /// - Parameters:
  ///   - errors: What they are like.
  ///   - peer: Where the peer is at the start, metres.
  ///   - area: Two opposite corners of the area in which the device walks, metres.
  ///   - start: Where its walk begins, metres.
  ///   - seed: The seed.
  ///   - index: Which peer.
  init(
    _ errors: ScenarioRangeErrors, of peer: Vector3, in area: (Vector3, Vector3),
    from start: Vector3, seed: UInt64, peer index: UInt64
  ) {
    var generator = SeededGenerator(seed: seed, stream: 3_000_000 + index)
    attitude =
      errors.attitudeSigma > 0 ? DirectionField(sigma: errors.attitudeSigma, &generator) : nil
    places = PlaceField(sigma: errors.placeSigma, length: errors.placeLength, &generator)
    for _ in 0..<errors.zones.count {
      let radius = generator.uniform(in: errors.zones.radius)
      let center = Self.center(of: radius, in: area, awayFrom: start, height: peer.y, &generator)
      let excess = generator.uniform(in: errors.zones.excess)
      let turn = generator.uniform(in: -.pi / 3...Double.pi / 3)
      let away = peer - center
      let unit = away.length > 1e-6 ? away.normalized : Vector3(1, 0, 0)
      let offset = Rotation(angleRadians: turn, about: Vector3(0, 1, 0)).act(unit)
      zones.append(
        Zone(center: center, radius: radius, imageOffset: excess / cos(turn) * offset))
    }
    let isTurned = generator.uniform() < errors.turned.share
    let facing = generator.uniform(in: -.pi...Double.pi)
    let back = generator.uniform(in: errors.turned.excess)
    if isTurned { turned = (Vector3(sin(facing), 0, cos(facing)), back) }
    let begin = generator.uniform(in: errors.lapse.seconds)
    let duration = generator.uniform(in: errors.lapse.duration)
    let error = generator.uniform(in: errors.lapse.error)
    if duration > 0 { lapse = (begin...begin + duration, error, errors.lapse.wildShare) }
    walls = errors.walls.excess > 0 ? Walls(errors.walls, seed: seed) : nil
    warming = errors.warming
    noise = SeededGenerator(seed: generator.next())
  }

  /// So far from the start of the walk a zone begins, metres, if there is room.
  private static let clearance = 3.0
  private static let centersTried = 50

  /// Draws the centre of a zone; of many that are too near to the start the farthest.
  private static func center(
    of radius: Double, in area: (Vector3, Vector3), awayFrom start: Vector3, height: Double,
    _ generator: inout SeededGenerator
  ) -> Vector3 {
    var best = Vector3.zero
    var farthest = -Double.infinity
    for _ in 0..<centersTried {
      let place = Vector3(
        generator.uniform(in: interval(area.0.x, area.1.x)), height,
        generator.uniform(in: interval(area.0.z, area.1.z)))
      let away = hypot(place.x - start.x, place.z - start.z)
      if away > farthest { (best, farthest) = (place, away) }
      if away > radius + clearance { break }
    }
    return best
  }

  private static func interval(_ a: Double, _ b: Double) -> ClosedRange<Double> {
    min(a, b)...max(a, b)
  }

  /// The error of one range.
  ///
  /// - Parameters:
  ///   - offset: From the antenna to the peer, device axes, metres.
  ///   - device: Where the device is, metres.
  ///   - peer: Where the peer is, metres.
  ///   - seconds: The time.
  ///   - white: The white noise of ranges, one sigma, metres.
  /// - Returns: The error, metres, and whether the range is a fault.
  mutating func error(
    offset: Vector3, from device: Vector3, to peer: Vector3, at seconds: Double, white: Double
  ) -> (value: Double, isFault: Bool) {
    var error = (attitude?.value(at: offset) ?? 0) + places.value(at: device)
    let zone = zones.first { zone in
      let away = device - zone.center
      return away.x * away.x + away.z * away.z < zone.radius * zone.radius
    }
    if let zone { error += (peer + zone.imageOffset - device).length - (peer - device).length }
    if let turned {
      let away = device - peer
      let behind = -turned.facing.dot(away) / max(away.length, 1e-6)
      if behind > 0 { error += turned.excess * behind.squareRoot() }
    }
    if let walls { error += walls.error(from: device, to: peer) }
    if warming.metres != 0 { error += warming.metres * (1 - exp(-seconds / warming.seconds)) }
    if let lapse, lapse.span.contains(seconds) {
      let (chance, size) = (noise.uniform(), noise.uniform(in: 10...20))
      error += chance < lapse.wildShare ? size : lapse.error
    }
    return (error, abs(error) > Self.faultSigmas * max(white, 0.01))
  }
}
