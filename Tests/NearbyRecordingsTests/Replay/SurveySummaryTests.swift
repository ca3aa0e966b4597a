// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyRecordings
import Testing

@Suite("Survey summary")
struct SurveySummaryTests {
  private static let names = ["door", "desk", "shelf"]

  @Test func aRightMapIsNotSpokenOf() {
    let summary = SurveySummary(.confirmed([]), names: Self.names)
    #expect(summary.verdict == "confirmed" && summary.faults.isEmpty && summary.lines.isEmpty)
    #expect(SurveySummary(.plausible([]), names: Self.names).lines.isEmpty)
  }

  @Test func eachFaultIsASentenceWithItsAnchors() {
    let summary = SurveySummary(
      .confirmed([.exchanged(0, 2), .scaled(by: 1.104)]), names: Self.names)
    #expect(
      summary.lines == [
        "The map is wrong, and was corrected: door and shelf fit when they are exchanged.",
        "The map is wrong, and was corrected: its distances are 1.10 times what the measurements say.",
      ])
  }

  @Test func whatIsNotUsedIsSaid() {
    let contradicted = SurveySummary(.contradicted([.displaced(1)]), names: Self.names)
    #expect(contradicted.lines[0].contains("was not used"))
    #expect(contradicted.lines[1] == "desk is not where the map has it.")
    #expect(SurveySummary(.untested, names: Self.names).lines[0].contains("was not used"))
  }
}
