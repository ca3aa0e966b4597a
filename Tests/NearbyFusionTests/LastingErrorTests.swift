// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbySimulation
import Testing

/// Ranges that are wrong for a while, or where the device comes through again and again.
@Suite("Lasting errors")
struct LastingErrorTests {
  /// What became of some runs.
  private func records(_ name: String, seeds: Range<UInt64>) async throws -> [RunRecord] {
    let scenario = try #require(Scenario.preset(named: name))
    return try await ConsistencyRun(scenario).report(seeds: seeds).records
  }

  private func falseShare(_ records: [RunRecord]) -> Double {
    let converged = records.reduce(0) { $0 + $1.convergedSamples }
    return Double(records.reduce(0) { $0 + $1.falseSamples }) / Double(max(1, converged))
  }

  private func convergedShare(_ records: [RunRecord]) -> Double {
    let samples = records.reduce(0) { $0 + $1.samples }
    return Double(records.reduce(0) { $0 + $1.convergedSamples }) / Double(samples)
  }

  /// Between what these seeds give (0.0015, 0.012, 0 and 0.0075) and what they gave without
  /// ``VarianceInflation`` (0.009, 0.047, 0.018 and 0.20).
  ///
  /// A reflection is no move: before moves needed evidence, 37 and 50 of 160 peers were reported to have moved, in zones
  /// and beside a reflector.
  @Test(
    "claims are hardly ever wrong, are made where ranges are right, and no move is reported",
    arguments: [
      ("zones-8", 0.006, 0.45, 1), ("reflector-8", 0.030, 0.35, 3),
      ("short-minute-3", 0.005, 0.6, 0), ("errors-attitude-4", 0.14, 0.4, 0),
    ])
  func claims(
    name: String, mostFalse: Double, leastConverged: Double, mostMoves: Int
  ) async throws {
    let records = try await records(name, seeds: 0..<12)
    #expect(falseShare(records) < mostFalse)
    #expect(convergedShare(records) > leastConverged)
    #expect(records.reduce(0) { $0 + $1.reportedMoves } <= mostMoves)
  }

  @Test("of a walking peer whose motion is not known the distance is that of the radio")
  func walkers() async throws {
    let records = try await records("walker-ranges", seeds: 0..<20)
    let distance = records.map(\.outputs.squaredDistance)
    let meanSquare =
      distance.reduce(0) { $0 + $1.total } / Double(distance.reduce(0) { $0 + $1.count })
    #expect(meanSquare.squareRoot() < 0.2)
    // Ranges alone tell no direction to it: what is published are mistakes.
    let angles = records.reduce(0) { $0 + $1.outputs.squaredHorizontalAngle.count }
    #expect(Double(angles) < 0.1 * Double(records.reduce(0) { $0 + $1.samples }))
  }
}
