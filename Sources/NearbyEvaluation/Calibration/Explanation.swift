// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyRecordings

/// The best explanation of a recording: an ``ErrorModel``, chosen from those in which the drift is as stated or not,
/// and in which ranges have lasting errors or not.
struct Explanation: Sendable {
  /// The model.
  private(set) var model: ErrorModel
  /// Whether the ranges' errors depend on place, time or direction, by the odds that decide.
  private(set) var hasLastingErrors: Bool
  /// The same with the drift as stated.
  private let steady: ErrorModel
  /// Whether a camera tells how far the device goes.
  private(set) var isVisual: Bool
  private let names: [String]

  private static let mostPeers = 8
  private static let mostSamples = 800
  /// The limits of the number of samples for the engine that gives the start, and their share of all.
  private static let mostPassSamples = 300
  private static let leastPassSamples = 100
  private static let passShare = 8
  private static let leastSamples = 30
  /// The largest share of outliers with which a model is believed; its estimate ends at 30 %.
  private static let mostOutliers = 0.29

  private static var decisive: Double { log(RecordingCalibration.leastOdds) }

  /// Explains a recording; `nil` where there is too little of it.
  ///
  /// - Parameter data: What is taken from it.
  init?(of data: CalibrationData) {
    guard let steady = Self.start(data) else { return nil }
    (isVisual, names) = (data.isVisual, data.names)
    (model, self.steady, hasLastingErrors) = (steady, steady, false)
    if steady.suggestsDrift, let full = steady.learningDrift(),
      ConstantsPosterior.claimsDrift(full)
    {
      let drifting = full.withoutLastingErrors()
      hasLastingErrors =
        drifting.map { full.logEvidence - $0.logEvidence > Self.decisive } ?? true
      // An odometry that drifts and has a wrong scale would err in two ways at once; walls look like that.
      if let drifting, !hasLastingErrors, drifting.logEvidence - steady.logEvidence > Self.decisive,
        drifting.constant(.rangeScale).logOdds(against: 0) < Self.decisive
      {
        model = drifting
      } else {
        hasLastingErrors = true
      }
    } else if isVisual, steady.constant(.rangeScale).logOdds(against: 0) > Self.decisive {
      // Walls are more common than odometries of a wrong scale: the least evidence for lasting errors counts.
      let plain = steady.withoutLastingErrors()
      hasLastingErrors = plain.map { steady.logEvidence > $0.logEvidence } ?? true
    }
  }

  /// Whether what the model says of the constants may be used: the ranges fit it, and the constants are the same in both
  /// halves of the recording.
  var isTrusted: Bool {
    model.sizes.outliers.range < Self.mostOutliers && model.hasWhiteNoise
      && steady.logOddsOfChange < Self.decisive
  }

  /// The model of a recording with all errors, at its mode.
  private static func start(_ data: CalibrationData) -> ErrorModel? {
    let near = start(data, clockOffset: data.stated.ranging.clockOffset)
    // The minimisation does not reach an offset of a second from zero.
    if let near, near.hasWhiteNoise, near.sizes.outliers.range < mostOutliers { return near }
    guard let offset = data.alignedClockOffset else { return near }
    return start(data, clockOffset: offset) ?? near
  }

  private static func start(_ data: CalibrationData, clockOffset: Double) -> ErrorModel? {
    let thinned = data.thinned(peers: mostPeers, samples: mostSamples)
    let passCount = min(max(data.samples.count / passShare, leastPassSamples), mostPassSamples)
    let sparse = data.thinned(peers: mostPeers, samples: passCount)
    var configuration = data.stated
    configuration.ranging.clockOffset = clockOffset
    guard thinned.samples.count >= leastSamples, let pass = EnginePass(sparse, configuration)
    else { return nil }
    // A peer that was moved has two places.
    let heard = Set(thinned.samples.map(\.peer))
    let resting = heard.subtracting(pass.moved).isEmpty ? thinned : thinned.excluding(pass.moved)
    guard var model = ErrorModel(resting, from: pass, clockOffset: clockOffset), model.settle()
    else { return nil }
    return model
  }

  /// What is measured of single peers and fits no model.
  var misfits: [CalibrationSummary.Misfit] {
    model.misfits.map { misfit in
      CalibrationSummary.Misfit(
        peer: names[misfit.peer], metres: misfit.metres, along: misfit.along)
    }
  }
}
