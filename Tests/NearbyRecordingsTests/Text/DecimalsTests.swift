// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

@Suite("Numbers in C's formats")
struct DecimalsTests {
  private static let numbers: [Double] = [
    0, -0.0, 0.0005, 0.0015, 2.5, -1.0005, 999.9996, 123_456.75, 1e-7, -1e22, 0.1 + 0.2, .pi * 1e9,
    .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, .nan,
  ]

  @Test("they are those of Foundation's formats", arguments: numbers)
  func sameAsFoundation(number: Double) {
    for digits in [0, 1, 3, 6, 17] {
      #expect(number.fixed(decimals: digits) == String(format: "%.\(digits)f", number))
      #expect(number.significant(digits: digits) == String(format: "%.\(digits)g", number))
    }
  }

  @Test("a count of digits that makes no sense is no trap")
  func digits() {
    #expect(1.5.fixed(decimals: -4) == "2")
    #expect(Double.greatestFiniteMagnitude.fixed(decimals: .max).utf8.count == 309 + 1 + 99)
  }
}
