// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyRecordings

@Suite("Numbered names")
struct NumberedNamesTests {
  @Test("parts of a log come in the order of their numbers")
  func parts() {
    let names = (0..<120).map { "bag_\($0).db3" }
    #expect(names.sorted() != names)
    #expect(names.reversed().sortedByNumbers == names)
  }

  @Test("other names come in the order of their characters, and numbers may have any length")
  func others() {
    let long = String(repeating: "9", count: 60)
    let names = ["a", "a1b2", "a1b10", "a2", "a02b", "a\(long)", "a1\(long)", "b", "é"]
    #expect(names.shuffled().sortedByNumbers == names)
  }

  @Test("names that differ in zeros before a number keep one order")
  func zeros() {
    #expect(["a01", "a1", "a001"].sortedByNumbers == ["a001", "a01", "a1"])
  }
}
