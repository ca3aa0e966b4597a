// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyFusion

/// The greater of two numbers against the standard library's.
@Suite("Maximum")
struct MaximumTests {
  private static let numbers = [
    -Double.infinity, -1e300, -1, -Double.leastNonzeroMagnitude, -0.0, 0,
    .leastNonzeroMagnitude, 1, 1e300, .infinity, .nan,
  ]

  @Test("is the standard library's, of what is not a number too", arguments: numbers, numbers)
  func sameAsStandard(x: Double, y: Double) {
    let (ours, standard) = (NearbyFusion.max(x, y), Swift.max(x, y))
    #expect(ours == standard || ours.isNaN && standard.isNaN)
  }

  @Test("of two zeros is the first")
  func zeros() {
    #expect(NearbyFusion.max(-0.0, 0).sign == .minus)
    #expect(NearbyFusion.max(0, -0.0).sign == .plus)
  }
}
