// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@Suite("NumericJacobian")
struct NumericJacobianTests {
  @Test("a polynomial's Jacobian comes out")
  func polynomial() {
    let numeric = NumericJacobian(at: [2, -3]) { [$0[0] * $0[0] * $0[1], $0[1], 7] }
    #expect(numeric.mismatch(with: [[-12, 4], [0, 1], [0, 0]]) == nil)
  }

  @Test("the angles' gradients in the bound are right", arguments: 0..<64 as Range<UInt64>)
  func angleGradients(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var ray = generator.normalVector(sigma: 4)
    var distance = Vector3(ray.x, 0, ray.z).length
    if seed % 2 == 1 {
      // One millimetre from where azimuth has no gradient.
      ray = Vector3(0.6e-3, ray.y, -0.8e-3)
      distance = 1e-3
    }
    let numeric = NumericJacobian(
      at: [ray.x, ray.y, ray.z], distanceToSingularity: distance, angles: [0]
    ) {
      let angles = ArrivalAngles(ofDirection: Vector3($0[0], $0[1], $0[2]))
      return [angles.azimuthRadians, angles.elevationRadians]
    }
    let (a, e) = PosteriorBound.angleGradients(ray)
    let mismatch = numeric.mismatch(with: [[a.x, a.y, a.z], [e.x, e.y, e.z]])
    #expect(mismatch == nil, "seed \(seed)")
  }

  @Test("an angle that wraps between the two steps is no jump")
  func wrapping() {
    let numeric = NumericJacobian(at: [Double.pi], angles: [0]) { [$0[0].wrappedAngle] }
    #expect(numeric.mismatch(with: [[1]]) == nil)
  }

  @Test("a wrong entry is named with its row, column and both values")
  func wrongEntry() throws {
    let numeric = NumericJacobian(at: [1, 1]) { [$0[0], $0[0] + 2 * $0[1]] }
    let message = try #require(numeric.mismatch(with: [[1, 0], [1, 2.5]]))
    #expect(message.hasPrefix("row 1, column 1: analytic 2.5, numeric 2.0"))
  }

  @Test("matrices that are not finite or have the wrong shape never agree")
  func malformed() {
    let numeric = NumericJacobian(at: [1]) { [$0[0]] }
    #expect(numeric.mismatch(with: [[.nan]]) != nil)
    #expect(numeric.mismatch(with: [[1, 0]]) != nil)
    #expect(numeric.mismatch(with: []) != nil)
    let infinite = NumericJacobian(at: [0]) { [1 / max(0, $0[0])] }
    #expect(infinite.mismatch(with: [[1]]) != nil)
  }
}
