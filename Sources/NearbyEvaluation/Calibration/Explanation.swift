// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyRecordings

/// The best explanation of a recording: an ``ErrorModel`` with the drift as stated, or one that drifts more and whose
/// ranges have no lasting errors.
struct Explanation: Sendable {
  /// The model.
  private(set) var model: ErrorModel
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
    (model, self.steady) = (steady, steady)
    guard steady.suggestsDrift, !steady.hasSlipped, let full = steady.learningDrift(),
      ConstantsPosterior.claimsDrift(full), let drifting = full.withoutLastingErrors()
    else { return }
    let hasLastingErrors = full.logEvidence - drifting.logEvidence > Self.decisive
    // An odometry that drifts and has a wrong scale would err in two ways at once; walls look like that.
    if !hasLastingErrors, drifting.logEvidence - steady.logEvidence > Self.decisive,
      drifting.scale.logOdds(against: 0) < Self.decisive
    {
      model = drifting
    }
  }

  /// Whether what the model says of the constants may be used: the ranges fit it, with white noise of at most ten times
  /// what is stated, and the constants are the same in both halves of the recording.
  var isTrusted: Bool {
    model.outliers.range < Self.mostOutliers && model.hasWhiteNoise
      && model.sizes.noise.range < ConstantsPosterior.decade * model.stated.ranging.rangeSigma
      && steady.logOddsOfChange < Self.decisive
  }

  /// The model of a recording with all errors, at its mode.
  private static func start(_ data: CalibrationData) -> ErrorModel? {
    let near = start(data, clockOffset: data.stated.ranging.clockOffset)
    // The minimisation does not reach an offset of a second from zero.
    if let near, near.hasWhiteNoise, near.outliers.range < mostOutliers { return near }
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
