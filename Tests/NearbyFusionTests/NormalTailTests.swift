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
      let tails = normalTails(beyond: SIMD2(x, -x))
      let most = abs(x) < 3 ? 6e-7 : 1.2e-5
      #expect(abs(tails.x - 0.5 * erfc(x)) < most, "\(x)")
      #expect(abs(tails.y - 0.5 * erfc(-x)) < most, "\(-x)")
    }
  }

  @Test("is a probability, one half at zero, and falls")
  func shape() {
    #expect(normalTails(beyond: SIMD2(0, .infinity)) == SIMD2(0.5, 0))
    #expect(normalTails(beyond: SIMD2(-.infinity, 0)) == SIMD2(1, 0.5))
    #expect(normalTails(beyond: SIMD2(.nan, 0)).x.isNaN)
    let values = stride(from: -4, through: 4, by: 0.01).map { normalTails(beyond: SIMD2($0, 0)).x }
    #expect(zip(values, values.dropFirst()).allSatisfy { $0 >= $1 })
  }
}
