// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyEvaluation

/// Each goal is reached by one set of hand-made runs and missed by another.
@Suite("ProofGoals")
struct ProofGoalsTests {
  /// Thirty runs of one sample before and three after convergence; the error equals the claim and
  /// the bound.
  private func report(
    _ change: (inout Moment, UInt64) -> Void = { _, _ in }
  ) -> ConsistencyReport {
    ConsistencyReport(
      records: (0..<30).map { (seed: UInt64) in
        let moments = (0..<4).map { (index: Int) in
          var moment = Moment.at(
            Double(index), isConverged: index > 0, error: Vector3(0, 0.3, 0),
            bound: index > 0 ? 0.3 : 1, innovations: PerKind(repeating: 1))
          change(&moment, seed)
          return moment
        }
        return RunRecord.of(moments, seed: seed)
      })
  }

  private func missed(
    _ report: ConsistencyReport, _ expectation: Scenario.Expectation = .converges
  ) -> [ProofGoals.Goal] {
    ProofGoals().misses(of: report, expectation).map(\.goal)
  }

  @Test("optimal figures miss no goal")
  func perfect() {
    #expect(missed(report()).isEmpty)
    #expect(missed(report(), .follows).isEmpty)
    #expect(missed(report(), .recovers(afterSeconds: 3)).isEmpty)
  }

  @Test("an error beyond the bound misses efficiency", arguments: [(0.33, false), (0.34, true)])
  func efficiency(error: Double, isMissed: Bool) {
    // 0.3 · 1.10 = 0.33; the claim grows with it, so that NEES stays one.
    let report = report { moment, _ in
      moment.errorInOdometry = Vector3(0, error - 1e-9, 0)
    }
    #expect(missed(report) == (isMissed ? [.efficiency] : []))
  }

  @Test(
    "claims that are too small or too large miss consistency",
    arguments: [(0.79, true), (0.81, false), (1.24, false), (1.26, true)])
  func consistency(ratio: Double, isMissed: Bool) {
    let errors = report { moment, _ in moment.normalizedErrorSquared = 3 * ratio }
    #expect(missed(errors) == (isMissed ? [.normalizedErrorSquared] : []))
    for kind in MeasurementKind.allCases {
      let innovations = report { moment, _ in moment.normalizedInnovationSquared[kind] = ratio }
      #expect(missed(innovations) == (isMissed ? [.innovation(of: kind)] : []))
    }
  }

  @Test("a component that is not measured misses no goal")
  func unmeasured() {
    let report = report { moment, _ in moment.normalizedInnovationSquared.elevation = nil }
    #expect(missed(report).isEmpty)
  }

  @Test("the runs that are to blame are named, the worst first")
  func seeds() throws {
    let report = report { moment, seed in
      moment.normalizedErrorSquared = seed == 7 ? 90 : seed == 21 ? 60 : 2.9
    }
    let miss = try #require(ProofGoals().misses(of: report, .converges).first)
    #expect(miss.goal == .normalizedErrorSquared)
    #expect(miss.seeds == [7, 21])
    // (28 · 2.9 + 150) / 30 / 3 = 2.569; the 95 % band of 30 draws of three degrees of freedom over
    // three is that of chi-square with 90: 65.65 / 90 to 118.14 / 90.
    #expect(miss.explanation.contains("NEES/3 is 2.569"))
    #expect(miss.explanation.contains("over 30 runs"))
    #expect(miss.explanation.contains("0.729 to 1.313"))
  }

  @Test("one false convergence in thirty runs is too many")
  func falseConvergence() {
    let report = report { moment, seed in
      if seed == 3, moment.seconds == 2 { moment.errorInOdometry = Vector3(1.1, 0, 0) }
    }
    let misses = ProofGoals().misses(of: report, .converges)
    #expect(misses.map(\.goal).contains(.falseConvergence))
    #expect(misses.first { $0.goal == .falseConvergence }?.seeds == [3])
  }

  @Test("half of the runs later than the bound by more than 15 % miss the time to converge")
  func time() {
    func late(_ count: UInt64) -> ConsistencyReport {
      report { moment, seed in
        // The bound meets the criterion at 1 s in all runs; so many converge at 2 s.
        if seed < count, moment.seconds < 2 { moment.convergence = .unknown }
      }
    }
    #expect(missed(late(14)).isEmpty)
    #expect(missed(late(16)) == [.timeToConverge])
  }

  @Test("runs that never converge count as infinitely late, and have no claims to judge")
  func never() {
    let report = report { moment, _ in moment.convergence = .unknown }
    #expect(missed(report) == [.efficiency, .timeToConverge])
    #expect(missed(report, .neverConverges).isEmpty)
  }

  @Test("where an engine may converge, only its errors while converged count")
  func mayConverge() {
    let silent = report { moment, _ in moment.convergence = .unknown }
    #expect(missed(silent, .mayConverge).isEmpty)
    let slow = report { moment, _ in moment.bound = 1e-3 }
    #expect(missed(slow, .mayConverge).isEmpty)
    let wrong = report { moment, seed in
      if seed == 11 { moment.errorInOdometry = Vector3(0, 3, 0) }
      moment.normalizedErrorSquared = 6
    }
    #expect(missed(wrong, .mayConverge) == [.normalizedErrorSquared, .falseConvergence])
  }

  @Test("one convergence where there can be none is one too many")
  func impossible() {
    let report = report { moment, seed in
      if seed != 11 { moment.convergence = .unknown }
    }
    let misses = ProofGoals().misses(of: report, .neverConverges)
    #expect(misses.map(\.goal) == [.neverConverges])
    #expect(misses.first?.seeds == [11])
  }

  @Test("recovery: withdrawn too late, regained too late")
  func recovery() {
    let event = RunEvent(span: 1...1, formerPlace: .zero)
    func report(heldSeconds: Int, lostSeconds: Int) -> ConsistencyReport {
      let states =
        Array(repeating: "f", count: heldSeconds) + Array(repeating: "n", count: lostSeconds)
      var moments = [Moment.at(0, error: Vector3(0, 0.3, 0))]
      for (index, state) in (states + ["c"]).enumerated() {
        moments.append(
          .at(
            Double(1 + index), isConverged: state != "n",
            error: Vector3(state == "f" ? 3 : 0, 0.3, 0), contradicts: true))
      }
      var record = RunRecord.of(moments, event: event)
      record.recovery?.freshStartSeconds = 3
      return ConsistencyReport(records: [record])
    }
    let expectation = Scenario.Expectation.recovers(afterSeconds: 1)
    #expect(missed(report(heldSeconds: 2, lostSeconds: 1), expectation).isEmpty)
    // Regained after 4 s, a fresh start takes 3 s: 4.1 / 3.1 = 1.32.
    #expect(missed(report(heldSeconds: 2, lostSeconds: 2), expectation) == [.regain])
    // Held for 3 s, of which the third counts as false.
    #expect(
      missed(report(heldSeconds: 4, lostSeconds: 0), expectation)
        == [.withdrawal, .regain, .falseConvergence])
  }

  @Test("runs that never converge are counted; no multiple of anything is infinite")
  func neverConverged() {
    let report = report { moment, seed in if seed < 20 { moment.convergence = .unknown } }
    let explanations = ProofGoals().misses(of: report, .converges).map(\.explanation)
    #expect(explanations.contains { $0.hasPrefix("20 of 30 runs that could converge never did") })
    #expect(explanations.allSatisfy { !$0.contains("inf") }, "\(explanations)")
  }
}
