// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyFusion

/// The probability of a normal error against the system's `erfc`.
@Suite("Normal tail")
struct NormalTailTests {
  @Test("is half of erfc, to 6e-7 within three and to 1.2e-5 beyond")
  func accuracy() {
    for step in -40_000...40_000 {
      let x = Double(step) * 1e-4
      let error = abs(normalTail(beyond: x) - 0.5 * erfc(x))
      #expect(error < (abs(x) < 3 ? 6e-7 : 1.2e-5), "\(x)")
    }
  }

  @Test("is a probability, one half at zero, and falls")
  func shape() {
    #expect(normalTail(beyond: 0) == 0.5)
    #expect(normalTail(beyond: -.infinity) == 1)
    #expect(normalTail(beyond: .infinity) == 0)
    #expect(normalTail(beyond: .nan).isNaN)
    let values = stride(from: -4, through: 4, by: 0.01).map { normalTail(beyond: $0) }
    #expect(zip(values, values.dropFirst()).allSatisfy { $0 >= $1 })
  }
}
