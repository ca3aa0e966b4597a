// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// When two places differ by more than their errors.
@Suite("Difference of places")
struct PlaceDifferenceTests {
  @Test(
    "two places are more than half a metre and four sigmas apart, along the line between them",
    arguments: [
      // Metres east and up, sigma along each, and whether they are two places.
      (0.49, 0, 0.01, 0.01, false), (0.51, 0, 0.01, 0.01, true),
      (0.79, 0, 0.2, 0.01, false), (0.81, 0, 0.2, 0.01, true),
      // Unsure of the height alone: places beside each other are two, those above each other are not.
      (1, 0, 0.1, 1, true), (0, 1, 0.1, 1, false), (0, -4.1, 0.1, 1, true), (0, 0, 0.1, 0.1, false),
    ] as [(Double, Double, Double, Double, Bool)])
  func significance(
    east: Double, up: Double, sigmaEast: Double, sigmaUp: Double, isSignificant: Bool
  ) {
    let difference = PlaceDifference(
      offset: Vector3(east, up, 0),
      covariance: SymmetricMatrix3(
        xx: sigmaEast * sigmaEast, xy: 0, xz: 0, yy: sigmaUp * sigmaUp, yz: 0, zz: 0.01))
    #expect(difference.isSignificant == isSignificant)
  }
}
