import NearbyReport
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Thinning")
struct RowThinningTests {
  /// A slow wave with a spike up and one down, at rows that regular sampling would miss.
  private static let wave: [Double] = {
    var wave = (0..<10_000).map { Double(($0 * 37) % 101) / 100 }
    wave[3_333] = 50
    wave[7_777] = -40
    return wave
  }()

  @Test(arguments: [2, 10, 100, 999])
  func extremesStay(budget: Int) {
    let rows = RowThinning(count: Self.wave.count, series: [Self.wave]).rows(
      atMost: max(4, budget))
    #expect(rows.count <= max(4, budget))
    #expect(rows.first == 0)
    #expect(rows.last == 9_999)
    #expect(rows.contains(3_333))
    #expect(rows.contains(7_777))
    #expect(rows == rows.sorted())
  }

  @Test func eachStretchKeepsItsOwnExtremes() {
    let rows = RowThinning(count: Self.wave.count, series: [Self.wave]).rows(atMost: 1000)
    // The finest cut within the budget is nearly as fine as the budget allows.
    #expect(rows.count > 900)
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $1 - $0 < 60 })
  }

  @Test func everySeriesCounts() {
    let mirrored = Self.wave.reversed().map { $0 * 2 }
    let rows = RowThinning(count: Self.wave.count, series: [Self.wave, Array(mirrored)])
      .rows(atMost: 200)
    for row in [3_333, 7_777, 9_999 - 3_333, 9_999 - 7_777] { #expect(rows.contains(row)) }
  }

  @Test func whatIsMissingIsNoExtreme() {
    var holed = Self.wave
    for row in 0..<5_000 { holed[row] = .nan }
    let rows = RowThinning(count: holed.count, series: [holed]).rows(atMost: 100)
    #expect(rows.contains(7_777))
    #expect(rows.first == 0)
    #expect(rows.filter { $0 < 5_000 }.count == 1)
  }

  @Test func aShortTableStaysWhole() {
    #expect(RowThinning(count: 3, series: [[1, 1, 1]]).rows(atMost: 3) == [0, 1, 2])
    #expect(RowThinning(count: 0, series: []).rows(atMost: 3).isEmpty)
  }

  @Test func withoutSeriesRowsAreSpreadEvenly() {
    let rows = RowThinning(count: 1000, series: []).rows(atMost: 11)
    #expect(rows.count <= 11)
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $1 - $0 <= 101 })
  }
}
