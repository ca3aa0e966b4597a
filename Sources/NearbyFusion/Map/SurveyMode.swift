// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A place of the device that explains the measurements under a hypothesis about the survey.
struct SurveyMode: Sendable {
  /// The logarithm of the measurements' probability, up to a constant that all hypotheses share.
  var logEvidence: Double
  /// The device's place in the survey's frame, metres.
  var device: Vector3
  /// The share of each anchor's values that are inliers.
  var inlierShares: [Double]
  /// The places of the anchors, and their covariances.
  var anchors: [(mean: Vector3, covariance: SymmetricMatrix3)]
}

extension SurveyExamination.Evidence {
  /// Two places of the device within this distance are one, metres.
  private static let sameWithin = 0.5
  /// Less than this share of inliers is no explanation.
  private static let leastInlierShare = 0.5
  /// A claimed place whose error exceeds this number of standard deviations counts as wrong.
  private static let coveredSigmas = 3.4

  /// The evidence of a hypothesis by its modes.
  ///
  /// - Parameters:
  ///   - hypothesis: The hypothesis.
  ///   - survey: The survey.
  ///   - found: The modes; none that is less than a thousandth as likely as the best counts.
  init?(of hypothesis: SurveyHypothesis, _ survey: PeerMap, _ found: [SurveyMode]) {
    guard let best = found.max(by: { $0.logEvidence < $1.logEvidence }) else { return nil }
    let modes = found.filter {
      $0.logEvidence >= best.logEvidence - SurveyExamination.decisive
    }
    self.init(logEvidence: best.logEvidence)
    let displaced = hypothesis.displaced
    isSound =
      modes.allSatisfy { ($0.device - best.device).length < Self.sameWithin }
      && best.inlierShares.indices.allSatisfy {
        displaced.contains($0) || best.inlierShares[$0] >= Self.leastInlierShare
      }
    let scale = hypothesis.isScaled ? Scale(of: survey, best) : nil
    self.scale = scale.map { 1 / $0.ratio }
    switch hypothesis.faults.last {
    case .displaced(let anchor):
      let surveyed = hypothesis.map(survey).peers[anchor].positionInWorld
      // Errors within the survey's own uncertainty do not make claims wrong.
      let variance = survey.positionCovariance(of: anchor).trace / 3
      let stated = Self.coveredSigmas * variance.squareRoot()
      setSize { lengths in
        let lengths = lengths.map { ($0 * $0 + stated * stated).squareRoot() }
        return modes.map { mode in
          mode.logEvidence
            + FaultSize.logFactor(
              of: lengths, mean: mode.anchors[anchor].mean - surveyed,
              mode.anchors[anchor].covariance, priorSigma: SurveyHypothesis.displacementSigma)
        }.max() ?? best.logEvidence
      }
    case .scaled:
      guard let scale else { return }
      setSize { lengths in
        best.logEvidence
          + FaultSize.logFactor(
            of: lengths, mean: (scale.ratio - 1) * scale.reach, sigma: scale.sigma,
            priorSigma: SurveyHypothesis.scaleSigma * scale.reach)
      }
    default: break
    }
  }

  private mutating func setSize(_ logEvidence: ([Double]) -> Double) {
    (logMaterial, logLarge) = (logEvidence(FaultSize.material), logEvidence(FaultSize.large))
  }

  /// The scale of a survey by the places that were found.
  private struct Scale {
    /// By what the survey's distances are to be multiplied.
    var ratio: Double
    /// How far the outermost anchor is from the middle, and the sigma of its place along that way, metres:
    /// nearly that of the scale.
    var reach: Double
    var sigma: Double

    init(of survey: PeerMap, _ mode: SurveyMode) {
      let middle = SurveyHypothesis.middle(of: survey)
      let ways = survey.peers.map { $0.positionInWorld - middle }
      let foundMiddle =
        mode.anchors.reduce(Vector3.zero) { $0 + $1.mean } / Double(mode.anchors.count)
      ratio =
        zip(ways, mode.anchors).reduce(0) { $0 + $1.0.dot($1.1.mean - foundMiddle) }
        / ways.reduce(0) { $0 + $1.dot($1) }
      let outermost = ways.indices.max { ways[$0].length < ways[$1].length } ?? 0
      reach = ways[outermost].length
      let variance = mode.anchors[outermost].covariance.quadraticForm(ways[outermost])
      sigma = variance.squareRoot() / reach
    }
  }
}
