// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("Errors against the truth")
struct TruthComparisonTests {
  private static let middle = Timestamp(nanoseconds: 2_000_000_000)

  /// The device stands at the origin of its world and looks along -z; the truth is the same world
  /// turned by 90 degrees about gravity and moved, so that only relative quantities agree.
  private func sample(
    seconds: Int64, estimate: Vector3, isConverged: Bool = true, sigma: Double = 0.1,
    peer: Int = 0
  ) -> TruthComparison.Sample {
    let turn = Rotation(angleRadians: .pi / 2, about: Vector3(0, 1, 0))
    let device = Vector3(10, 1, -20)
    return TruthComparison.Sample(
      peer: peer, timestamp: Timestamp(nanoseconds: seconds * 1_000_000_000),
      isConverged: isConverged, estimatedPosition: estimate,
      covariance: SymmetricMatrix3(
        xx: sigma * sigma, xy: 0, xz: 0, yy: sigma * sigma, yz: 0, zz: sigma * sigma),
      odometryPose: .identity, truePosition: device + turn.act(Vector3(0, 0, -4)),
      truePose: RigidTransform(rotation: turn, translation: device))
  }

  @Test func anExactEstimateHasNoError() throws {
    var comparison = TruthComparison(isPlanar: false)
    comparison.add(sample(seconds: 3, estimate: Vector3(0, 0, -4)))
    let statistics = comparison.statistics(secondHalfFrom: Self.middle)
    #expect(statistics.samples == 1 && statistics.convergedSamples == 1)
    #expect(try #require(statistics.rmseConverged) < 1e-6)
    #expect(try #require(statistics.medianBearingErrorDegreesSecondHalf) < 1e-5)
    #expect(try #require(statistics.meanNormalizedNEES) < 1e-9)
  }

  /// Four samples by hand; the truth is 4 m straight ahead.
  ///
  /// | s | converged | estimate      | ‖e‖ | distance          | bearing             | NEES / 3   |
  /// |---|-----------|---------------|-----|-------------------|---------------------|------------|
  /// | 0 | no        | (0, 0, -10)   | 6   | 6                 | 0                   |            |
  /// | 1 | yes       | (0, 0.3, -4)  | 0.3 | √16.09 - 4        | 0                   | 0.09/0.03 = 3 |
  /// | 2 | yes       | (0, 0, -4.4)  | 0.4 | 0.4               | 0                   | 0.16/0.03  |
  /// | 3 | yes       | (4, 0, -4)    | 4   | √32 - 4           | 45°                 | 16/0.03    |
  @Test func aHandComputedCase() throws {
    var comparison = TruthComparison(isPlanar: false)
    comparison.add(sample(seconds: 0, estimate: Vector3(0, 0, -10), isConverged: false))
    comparison.add(sample(seconds: 1, estimate: Vector3(0, 0.3, -4)))
    comparison.add(sample(seconds: 2, estimate: Vector3(0, 0, -4.4)))
    comparison.add(sample(seconds: 3, estimate: Vector3(4, 0, -4)))
    let statistics = comparison.statistics(ofPeer: 0, secondHalfFrom: Self.middle)
    #expect(statistics.samples == 4 && statistics.convergedSamples == 3)
    expectEqual(statistics.rmseConverged, ((0.09 + 0.16 + 16) / 3).squareRoot())
    expectEqual(statistics.rmseSecondHalf, ((0.16 + 16) / 2).squareRoot())
    expectEqual(statistics.medianDistanceErrorSecondHalf, (0.4 + 32.0.squareRoot() - 4) / 2)
    expectEqual(statistics.medianBearingErrorDegreesSecondHalf, 22.5)
    expectEqual(statistics.finalError, 4)
    // Rank 0.95 · 2 = 1.9 among 0.3, 0.4, 4.
    expectEqual(statistics.percentile95Converged, 0.4 + 0.9 * 3.6)
    expectEqual(statistics.meanNormalizedNEES, (0.09 + 0.16 + 16) / 0.03 / 3)
    expectEqual(statistics.falselyConvergedShare, 1.0 / 3)
  }

  @Test(arguments: [
    (0.49, 0.01, 0.0), (0.51, 0.01, 1.0), (0.68, 0.2, 0.0), (0.69, 0.2, 1.0),
  ])
  func falseConvergenceNeedsBothBounds(error: Double, sigma: Double, share: Double) throws {
    var comparison = TruthComparison(isPlanar: false)
    comparison.add(sample(seconds: 3, estimate: Vector3(error, 0, -4), sigma: sigma))
    let statistics = comparison.statistics(secondHalfFrom: Self.middle)
    // 3.4 · 0.2 m = 0.68 m.
    #expect(statistics.falselyConvergedShare == share)
  }

  @Test func planarConsistencyIsThatOfTheHorizontalPart() throws {
    var comparison = TruthComparison(isPlanar: true)
    var exact = sample(seconds: 3, estimate: Vector3(0.2, 0, -4.1), sigma: 0.1)
    exact.covariance.yy = 0
    comparison.add(exact)
    let statistics = comparison.statistics(secondHalfFrom: Self.middle)
    // (0.04 + 0.01) / 0.01 / 2
    expectEqual(statistics.meanNormalizedNEES, 2.5)
  }

  @Test func peersAreToldApartAndTogether() throws {
    var comparison = TruthComparison(isPlanar: false)
    comparison.add(sample(seconds: 3, estimate: Vector3(0, 0, -5), peer: 0))
    comparison.add(sample(seconds: 3, estimate: Vector3(0, 0, -7), peer: 1))
    expectEqual(
      comparison.statistics(ofPeer: 1, secondHalfFrom: Self.middle).rmseSecondHalf, 3)
    let together = comparison.statistics(secondHalfFrom: Self.middle)
    expectEqual(together.rmseSecondHalf, 5.0.squareRoot())
    expectEqual(together.finalError, 5.0.squareRoot())
  }

  @Test func whatCannotBeComparedIsLeftOut() throws {
    var comparison = TruthComparison(isPlanar: false)
    comparison.add(sample(seconds: 3, estimate: Vector3(.nan, 0, 0)))
    var statistics = comparison.statistics(secondHalfFrom: Self.middle)
    #expect(statistics == ErrorStatistics())
    // No inverse, so no consistency; the error itself counts.
    comparison.add(sample(seconds: 3, estimate: Vector3(0, 0, -4.1), sigma: 0))
    statistics = comparison.statistics(secondHalfFrom: Self.middle)
    #expect(statistics.meanNormalizedNEES == nil)
    expectEqual(statistics.rmseConverged, 0.1)
  }

  @Test func missingValuesAreWrittenAsNull() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(ErrorStatistics()), as: UTF8.self)
    #expect(text.contains("\"rmseConverged\":null"))
    #expect(
      try JSONDecoder().decode(ErrorStatistics.self, from: Data(text.utf8)) == ErrorStatistics())
  }

  /// Errors are kept in single precision.
  private func expectEqual(
    _ value: Double?, _ expected: Double, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      abs((value ?? .nan) - expected) < 2e-6 * expected, "\(String(describing: value)) \(expected)",
      sourceLocation: sourceLocation)
  }
}
