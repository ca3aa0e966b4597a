// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Whether the samples agree with a track.
struct TrackConsistency: Hashable, Sendable, Codable {
  private var ranges = ContradictionMonitor()
  private var angles = ContradictionMonitor()
  /// How many ranges in a row were far too short.
  private var shortRanges = 0
  /// The newest range that agreed: measured minus predicted, metres, and when.
  private var agreed: Agreement?
  /// How the newest contradiction of ranges began.
  private(set) var onset = Onset.gradual

  /// Since when more samples have contradicted the track than agree; `nil` once they agree again.
  private(set) var contradictedSince: Timestamp?

  /// How fast the innovation of ranges grew when they began to contradict a track.
  enum Onset: Hashable, Sendable, Codable {
    /// No faster than a peer moves, or unheard for long enough to have moved.
    case gradual
    /// Faster than a peer moves: the place was wrong before, or the range is wrong now.
    case sudden
  }
  private struct Agreement: Hashable, Codable {
    var innovation: Double
    var time: Timestamp
  }
  /// No peer moves away faster, m/s.
  private static let fastestMotion = 3.0
  /// The gate on a difference of two innovations, in stated sigmas of a range.
  private static let onsetSigmas = 5.0

  /// Angles are wrong in a row more often than ranges: they must be so for this many times as long.
  private static let anglePatience = 2.0
  /// So many sigmas below the prediction a range is far too short, and so many in a row convince.
  private static let shortSigmas = 5.0
  private static let convincingShortRanges = 3

  /// Takes note of how a sample met the heaviest hypothesis.
  ///
  /// Performance: `inout` only to pass by reference.
  ///
  /// - Parameters:
  ///   - result: The step with the sample.
  ///   - measurements: What was measured.
  ///   - time: When.
  ///   - patience: How long samples must contradict, seconds.
  @inline(__always)
  mutating func add(
    _ result: inout StepResult, _ measurements: Measurements, at time: Timestamp, patience: Double
  ) {
    if measurements.has(.range) {
      let contradicts = result.outcomes.range.inlier < 0.5
      if ranges.isConsistent {
        noteOnset(
          result.outcomes.range.innovation, contradicts: contradicts,
          sigma: measurements.values.range.sigma, at: time)
      }
      ranges.add(contradicts: contradicts, at: time, patience: patience)
      shortRanges =
        contradicts && isFarTooShort(result.outcomes.range, weight: result.weight)
        ? shortRanges + 1 : 0
    }
    if measurements.has(.azimuth) || measurements.has(.elevation) {
      let contradicts =
        measurements.has(.azimuth) && result.outcomes.azimuth.inlier < 0.5
        || measurements.has(.elevation) && result.outcomes.elevation.inlier < 0.5
      angles.add(
        contradicts: contradicts, at: time, patience: Self.anglePatience * patience)
    }
    if contradictedSince != nil || ranges.isDoubtful || angles.isDoubtful {
      contradictedSince = isConsistent ? nil : contradictedSince ?? time
    }
  }

  /// Takes note of a range while most of them agree: the first that contradicts after one that agreed tells
  /// how fast the innovation has grown.
  @inline(__always)
  private mutating func noteOnset(
    _ innovation: Double, contradicts: Bool, sigma: Double, at time: Timestamp
  ) {
    guard contradicts else {
      agreed = Agreement(innovation: innovation, time: time)
      return
    }
    guard let agreed else { return }
    self.agreed = nil
    let seconds = time.seconds(since: agreed.time)
    onset =
      abs(innovation - agreed.innovation)
        > Self.fastestMotion * seconds + Self.onsetSigmas * sigma ? .sudden : .gradual
  }

  @inline(never)
  private func isFarTooShort(_ range: StepResult.Outcome, weight: Double) -> Bool {
    weight > 0.9 && range.innovation < 0
      && range.innovation * range.innovation
        > Self.shortSigmas * Self.shortSigmas * range.innovationVariance
  }

  /// Whether several ranges in a row were far too short: no obstacle makes a range shorter, so the peer
  /// is nearer than the track has it.
  @inline(__always)
  var rangesAreTooShort: Bool { shortRanges >= Self.convincingShortRanges }
  /// Whether no range has contradicted the track lately.
  @inline(__always)
  var hasNoRangeOutlier: Bool { ranges.isNegligible }
  /// Whether the ranges lately contradict the track.
  @inline(__always)
  var rangesContradict: Bool { ranges.isContradicted || rangesAreTooShort }
  /// Whether the ranges or, for longer, the angles contradict it.
  @inline(__always)
  var isContradicted: Bool { rangesContradict || angles.isContradicted }
  /// Whether all agree with it.
  @inline(__always)
  var isConsistent: Bool {
    ranges.isConsistent && angles.isConsistent && !rangesAreTooShort
  }
}
