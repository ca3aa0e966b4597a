// SPDX-License-Identifier: Apache-2.0

/// How noisy a kind of measurement of one peer has been: white noise and wandering error, learnt sample
/// by sample (``NoisePrior``).
struct NoiseLevel: Hashable, Sendable, Codable {
  private let prior: NoisePrior
  private var white: RunningShare
  private var total = RunningShare(
    prior: NoisePrior.totalShare, weight: NoisePrior.totalWeight)
  private var lastResidual: Double?
  /// The floor of the white variance, m² or rad²: below it the innovation variance is lost in the rounding of
  /// the covariance of bias and scale.
  private let leastVariance: Double

  /// An average of shares that forgets.
  private struct RunningShare: Hashable, Codable {
    private(set) var value: Double
    private(set) var weight: Double
    /// One over the weight, which soon is the memory's.
    private var overWeight: Double
    static let memory = 200.0

    /// Begins at the mean of a prior and of what others have learnt from the same prior.
    ///
    /// The prior is one more among the others, with a full memory. The weight is again the prior's: each
    /// radio is a little different.
    init(_ prior: RunningShare, learnt others: some Sequence<RunningShare>) {
      var (sum, total) = (Self.memory * prior.value, Self.memory)
      for other in others {
        let learnt = other.weight - prior.weight
        sum += learnt * other.value
        total += learnt
      }
      self.init(prior: sum / total, weight: prior.weight)
    }

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

  /// - Parameters:
  ///   - prior: What is assumed before anything is measured.
  ///   - constantVariance: The prior variance that bias and scale give a measurement, m² or rad².
  init(_ prior: NoisePrior, constantVariance: Double = 0) {
    self.prior = prior
    leastVariance = Self.leastShare * constantVariance
    white = RunningShare(prior: prior.whiteShare, weight: NoisePrior.whiteWeight)
  }

  /// The floor as a share of that variance: a double resolves 2e-16 of it, and each update of the covariance
  /// rounds once more.
  private static let leastShare = 1e-13
  /// A range that is too short by more says that the place is wrong.
  static let mostShortSigmas = 8.0

  @inline(__always)
  private var whiteShare: Double { prior.whiteShare(measured: white.value) }

  @inline(__always)
  func whiteVariance(stated sigma: Double) -> Double {
    max(whiteShare * whiteShare * sigma * sigma, leastVariance)
  }

  /// The part of the accuracy's square that wanders, for ``MeasurementKind/wanderingVariance(part:_:)``.
  @inline(__always)
  func wanderVariance(stated sigma: Double) -> Double {
    prior.wanderVarianceShare(measuredTotal: total.value, white: whiteShare) * sigma * sigma
  }

  /// Begins with what has been learnt of other peers, which the same radio hears.
  fileprivate mutating func begin(learnt others: some Collection<NoiseLevel>) {
    white = RunningShare(white, learnt: others.lazy.map(\.white))
    total = RunningShare(total, learnt: others.lazy.map(\.total))
  }

  /// What is learnt from one sample.
  struct Observation {
    /// The residual under the state before the sample was used, and under the state after.
    var before: Double
    var after: Double
    /// The residual under the state after, without its wandering error.
    var withoutWander: Double
    /// The decorrelation 1 - φ² of the wandering error since the sample before.
    var decorrelation: Double
    /// The stated sigma of the value.
    var sigma: Double
  }

  /// Learns from one sample.
  @inline(__always)
  mutating func observe(_ o: Observation) {
    let precision = 1 / o.sigma
    if let lastResidual {
      white.add(
        NoisePrior.whiteShare(ofDifference: (o.before - lastResidual) * precision), weight: 1)
    }
    total.add(
      NoisePrior.totalShare(ofResidual: o.withoutWander * precision), weight: o.decorrelation)
    lastResidual = o.after
  }

  /// Learns from a range that was too short to be an inlier; others are left out.
  ///
  /// Obstruction makes ranges longer and never shorter: what is too short is noise, or the place is wrong.
  /// Up to ``mostShortSigmas`` it is taken for noise.
  ///
  /// - Parameters:
  ///   - residual: Measured minus predicted without the wandering error, m.
  ///   - decorrelation: The decorrelation 1 - φ² of the wandering error since the sample before.
  ///   - sigma: The stated sigma, m.
  @inline(never)
  mutating func observeShort(_ residual: Double, decorrelation: Double, sigma: Double) {
    let sigmas = -residual / sigma
    guard sigmas > 0, sigmas < Self.mostShortSigmas else { return }
    total.add(sigmas * (Double.pi / 2).squareRoot(), weight: decorrelation)
  }

  /// The chain of consecutive residuals is broken: an outlier, a gap, another hypothesis.
  mutating func forgetLast() { lastResidual = nil }
}

/// How noisy each kind of measurement is.
typealias NoiseLevels = PerKind<NoiseLevel>

extension NoiseLevels {
  /// The levels with which a peer begins.
  ///
  /// - Parameters:
  ///   - ranging: The radio.
  ///   - others: What it has learnt of other peers.
  init(_ ranging: RangingConfiguration, learnt others: [NoiseLevels] = []) {
    let scale = ranging.rangeScaleSigma * ranging.maximumRange
    let constant = ranging.rangeBiasSigma * ranging.rangeBiasSigma + scale * scale
    self.init { kind in
      var level = NoiseLevel(
        NoisePrior(of: kind, ranging), constantVariance: kind == .range ? constant : 0)
      level.begin(learnt: others.lazy.map { $0[kind] })
      return level
    }
  }
}
