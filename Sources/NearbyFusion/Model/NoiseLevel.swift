// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How the stated accuracy of a kind of measurement splits into white noise and wandering error.
///
/// A stated sigma σ is the accuracy of a value, all errors together. Real sensors differ in what it is
/// made of: one sensor's range errors are white, another's hardly change from sample to sample and
/// move with the pose. Taking the second for the first makes a filter over-confident by the square
/// root of the correlation length. So two shares of σ are measured:
///
/// - κ, the white one, from the differences d of consecutive residuals under one state, which hold
///   hardly anything of what wanders: E|d| = 2 κ σ/√π;
/// - τ, all of it, from the residuals e with nothing but the position, bias and scale taken out,
///   counted only as far as the device has come to another place: E|e| = τ σ √(2/π).
///
/// Then the white variance is (κ σ)² and the wandering one max((τ σ)² - (κ σ)², (floor σ)²).
struct NoiseLevel: Hashable, Sendable {
  private let floor: Floor
  private var white: RunningShare
  private var total = RunningShare(prior: 1, weight: 30)
  private var lastResidual: Double?

  /// An average of shares that forgets.
  private struct RunningShare: Hashable {
    var value: Double
    private var weight: Double
    /// One over the weight, which soon is the memory's.
    private var overWeight: Double
    private static let memory = 200.0

    init(prior: Double, weight: Double) {
      value = prior
      self.weight = weight
      overWeight = 1 / weight
    }

    @inline(__always)
    mutating func add(_ share: Double, weight added: Double) {
      if weight < Self.memory {
        weight = min(weight + added, Self.memory)
        overWeight = 1 / weight
      }
      value += added * overWeight * (share - value)
    }
  }

  /// Residuals count with at most so many sigmas, and shares stay below.
  private static let mostSigmas = 4.0
  private static let mostShare = 3.0

  /// The least white noise and the least wandering error, as shares of the stated accuracy.
  struct Floor: Hashable {
    var white: Double
    var wander: Double
    /// By how much what is learnt must be above a floor before it counts: what is known needs proof to
    /// the contrary, and the larger of two numbers that are both right is too large.
    var tolerance = 0.0

    /// Of ranges and of angles as recorded sensors were at best.
    static let range = Floor(white: 0.2, wander: 0.2)
    static let angle = Floor(white: 0.5, wander: 0.8)
    /// No radio's noise is quite white.
    fileprivate static let leastWander = 0.03

    init(white: Double, wander: Double) {
      self.white = white
      self.wander = wander
    }

    /// That of a kind.
    init(of kind: MeasurementKind, _ ranging: RangingConfiguration) {
      self =
        ranging.whiteSharesAreKnown
        ? Floor(known: ranging.whiteShare(of: kind)) : kind.isAngle ? .angle : .range
    }

    /// Of a radio whose white share is known: it may prove worse, but not better.
    init(known whiteShare: Double) {
      white = whiteShare
      wander = max((1 - whiteShare * whiteShare).squareRoot(), Self.leastWander)
      tolerance = 0.1
    }
  }

  /// The level of a kind with which a radio begins.
  init(of kind: MeasurementKind, _ ranging: RangingConfiguration) {
    let share = ranging.whiteShare(of: kind)
    self.init(startingAt: share, Floor(of: kind, ranging))
  }

  init(startingAt whiteShare: Double, _ floor: Floor) {
    self.floor = floor
    white = RunningShare(prior: whiteShare, weight: 15)
  }

  @inline(__always)
  private var whiteShare: Double {
    min(max(white.value - floor.tolerance, floor.white), Self.mostShare)
  }

  @inline(__always)
  func whiteVariance(stated sigma: Double) -> Double {
    whiteShare * whiteShare * sigma * sigma
  }

  @inline(__always)
  func wanderVariance(stated sigma: Double) -> Double {
    let total = total.value - floor.tolerance
    let white = whiteShare
    return max(total * total - white * white, floor.wander * floor.wander) * sigma * sigma
  }

  /// What one sample tells.
  struct Observation {
    /// The residual under the state before the sample was used, and under the state after.
    var before: Double
    var after: Double
    /// The residual under the state after, without its wandering error.
    var withoutWander: Double
    /// How much of the wandering error is new since the sample before, 0 to 1.
    var decorrelation: Double
    /// The stated sigma of the value.
    var sigma: Double
  }

  /// Learns from one sample.
  @inline(__always)
  mutating func observe(_ o: Observation) {
    let precision = 1 / o.sigma
    if let lastResidual {
      let difference = min(abs(o.before - lastResidual) * precision, Self.mostSigmas)
      white.add(difference * (Double.pi.squareRoot() / 2), weight: 1)
    }
    let residual = min(abs(o.withoutWander) * precision, Self.mostSigmas)
    total.add(residual * (Double.pi / 2).squareRoot(), weight: o.decorrelation)
    lastResidual = o.after
  }

  /// The chain of consecutive residuals is broken: an outlier, a gap, another hypothesis.
  mutating func forgetLast() { lastResidual = nil }
}

/// How noisy each kind of measurement is.
typealias NoiseLevels = PerKind<NoiseLevel>

extension NoiseLevels {
  /// The levels with which a radio begins.
  init(_ ranging: RangingConfiguration) {
    self.init { kind in NoiseLevel(of: kind, ranging) }
  }
}
