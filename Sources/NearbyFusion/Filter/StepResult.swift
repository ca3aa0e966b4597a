// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// How a sample met the heaviest hypothesis of a track.
struct StepResult {
  /// Of each kind that was measured; anything for the others.
  var outcomes = PerKind(repeating: Outcome())
  /// The share of that hypothesis, 0 to 1.
  var weight = 1.0
  /// The decorrelation 1 - φ² of the radio's wandering errors over the step.
  var decorrelation = (range: 0.0, angle: 0.0)

  /// The decorrelation of a kind's wandering error, as far as something is learnt from it: an
  /// offset is no part of the accuracy.
  @inline(__always)
  func decorrelation(of kind: MeasurementKind) -> Double {
    switch kind.wandering {
    case .withPlace: decorrelation.range
    case .withDirection: decorrelation.angle
    case .withTime: 0
    }
  }

  /// How one measurement met the hypothesis.
  ///
  /// Performance: what a report has side by side does not stand so here. It is written one by one, and a
  /// load of a pair would wait until both are in the cache.
  struct Outcome {
    var innovation = 0.0
    /// The probability that the value was an inlier.
    var inlier = 1.0
    var innovationVariance = Double.infinity
    /// The hypothesis' estimate of the pose-dependent error.
    var poseDependent = 0.0

    init() {}

    /// The residual after the update, for a white measurement variance.
    @inline(__always)
    func innovationAfter(white: Double) -> Double {
      innovation * (1 - inlier * max(innovationVariance - white, 0) / innovationVariance)
    }

    /// Whether the measurement's own errors make up the larger part of the innovation's variance, and not
    /// the uncertainty of the prediction.
    @inline(__always)
    func isMostlyNoise(_ errors: ErrorVariances) -> Bool {
      innovationVariance < 2 * (errors.white + errors.wandering)
    }

    /// As it stands in the fields of a hypothesis; a range's constant error depends on no pose.
    @inline(__always)
    init(_ kind: MeasurementKind, _ field: (HypothesisBank.Field) -> Double) {
      innovation = field(.innovation(kind))
      innovationVariance = field(.innovationVariance(kind))
      inlier = field(.inlier(kind))
      poseDependent = field(.mean(StateIndex.wander(kind)))
      if kind.isAngle, let bias = StateIndex.bias(kind) { poseDependent += field(.mean(bias)) }
    }
  }

  /// Takes note of how the measurements met the only hypothesis of a bank.
  @inline(__always)
  mutating func takeOutcomes(
    of measurements: Measurements, fromColumn bank: HypothesisBank
  ) {
    // Performance: written out, as a closure copies the outcomes.
    if measurements.has(.range) { outcomes.range = Outcome(.range) { bank.only($0) } }
    if measurements.has(.azimuth) { outcomes.azimuth = Outcome(.azimuth) { bank.only($0) } }
    if measurements.has(.elevation) { outcomes.elevation = Outcome(.elevation) { bank.only($0) } }
    if measurements.has(.heightDifference) {
      outcomes.heightDifference = Outcome(.heightDifference) { bank.only($0) }
    }
  }

  /// Takes note of how they met the heaviest of several.
  @inline(never)
  mutating func takeOutcomes(
    of measurements: Measurements, fromHeaviestOf bank: HypothesisBank
  ) {
    let best = bank.heaviest
    weight = bank.weight(best)
    for kind in MeasurementKind.allCases where measurements.has(kind) {
      outcomes[kind] = Outcome(kind) { bank[$0, best] }
    }
  }
}
