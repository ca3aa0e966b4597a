// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import NearbySimulation
import Testing

@testable import NearbyEvaluation

@Suite("Figure")
struct FigureTests {
  private func sum(_ values: [Double]) -> RunRecord.Sum {
    var sum = RunRecord.Sum()
    for value in values { sum.add(value) }
    return sum
  }

  @Test("mean and standard error over runs of unequal length")
  func handComputed() throws {
    // Runs [1, 3], [5] and an empty one: mean 3 over 3 moments. Deviations of the runs' totals:
    // 4 - 2 · 3 = -2 and 5 - 3 = 2; √(2 / 1 · (4 + 4)) / 3 = 4/3.
    let figure = try #require(Figure([sum([1, 3]), sum([5]), sum([])]))
    #expect(figure.value == 3)
    #expect(figure.runs == 2)
    #expect(abs(try #require(figure.standardError) - 4.0 / 3) < 1e-12)
    #expect((figure / 3).value == 1)
    #expect(abs(try #require((figure / 3).standardError) - 4.0 / 9) < 1e-12)
  }

  @Test("without moments there is no figure, from one run no standard error")
  func few() {
    #expect(Figure([sum([])]) == nil)
    #expect(Figure([sum([2, 4])])?.value == 3)
    #expect(Figure([sum([2, 4])])?.standardError == nil)
  }

  @Test("moments that are copies of each other count as one: the error is that of the runs")
  func correlated() throws {
    // 100 runs of 50 equal moments: the standard error is that of 100 draws, not of 5000.
    var generator = SeededGenerator(seed: 4)
    let runs = (0..<100).map { _ in sum(Array(repeating: generator.normal(), count: 50)) }
    let error = try #require(Figure(runs)?.standardError)
    // 1 / √100, itself known to 7 %.
    #expect((0.08...0.12).contains(error))
  }

  @Test("an infinite value is written as null")
  func infinite() throws {
    let figure = try #require(Figure([sum([.infinity]), sum([1])]))
    let text = CanonicalJSON.text(of: figure)
    #expect(text.contains("\"value\" : null"))
  }

  @Test("quantiles of ascending numbers", arguments: [(0.0, 1.0), (0.5, 3), (0.9, 4), (1, 4)])
  func quantiles(share: Double, value: Double) {
    #expect([1.0, 2, 3, 4].quantile(share) == value)
    #expect([Double]().quantile(share) == nil)
  }
}
