// SPDX-License-Identifier: Apache-2.0
import NearbyReport
import Testing

@Suite("Ellipses")
struct CovarianceEllipseTests {
  /// R(φ) diag(a², b²) R(φ)ᵀ by hand: for 30° and (3, 1) it is [7, 2√3; 2√3, 3].
  @Test(arguments: [
    (4.0, 0.0, 1.0, 2.0, 1.0, 0.0), (1, 0, 4, 2, 1, 90),
    (7, 3.4641016151377544, 3, 3, 1, 30), (7, -3.4641016151377544, 3, 3, 1, -30),
    (3, 3.4641016151377544, 7, 3, 1, 60), (5, 4, 5, 3, 1, 45), (2.25, 0, 2.25, 1.5, 1.5, 0),
    (0, 0, 0, 0, 0, 0),
  ])
  func axesOfACovariance(
    xx: Double, xy: Double, yy: Double, major: Double, minor: Double, degrees: Double
  ) {
    let ellipse = CovarianceEllipse(xx: xx, xy: xy, yy: yy)
    #expect(abs(ellipse.major - major) < 1e-9)
    #expect(abs(ellipse.minor - minor) < 1e-7)
    #expect(abs(ellipse.angleRadians * 180 / .pi - degrees) < 1e-9)
  }

  @Test func whatRoundingMadeNegativeIsZero() {
    #expect(CovarianceEllipse(xx: 1, xy: 1 + 1e-15, yy: 1).minor == 0)
  }
}
