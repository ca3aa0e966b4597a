// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// How it is decided between a survey and what may be wrong with it.
@Suite("Survey examination")
struct SurveyExaminationTests {
  private static func examine(
    _ heard: [Int] = [0, 1, 2, 3], _ log: @escaping ([SurveyFault]) -> Double
  ) -> SurveyExamination {
    SurveyExamination(among: heard, measuresDifferences: true) {
      SurveyExamination.Evidence(logEvidence: log($0.faults))
    }
  }

  @Test func whatExcludesAllFaultsConfirms() {
    let examination = Self.examine { $0.isEmpty ? 0 : -4 }
    #expect(examination.verdict == .confirmed([]) && examination.loose.isEmpty)
  }

  @Test func whatDoesNotTellConfirmsNothing() {
    #expect(Self.examine { _ in 0 }.verdict == .untested)
    let oneRival = Self.examine { $0 == [.upsideDown] ? -3.8 : -9 * Double($0.count) }
    #expect(oneRival.verdict == .untested)
    #expect(Self.examine([0, 1]) { -9 * Double($0.count) }.verdict == .untested)
  }

  @Test func aFaultMustBeMoreLikelyInSpiteOfItsPrior() {
    func verdict(_ gain: Double) -> SurveyVerdict {
      Self.examine { faults in
        let others = faults.count { $0 != .exchanged(1, 3) }
        return (others < faults.count ? gain : 0) - 9 * Double(others)
      }.verdict
    }
    // A thousand times as likely with a prior of a hundredth: 11.5 nats.
    #expect(verdict(11) == .untested)
    #expect(verdict(12) == .confirmed([.exchanged(1, 3)]))
  }

  @Test func twoExplanationsAreNamedAndNotUsed() {
    let examination = Self.examine { faults in
      if faults == [.displaced(0)] { return 50 }
      if faults == [.displaced(1)] { return 49 }
      return faults.isEmpty ? 0 : -100
    }
    #expect(examination.verdict == .contradicted([.displaced(0)]))
  }

  @Test func aFaultOnTopOfTwoIsTooMuch() {
    let examination = Self.examine { faults in 20 * Double(faults.count) }
    guard case .contradicted(let faults) = examination.verdict else {
      Issue.record("\(examination.verdict)")
      return
    }
    #expect(faults.count == 2)
  }

  @Test func placesThatMayBeOffByLessAreUncertain() {
    let examination = SurveyExamination(among: [0, 1, 2], measuresDifferences: false) {
      var evidence = SurveyExamination.Evidence(logEvidence: -9 * Double($0.faults.count))
      if $0.faults == [.displaced(2)] { evidence.logMaterial = -1 }
      return evidence
    }
    #expect(examination.verdict == .plausible([]) && examination.loose == [2])
  }

  /// The evidence of a displacement by half a metre to one and a half, for a place that is known to a sigma.
  @Test func aSizeIsExcludedByASmallSigma() {
    func factor(_ sigma: Double, mean: Vector3 = .zero) -> Double {
      FaultSize.logFactor(
        of: FaultSize.material, mean: mean,
        SymmetricMatrix3(
          xx: sigma * sigma, xy: 0, xz: 0, yy: sigma * sigma, yz: 0, zz: sigma * sigma),
        priorSigma: 3)
    }
    // The posterior is as wide as the prior: nothing is told.
    #expect(abs(factor(3)) < 0.1)
    #expect(factor(0.1) < -3 && factor(0.05) < -30)
    #expect(factor(0.1, mean: Vector3(0.7, 0, 0)) > 0)
    // Along a line of the sigma 0.1 the nearest length is five sigmas away.
    let line = FaultSize.logFactor(of: [0.5], mean: 0, sigma: 0.1, priorSigma: 3)
    #expect(abs(line - (log(30) + 0.5 / 36 - 12.5)) < 1e-9)
  }

  @Test func hypothesesAreMaps() {
    let places = [Vector3(0, 1, 0), Vector3(4, 2, 0), Vector3(0, 3, 6)]
    var covariance = [Double](repeating: 0, count: 225)
    for row in 0..<15 { covariance[row * 16] = row < 5 ? 1 : 4 }
    covariance[1] = 0.5
    covariance[15] = 0.5
    let survey = PeerMap(
      peers: places.enumerated().map { PeerMap.Peer(name: "\($0)", positionInWorld: $1) },
      covariance: covariance)
    let exchanged = SurveyHypothesis().adding(.exchanged(0, 2)).map(survey)
    #expect(exchanged.peers[0].positionInWorld == places[2] && exchanged.peers[0].name == "0")
    #expect(exchanged.positionCovariance(of: 2).xy == 0.5)
    #expect(exchanged.covariance[3 * 16] == 1, "a radio keeps its own bias")
    let down = SurveyHypothesis().adding(.upsideDown).map(survey)
    #expect(down.peers[1].positionInWorld == Vector3(4, -2, 0))
    #expect(down.positionCovariance(of: 0).xy == -0.5)
    let displaced = SurveyHypothesis().adding(.displaced(1)).map(survey)
    #expect(displaced.positionCovariance(of: 1).xx == 13)
    #expect(displaced.positionCovariance(of: 0).xx == 1)
    let scaled = SurveyHypothesis().adding(.scaled(by: 1)).map(survey)
    // Both are on either side of the middle along x: their errors are opposite.
    #expect(scaled.covariance[5] < 0)
  }
}
