// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyEvaluation

@Suite("ReferenceFigures")
struct ReferenceFiguresTests {
  /// Forty comparisons at the median of every goal.
  private func comparisons(
    _ change: (inout ReferenceRun.Comparison, Int) -> Void = { _, _ in }
  ) -> [ReferenceRun.Comparison] {
    (0..<40).map { index in
      var comparison = ReferenceRun.Comparison(
        seed: UInt64(index), seconds: index.isMultiple(of: 2) ? 10 : 20,
        isConverged: index >= 20, isSearching: index < 10, meanOff: 0.2, heightOff: 0.2,
        horizontalOff: 0.1,
        sigmaRatio: 1.05,
        heightSigmaRatio: 1, exactSigma: 0.3, exactHeightSigma: 0.2, exactErrorSquared: 1,
        errorSquared: 1, referenceError: 0.02)
      change(&comparison, index)
      return comparison
    }
  }

  private func missed(
    _ change: @escaping (inout ReferenceRun.Comparison, Int) -> Void
  ) -> [ReferenceFigures.Miss] {
    ReferenceFigures(scenario: "s", comparisons(change), ReferenceGoals()).misses
  }

  @Test("each goal is missed by its figure, and names the worst seed")
  func goals() {
    #expect(missed { _, _ in }.isEmpty)
    #expect(missed { comparison, _ in comparison.meanOff = 0.31 }.count == 1)
    let tail = missed { comparison, index in if index > 30 { comparison.meanOff = Double(index) } }
    #expect(tail.count == 1)
    #expect(tail.first?.seeds == [39, 38, 37, 36, 35])
    #expect(missed { comparison, _ in comparison.sigmaRatio = 0.94 }.count == 1)
    #expect(missed { comparison, _ in comparison.sigmaRatio = 1.21 }.count == 1)
    #expect(missed { comparison, _ in comparison.referenceError = 0.2 }.count == 1)
    #expect(ReferenceFigures(scenario: "s", [], ReferenceGoals()).misses.count == 1)
  }

  @Test("rows hold all moments, the converged ones, and those of each time")
  func rows() {
    let figures = ReferenceFigures(
      scenario: "s",
      comparisons { comparison, index in comparison.meanOff = comparison.isConverged ? 0.5 : 0.1 },
      ReferenceGoals())
    #expect(figures.all.count == 40 && figures.all.convergedShare == 0.5)
    #expect(figures.converged.count == 20 && figures.converged.meanOff?.percentile5 == 0.5)
    #expect(figures.searching.count == 10 && figures.filtering.count == 30)
    #expect(figures.times.map(\.seconds) == [10, 20])
    #expect(figures.times.map(\.figures.count) == [20, 20])
  }

  @Test("a mean that is off by one sigma along one axis is off by 1/√3, in height by one")
  func distances() throws {
    let exact = ReferencePosterior.Moment(
      mean: Vector3(1, 2, 3),
      covariance: SymmetricMatrix3(xx: 0.04, xy: 0, xz: 0.01, yy: 0.09, yz: 0, zz: 0.04),
      meanError: 0, effectiveCount: 1)
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    var estimate = engine.estimate(of: peer, at: Timestamp(nanoseconds: 0))
    func comparison() -> ReferenceRun.Comparison? {
      ReferenceRun.Comparison(estimate, exact, truth: Vector3(1, 2, 3.2), seed: 0, seconds: 1)
    }
    #expect(comparison() == nil)
    estimate.positionInWorld = Vector3(1, 2.3, 3)
    estimate.covarianceInWorld = SymmetricMatrix3(xx: 0.16, xy: 0, xz: 0, yy: 0.36, yz: 0, zz: 0.16)
    let up = try #require(comparison())
    #expect(abs(up.meanOff - 1 / 3.0.squareRoot()) < 1e-12 && abs(up.heightOff - 1) < 1e-12)
    #expect(up.horizontalOff == 0 && abs(up.sigmaRatio - 2) < 1e-12)
    #expect(abs(up.heightSigmaRatio - 2) < 1e-12)
    // 0.2² · 0.04 / (0.04² - 0.01²) over three.
    #expect(abs(up.exactErrorSquared - 0.0016 / 0.0015 / 3) < 1e-9)
    estimate.positionInWorld = Vector3(1, 2, 3.2)
    let aside = try #require(comparison())
    #expect(
      aside.heightOff == 0 && abs(aside.horizontalOff - (0.0016 / 0.0015 / 2).squareRoot()) < 1e-9)
  }
}
