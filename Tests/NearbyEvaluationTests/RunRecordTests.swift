// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyEvaluation

extension PerKind<Double?> {
  /// Something of ranges and azimuths, nothing of other kinds.
  fileprivate static func of(_ range: Double?, _ azimuth: Double?) -> PerKind {
    PerKind { $0 == .range ? range : $0 == .azimuth ? azimuth : nil }
  }
}

@Suite("RunRecord")
struct RunRecordTests {
  @Test("claims are summed over converged moments only")
  func claims() throws {
    let record = RunRecord.of([
      .at(0, isConverged: false, error: Vector3(9, 0, 0), innovations: .of(25, nil)),
      .at(
        0.1, error: Vector3(0.3, 0, 0), claimed: 0.3, bound: 0.2, innovations: .of(1, 4)),
      .at(0.2, error: Vector3(0, 0.1, 0), claimed: 0.2, bound: 0.1, innovations: .of(3, nil)),
    ])
    let converged = record.converged
    // (0.09 + 0.01) / 2, (0.09 + 0.04) / 2, (0.04 + 0.01) / 2.
    #expect(abs(try #require(converged.squaredError.mean) - 0.05) < 1e-12)
    #expect(abs(try #require(converged.squaredClaim.mean) - 0.065) < 1e-12)
    #expect(abs(try #require(converged.squaredBound.mean) - 0.025) < 1e-12)
    // 3 · 0.09 / 0.09 and 3 · 0.01 / 0.04.
    #expect(abs(try #require(converged.normalizedErrorSquared.mean) - 1.875) < 1e-12)
    #expect(converged.normalizedInnovationSquared.range.mean == 2)
    #expect(converged.normalizedInnovationSquared.azimuth.mean == 4)
    #expect(converged.normalizedInnovationSquared.elevation.mean == nil)
    #expect((record.samples, record.convergedSamples) == (3, 2))

    let report = ConsistencyReport(records: [record])
    // √(0.05 / 0.025).
    #expect(abs(try #require(report.efficiency) - 2.0.squareRoot()) < 1e-12)
    #expect(abs(try #require(report.normalizedErrorSquared?.value) - 0.625) < 1e-12)
  }

  @Test("a claim without an inverse makes NEES infinite, not absent")
  func brokenClaim() {
    var moment = Moment.at(0)
    moment.normalizedErrorSquared = nil
    #expect(RunRecord.of([moment]).converged.normalizedErrorSquared.mean == .infinity)
  }

  @Test("time, path and parallax to the first convergence, and to the bound's")
  func arrivals() throws {
    var record = RunRecord(seed: 0)
    // The line of sight turns by 30 degrees and half back; the bound meets 0.35 m at 1 s.
    let lines = [Vector3(1, 0, 0), Vector3(3.0.squareRoot(), 0, 1), Vector3(1, 0, 0.1)]
    let moments: [Moment] = [
      .at(5, isConverged: false, bound: 0.5, travelled: 2),
      .at(6, isConverged: false, bound: 0.35, travelled: 2.5),
      .at(8, bound: 0.3, travelled: 4),
    ]
    for (moment, line) in zip(moments, lines) { record.add(moment, lineOfSight: line) }
    let first = try #require(record.firstConvergence)
    #expect((first.seconds, first.metres) == (3, 2))
    #expect(abs(first.sweptAngleRadians - .pi / 6) < 1e-12)
    #expect(record.firstPossibleConvergence?.seconds == 1)
    // (3 + 0.1) / (1 + 0.1).
    let ratio = try #require(ConsistencyReport(records: [record]).timeRatios.first)
    #expect(abs(ratio - 3.1 / 1.1) < 1e-12)
  }

  @Test("far away the bound's criterion is 7 % of the distance")
  func farCriterion() {
    #expect(Moment.at(0, bound: 0.69, distance: 10).isConvergencePossible)
    #expect(!Moment.at(0, bound: 0.71, distance: 10).isConvergencePossible)
  }

  @Test(
    "false convergence needs both half a metre and 3.4 sigma",
    arguments: [
      (0.49, 0.1, false), (0.51, 0.1, true), (0.9, 0.3, false), (1.03, 0.3, true),
    ])
  func falseConvergence(error: Double, claimed: Double, isFalse: Bool) {
    let moment = Moment.at(0, error: Vector3(0, error, 0), claimed: claimed)
    #expect(moment.isFalselyConverged == isFalse)
    #expect(RunRecord.of([moment]).falseSamples == (isFalse ? 1 : 0))
    var lost = moment
    lost.convergence = .notConverged(.insufficientMovement)
    #expect(!lost.isFalselyConverged)
  }

  @Test("losses of convergence are counted")
  func losses() {
    let states = [false, true, true, false, false, true, false]
    let record = RunRecord.of(
      states.enumerated().map { Moment.at(Double($0.offset), isConverged: $0.element) })
    #expect(record.losses == 2)
  }

  @Test("jitter is the step of the error between successive published positions")
  func jitter() throws {
    // Steps of 0.3 and 0.4; the one across the moment that is not placed does not count.
    let record = RunRecord.of([
      .at(0, error: Vector3(0.1, 0, 0)), .at(1, error: Vector3(0.4, 0, 0)),
      .at(2, error: Vector3(0.4, 0.4, 0)), .at(3, error: Vector3(7, 0, 0), isPlaced: false),
      .at(4, error: .zero),
    ])
    #expect(record.outputs.squaredJitter.count == 2)
    #expect(abs(try #require(record.outputs.squaredJitter.mean) - 0.125) < 1e-12)
  }

  @Test("outputs: availability, errors and wrong sides")
  func outputs() throws {
    var known = Moment.at(0)
    known.outputs.distance = -0.2
    known.outputs.horizontalAngleRadians = 0.1
    known.outputs.height = 0.3
    // The peer is a metre above.
    known.outputs.verticalDirection = .below
    let record = RunRecord.of([known, .at(1), .at(2), .at(3, isPlaced: false)])
    let report = ConsistencyReport(records: [record])
    let figures = ScenarioFigures(of: .init(.standingStill), report, ProofGoals())
    #expect(figures.availability.distance == 0.25)
    #expect(figures.availability.direction == 0)
    #expect(figures.availability.vertical == 0.25)
    #expect(figures.availability.worldTransform == 0.75)
    #expect(abs(try #require(figures.outputErrors.distance) - 0.2) < 1e-12)
    #expect(abs(try #require(figures.outputErrors.horizontalAngle) - 18 / .pi) < 1e-12)
    #expect(abs(try #require(figures.outputErrors.vertical) - 0.3) < 1e-12)
    #expect(figures.outputErrors.direction == nil)
    #expect(report.wrongSides == [0])
  }
}
