// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

/// The true motion of a peer: at rest, or walking with a random heading, once or more often.
///
/// Positions are in the true world, y up, in metres. Times are seconds after the start.
///
/// ## How a walking peer moves
///
/// It walks at a constant speed v in the direction of a heading whose rate is a stationary random
/// process, approximately Gaussian, with standard deviation σ = ``turnRateSigma`` and autocorrelation
/// `exp(-t²/2τ²)`, τ = ``turnCorrelation``: the sum of eight sinusoids whose frequencies are drawn from
/// the process's spectrum and whose phases are random (spectral representation, Shinozuka 1971). All
/// derivatives exist. The turn rate is bounded by 4 σ = 2 rad/s, the acceleration by 2 v rad/s.
///
/// Over times longer than τ the heading diffuses with the density `D = σ² τ √(2π)`, 0.94 rad²/s. The
/// velocity then changes as if driven by white acceleration of the two-sided spectral density
/// ``accelerationDensity`` = `v² D / 2`, 0.47 m²/s³ at 1 m/s, along each of the two horizontal axes and
/// none along gravity. That is the density for a bound or filter with a constant-velocity model; over
/// times below τ it overstates the changes, since the true acceleration is not white, and beyond
/// `2 / D` = 2.1 s as well, since the speed is bounded.
///
/// A peer that rests in between comes to speed and stops within 0.75 s. Each of its walks has a speed and
/// a heading of its own. On outings (``ScenarioPeer/Motion/outings``) the peer also stands up within
/// ``standingSeconds`` before each walk, by ``standingRise``, and sits down after it.
///
/// In a formation (``ScenarioPeer/Formation``) the centre moves as above, and each peer round it.
public struct PeerPath: Sendable {
  /// The standard deviation of the rate at which a walking peer turns, rad/s.
  public static let turnRateSigma = 0.5
  /// The correlation time of that rate, seconds.
  public static let turnCorrelation = 1.5

  /// How much higher a peer is while it stands or walks than while it sits, metres.
  public static let standingRise = 0.4
  /// How long it takes to stand up, and to sit down, seconds.
  public static let standingSeconds = 1.0
  /// How far apart peers walk side by side, metres.
  public static let spacing = 0.6
  /// The radius of the circle of peers that walk round each other, metres.
  public static let circleRadius = 1.0
  /// The speed of that circle's centre as a share of theirs.
  public static let centreShare = 0.2

  /// How far beside the device a peer is that is carried along, metres.
  static let alongDistance = 0.5

  private let start: Vector3
  private var legs: [Leg] = []
  /// Of a peer that creeps, m/s.
  private var creep = Vector3.zero
  /// The device whose holder carries the peer along, and the peer's place beside it.
  private var carrier: (device: DeviceMotion, offset: Vector3)?
  private var station = Station.centre

  /// Makes a peer at rest.
  public init(restingAt position: Vector3) { start = position }

  /// Makes a peer that creeps in a straight line.
  init(creepingFrom position: Vector3, velocity: Vector3) {
    start = position
    creep = velocity
  }

  /// Makes a peer that is carried along with a device, at an offset along the world's axes.
  init(along device: DeviceMotion, offset: Vector3) {
    start = device.pose(at: 0).translation + offset
    carrier = (device, offset)
  }

  /// Makes a peer that walks from a position, as the scenario defines.
  init(
    _ peer: ScenarioPeer, from position: Vector3, until end: Double, _ draws: inout SeededGenerator
  ) {
    start = position
    switch peer.motion {
    case .resting: break
    case .walking:
      let share = peer.formation == .circling ? Self.centreShare : 1
      let speed = share * peer.speed.lowerBound...share * peer.speed.upperBound
      legs = [Leg(Walk(during: 0...max(end, 0), ramp: 0, speed: speed, &draws), from: start)]
      station = Station(peer.formation, centreSpeed: legs[0].walk.speed, &draws)
    case .carried: addLeg(from: peer.carriedAfterSeconds, for: peer.carriedForSeconds, peer, &draws)
    case .handedOver:
      addLeg(from: peer.carriedAfterSeconds, for: peer.carriedForSeconds, peer, &draws)
      let pause = draws.uniform(in: peer.pauseSeconds)
      addLeg(
        from: peer.carriedAfterSeconds + peer.carriedForSeconds + pause,
        for: peer.carriedForSeconds, peer, &draws)
    case .outings:
      var seconds = draws.uniform(in: peer.restSeconds)
      while seconds < end {
        let duration = Walk.wholeCells(draws.uniform(in: peer.walkSeconds))
        seconds += Self.standingSeconds
        addLeg(from: seconds, for: duration, rise: Self.standingRise, peer, &draws)
        seconds += duration + Self.standingSeconds + draws.uniform(in: peer.restSeconds)
      }
    case .stops:
      var seconds = 0.0
      while seconds < end {
        let duration = Walk.wholeCells(draws.uniform(in: peer.walkSeconds))
        addLeg(from: seconds, for: duration, peer, &draws)
        seconds += duration + draws.uniform(in: peer.restSeconds)
      }
    }
  }

  /// Adds a walk that begins and ends at rest, where the one before has ended.
  private mutating func addLeg(
    from begin: Double, for duration: Double, rise: Double = 0, _ peer: ScenarioPeer,
    _ draws: inout SeededGenerator
  ) {
    let walk = Walk(
      during: begin...(begin + duration), ramp: min(Walk.ramp, duration / 2), speed: peer.speed,
      &draws)
    legs.append(Leg(walk, from: legs.last?.end ?? start, rise: rise))
  }

  /// The path of one of the peers that walk in a formation.
  ///
  /// - Parameters:
  ///   - index: Which peer, from zero; the first walks on this path.
  ///   - count: How many there are.
  /// - Returns: Its path.
  func member(_ index: Int, of count: Int) -> PeerPath {
    var path = self
    path.station = station.member(index, of: count)
    return path
  }

  /// Whether it never moves.
  public var isResting: Bool { legs.isEmpty && creep == .zero && carrier == nil }

  /// The time spans of its walks in order, seconds after the start.
  public var walks: [ClosedRange<Double>] { legs.map(\.walk.span) }

  /// The speed at which it walks while it walks, m/s: the highest of several walks; side by side that
  /// of the peer in the middle, in a circle that round the centre.
  public var speed: Double { station.speed ?? legs.map(\.walk.speed).max() ?? 0 }

  /// The spectral density of its acceleration along each horizontal axis while it walks, m²/s³; zero
  /// for a peer at rest.
  public var accelerationDensity: Double {
    let diffusion =
      Self.turnRateSigma * Self.turnRateSigma * Self.turnCorrelation * (2 * .pi).squareRoot()
    return speed * speed * diffusion / 2
  }

  /// The peer's position.
  ///
  /// - Parameter seconds: The time. Before the start the position is that of the start, and a walk
  ///   ends with the run.
  /// - Returns: The position, metres, exact to 1e-6 m.
  public func position(at seconds: Double) -> Vector3 {
    if let carrier { return carrier.device.pose(at: seconds).translation + carrier.offset }
    guard let leg = leg(at: seconds) else { return start + max(seconds, 0) * creep }
    return leg.position(at: seconds) + station.offset(at: seconds, leg.walk)
  }

  /// The derivative of ``position(at:)``, m/s.
  public func velocity(at seconds: Double) -> Vector3 {
    if carrier != nil {
      let half = Self.velocitySeconds / 2
      return (1 / (2 * half)) * (position(at: seconds + half) - position(at: seconds - half))
    }
    guard let leg = leg(at: seconds) else { return creep }
    return leg.velocity(at: seconds) + station.velocity(at: seconds, leg.walk)
  }

  /// The time over which the velocity of a peer that is carried along is measured, seconds.
  private static let velocitySeconds = 0.02

  /// The newest leg that has begun by a time, or the first.
  private func leg(at seconds: Double) -> Leg? {
    guard !legs.isEmpty else { return nil }
    var (low, high) = (0, legs.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if legs[middle].begin <= seconds { low = middle } else { high = middle - 1 }
    }
    return legs[low]
  }
}

/// A walk between two rests, with standing up and sitting down.
private struct Leg: Sendable {
  let walk: Walk
  /// Where the walk begins and ends, metres.
  let start: Vector3
  let end: Vector3
  /// How much higher the peer is while it walks, metres.
  private let rise: Double

  init(_ walk: Walk, from start: Vector3, rise: Double = 0) {
    self.walk = walk
    self.start = start
    self.rise = rise
    end = start + walk.displacement(at: walk.span.upperBound)
  }

  /// When the peer begins to stand up, seconds.
  var begin: Double { walk.span.lowerBound - (rise > 0 ? PeerPath.standingSeconds : 0) }

  func position(at seconds: Double) -> Vector3 {
    let place = start + walk.displacement(at: seconds)
    guard rise > 0 else { return place }
    let stood = SmoothStep.value(up(at: seconds)) - SmoothStep.value(down(at: seconds))
    return place + Vector3(0, rise * stood, 0)
  }

  func velocity(at seconds: Double) -> Vector3 {
    guard rise > 0 else { return walk.velocity(at: seconds) }
    let rate =
      SmoothStep.derivative(up(at: seconds)) - SmoothStep.derivative(down(at: seconds))
    return walk.velocity(at: seconds) + Vector3(0, rise * rate / PeerPath.standingSeconds, 0)
  }

  /// How far standing up has come at a time, one at its end.
  private func up(at seconds: Double) -> Double { (seconds - begin) / PeerPath.standingSeconds }

  /// How far sitting down has come at a time, one at its end.
  private func down(at seconds: Double) -> Double {
    (seconds - walk.span.upperBound) / PeerPath.standingSeconds
  }
}

/// The place of a peer within its formation.
private enum Station: Sendable {
  case centre
  /// That many metres to the right of the centre.
  case abreast(Double)
  /// On a circle about the centre: radians per second, and the angle at the start.
  case circling(rate: Double, phase: Double)

  /// The place of the first peer.
  init(
    _ formation: ScenarioPeer.Formation, centreSpeed: Double, _ draws: inout SeededGenerator
  ) {
    switch formation {
    case .alone: self = .centre
    case .sideBySide: self = .abreast(0)
    case .circling:
      let sign = draws.uniform() < 0.5 ? -1.0 : 1
      self = .circling(
        rate: sign * centreSpeed / (PeerPath.centreShare * PeerPath.circleRadius),
        phase: draws.uniform(in: -.pi...Double.pi))
    }
  }

  func member(_ index: Int, of count: Int) -> Station {
    switch self {
    case .centre: .centre
    case .abreast:
      .abreast((index.isMultiple(of: 2) ? -1 : 1) * Double((index + 1) / 2) * PeerPath.spacing)
    case .circling(let rate, let phase):
      .circling(rate: rate, phase: phase + 2 * .pi * Double(index) / Double(max(count, 1)))
    }
  }

  /// The speed round the centre, m/s; `nil` when it does not circle.
  var speed: Double? {
    guard case .circling(let rate, _) = self else { return nil }
    return abs(rate) * PeerPath.circleRadius
  }

  /// The place relative to the centre, which walks, metres.
  func offset(at seconds: Double, _ walk: Walk) -> Vector3 {
    let time = min(max(seconds, walk.span.lowerBound), walk.span.upperBound)
    switch self {
    case .centre: return .zero
    case .abreast(let right):
      let heading = walk.heading(at: time)
      return right * Vector3(cos(heading), 0, -sin(heading))
    case .circling(let rate, let phase):
      let angle = phase + rate * time
      return PeerPath.circleRadius * Vector3(cos(angle), 0, sin(angle))
    }
  }

  /// The derivative of the offset, m/s.
  func velocity(at seconds: Double, _ walk: Walk) -> Vector3 {
    guard walk.span.contains(seconds) else { return .zero }
    switch self {
    case .centre: return .zero
    case .abreast(let right):
      let heading = walk.heading(at: seconds)
      return right * walk.turnRate(at: seconds) * Vector3(-sin(heading), 0, -cos(heading))
    case .circling(let rate, let phase):
      let angle = phase + rate * seconds
      return PeerPath.circleRadius * rate * Vector3(-sin(angle), 0, cos(angle))
    }
  }
}

/// A walk with a random heading, by its horizontal components.
private struct Walk: Sendable {
  /// A sinusoid of the rate of turning.
  struct Wave: Sendable {
    var rate: Double
    var phase: Double
    /// The sine of the phase, which makes the heading start at zero.
    var sine: Double
  }

  /// How long a carried peer takes to accelerate, and to stop, seconds.
  static let ramp = 0.75
  private static let waveCount = 8
  private static let amplitude = PeerPath.turnRateSigma * (2 / Double(waveCount)).squareRoot()
  /// The spacing of the points from which displacements are integrated, seconds.
  private static let spacing = 0.25
  /// Gauss and Legendre's nodes and weights of order four on [0, 1].
  private static let rule: [(node: Double, weight: Double)] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_13, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_29, 0.173_927_422_568_726_93),
  ]

  /// A duration to the nearest multiple of ``spacing``, so that the ramps at both ends are whole cells,
  /// over which the rule is accurate.
  static func wholeCells(_ duration: Double) -> Double {
    (duration / spacing).rounded() * spacing
  }

  let speed: Double
  let span: ClosedRange<Double>
  private let ramp: Double
  private let firstHeading: Double
  private let waves: [Wave]
  /// The displacement at the span's start and every ``spacing`` from there.
  private var displacements = [Vector3.zero]

  init(
    during span: ClosedRange<Double>, ramp: Double, speed: ClosedRange<Double>,
    _ generator: inout SeededGenerator
  ) {
    self.span = span
    self.ramp = ramp
    self.speed = generator.uniform(in: speed)
    firstHeading = generator.uniform(in: -.pi...Double.pi)
    waves = (0..<Self.waveCount).map { _ in
      let rate = generator.normal(sigma: 1 / PeerPath.turnCorrelation)
      let phase = generator.uniform(in: -.pi...Double.pi)
      // The frequency is kept away from zero, since the heading is divided by it.
      return Wave(
        rate: rate < 0 ? min(rate, -1e-6) : max(rate, 1e-6), phase: phase, sine: sin(phase))
    }
    let cells = Int(((span.upperBound - span.lowerBound) / Self.spacing).rounded(.up))
    displacements.reserveCapacity(cells + 1)
    for index in 0..<cells {
      let begin = span.lowerBound + Double(index) * Self.spacing
      displacements.append(displacements[index] + integral(from: begin, for: Self.spacing))
    }
  }

  func displacement(at seconds: Double) -> Vector3 {
    let elapsed = min(max(seconds, span.lowerBound), span.upperBound) - span.lowerBound
    let index = min(Int(elapsed / Self.spacing), displacements.count - 1)
    let passed = Double(index) * Self.spacing
    return displacements[index]
      + integral(from: span.lowerBound + passed, for: elapsed - passed)
  }

  func velocity(at seconds: Double) -> Vector3 {
    guard span.contains(seconds) else { return .zero }
    let heading = heading(at: seconds)
    let speed = speed * profile(at: seconds)
    return Vector3(-speed * sin(heading), 0, -speed * cos(heading))
  }

  /// The direction in which it walks, radians, zero along -z and positive to the left.
  func heading(at seconds: Double) -> Double {
    var sum = 0.0
    for wave in waves { sum += (sin(wave.rate * seconds + wave.phase) - wave.sine) / wave.rate }
    return firstHeading + Self.amplitude * sum
  }

  /// The derivative of the heading, rad/s.
  func turnRate(at seconds: Double) -> Double {
    waves.reduce(0) { $0 + Self.amplitude * cos($1.rate * seconds + $1.phase) }
  }

  /// The fraction of the full speed: one, except on the ramps at both ends.
  private func profile(at seconds: Double) -> Double {
    guard ramp > 0 else { return 1 }
    return SmoothStep.value((seconds - span.lowerBound) / ramp)
      * SmoothStep.value((span.upperBound - seconds) / ramp)
  }

  private func integral(from begin: Double, for duration: Double) -> Vector3 {
    guard duration > 0 else { return .zero }
    var sum = Vector3.zero
    for (node, weight) in Self.rule { sum += weight * velocity(at: begin + node * duration) }
    return duration * sum
  }
}
