// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import nearby

@Suite("Text for people")
struct TextTests {
  @Test func progressSaysHowFarHowFastAndHowLong() {
    #expect(
      ProgressLine.text(fraction: 0.25, samples: 5000, seconds: 2)
        == "25 %  2500 samples/s  6 s left")
    #expect(
      ProgressLine.text(fraction: 0, samples: 0, seconds: 1) == "0 %  0 samples/s",
      "no guess from nothing")
  }

  @Test(arguments: [
    (0.0, 2, "0.00"), (1.005, 1, "1.0"), (-0.004, 2, "0.00"), (-2.345, 2, "-2.35"),
    (99.96, 1, "100.0"), (12.5, 0, "13"), (.infinity, 2, "inf"),
  ])
  func decimalsAreFixed(number: Double, decimals: Int, text: String) {
    #expect(number.text(decimals: decimals) == text)
  }

  @Test func columnsAreAsWideAsTheyNeedToBe() {
    var table = TextTable(header: ["peer", "m"])
    table.add(["a", "12.5"])
    #expect(table.lines == ["peer     m", "a     12.5"])
  }
}
