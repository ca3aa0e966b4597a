// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

/// The true motion of a peer: at rest, or walking at constant height with a random heading.
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
public struct PeerPath: Sendable {
  /// The standard deviation of the rate at which a walking peer turns, rad/s.
  public static let turnRateSigma = 0.5
  /// The correlation time of that rate, seconds.
  public static let turnCorrelation = 1.5

  private let start: Vector3
  private let walk: Walk?

  /// Makes a peer at rest.
  public init(restingAt position: Vector3) {
    start = position
    walk = nil
  }

  /// Makes a peer that walks from a position, as the scenario defines.
  init(
    _ peer: ScenarioPeer, from position: Vector3, until end: Double, _ draws: inout SeededGenerator
  ) {
    start = position
    switch peer.motion {
    case .resting: walk = nil
    case .walking: walk = Walk(during: 0...max(end, 0), ramp: 0, speed: peer.speed, &draws)
    case .carried:
      let begin = peer.carriedAfterSeconds
      walk = Walk(
        during: begin...(begin + peer.carriedForSeconds),
        ramp: min(Walk.ramp, peer.carriedForSeconds / 2), speed: peer.speed, &draws)
    }
  }

  /// Whether it never moves.
  public var isResting: Bool { walk == nil }

  /// The speed at which it walks while it walks, m/s.
  public var speed: Double { walk?.speed ?? 0 }

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
    walk.map { start + $0.displacement(at: seconds) } ?? start
  }

  /// The derivative of ``position(at:)``, m/s.
  public func velocity(at seconds: Double) -> Vector3 { walk?.velocity(at: seconds) ?? .zero }
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

  let speed: Double
  private let span: ClosedRange<Double>
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

  private func heading(at seconds: Double) -> Double {
    var sum = 0.0
    for wave in waves { sum += (sin(wave.rate * seconds + wave.phase) - wave.sine) / wave.rate }
    return firstHeading + Self.amplitude * sum
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
