// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing
import simd

@testable import ARKit

struct SIMDTests {
  private func drawn(_ seed: UInt64) -> simd_float4x4 {
    var generator = SeededGenerator(seed: seed)
    return simd_float4x4(
      (0..<4).map { _ in
        simd_float4((0..<4).map { _ in Float(generator.normal()) })
      })
  }

  private func isClose(_ a: simd_float4x4, _ b: simd_float4x4, within limit: Float) -> Bool {
    (0..<4).allSatisfy { simd_length(a[$0] - b[$0]) < limit }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func anInverseUndoes(_ seed: UInt64) {
    let a = drawn(seed)
    #expect(isClose(a * a.inverse, matrix_identity_float4x4, within: 1e-3))
    #expect(isClose(simd_inverse(a) * a, matrix_identity_float4x4, within: 1e-3))
    let b = drawn(seed + 100)
    #expect(isClose((a * b).transpose, b.transpose * a.transpose, within: 1e-4))
    let product = simd_determinant(a) * b.determinant
    #expect(abs((a * b).determinant - product) <= 1e-3 * max(1, abs(product)))
    let v = simd_float4(1, -2, 3, 0.5)
    #expect(simd_length(simd_mul(a * b, v) - a * (b * v)) < 1e-4)
  }

  @Test func aSingularMatrixHasNoInverse() {
    #expect(simd_float4x4(0).inverse[0].x.isNaN)
    #expect(simd_float4x4(0).determinant == 0)
  }

  @Test func elementsAreWhereAppleHasThem() {
    var m = matrix_identity_float4x4
    m.columns.3 = simd_float4(1, 2, 3, 1)
    #expect(m[3] == m.columns.3)
    #expect(m[3, 1] == 2 && m[3][1] == 2)
    #expect(m * simd_float4(0, 0, 0, 1) == simd_float4(1, 2, 3, 1))
    #expect(simd_float4x4(rows: (0..<4).map { m.transpose[$0] }) == m)
    #expect(simd_float4x4(diagonal: simd_float4(repeating: 1)) == matrix_identity_float4x4)
    #expect(m != matrix_identity_float4x4)
  }

  @Test func vectorsAreMeasured() {
    let (x, y) = (simd_float3(3, 0, 4), simd_float3(0, 1, 0))
    #expect(simd_length(x) == 5)
    #expect(simd_normalize(x) == simd_float3(0.6, 0, 0.8))
    #expect(simd_dot(x, y) == 0)
    #expect(simd_cross(simd_float3(1, 0, 0), y) == simd_float3(0, 0, 1))
    #expect(simd_distance(x, simd_float3(3, 0, 0)) == 4)
    #expect(length(simd_double3(2, 3, 6)) == 7)
  }

  @Test func aRigidTransformKeepsItsPlaces() {
    let transform = RigidTransform(
      rotation: Rotation(angleRadians: 0.7, about: Vector3(1, 2, 3)),
      translation: Vector3(4, 5, 6))
    let p = transform.act(Vector3(1, -1, 2))
    let q = simd_float4x4(transform) * simd_float4(1, -1, 2, 1)
    #expect(simd_length(q - simd_float4(Float(p.x), Float(p.y), Float(p.z), 1)) < 1e-5)
  }

  @Test func eulerAnglesAreThoseOfTheirTurns() {
    let turn =
      Rotation(angleRadians: 0.4, about: Vector3(0, 1, 0))
      * Rotation(angleRadians: -0.3, about: Vector3(1, 0, 0))
      * Rotation(angleRadians: 0.2, about: Vector3(0, 0, 1))
    let camera = ARCamera(
      transform: simd_float4x4(RigidTransform(rotation: turn, translation: .zero)),
      trackingState: .normal)
    #expect(simd_distance(camera.eulerAngles, simd_float3(-0.3, 0.4, 0.2)) < 1e-5)
  }

  // MARK: All square matrices

  /// A matrix of drawn numbers.
  private func drawn<Matrix: SIMDSquareMatrix>(_: Matrix.Type, _ seed: UInt64) -> Matrix {
    var generator = SeededGenerator(seed: seed)
    var matrix = Matrix()
    for column in 0..<Matrix.Column.scalarCount {
      for row in 0..<Matrix.Column.scalarCount {
        matrix[column][row] = Matrix.Column.Scalar(generator.normal())
      }
    }
    return matrix
  }

  private func holdsTheRulesOfAlgebra<Matrix: SIMDSquareMatrix>(
    _ type: Matrix.Type, tolerance: Matrix.Column.Scalar
  ) {
    let one = Matrix(1)
    for seed in 1...5 as ClosedRange<UInt64> {
      let (a, b) = (drawn(type, seed), drawn(type, seed + 50))
      let v = a[0]
      #expect(simd_almost_equal_elements(simd_mul(a, a.inverse), one, tolerance))
      #expect(simd_almost_equal_elements((a + b) * a, a * a + b * a, tolerance))
      #expect(simd_almost_equal_elements((a - b).transpose, -(b - a).transpose, tolerance))
      #expect(simd_almost_equal_elements(2 * a, a + a, tolerance))
      #expect(simd_length(v * a - a.transpose * v) < tolerance)
      #expect(simd_length((a * b) * v - simd_mul(a, simd_mul(b, v))) < tolerance)
      #expect(Matrix(rows: (0..<Matrix.Column.scalarCount).map { a.transpose[$0] }) == a)
      #expect(!simd_almost_equal_elements(a, b, tolerance))
      var c = a
      c *= b
      c -= b
      c += b
      #expect(simd_almost_equal_elements(c, matrix_multiply(a, b), tolerance))
    }
    #expect(one * one == one && one.determinant == 1)
  }

  @Test func squareMatricesOfAllKinds() {
    holdsTheRulesOfAlgebra(simd_float2x2.self, tolerance: 1e-3)
    holdsTheRulesOfAlgebra(simd_float3x3.self, tolerance: 1e-3)
    holdsTheRulesOfAlgebra(simd_float4x4.self, tolerance: 1e-3)
    holdsTheRulesOfAlgebra(simd_double2x2.self, tolerance: 1e-9)
    holdsTheRulesOfAlgebra(simd_double3x3.self, tolerance: 1e-9)
    holdsTheRulesOfAlgebra(simd_double4x4.self, tolerance: 1e-9)
  }

  @Test func aColumnMayBeSetByNameAndByNumber() {
    var m = matrix_identity_float3x3
    m.columns.2 = simd_float3(7, 8, 9)
    #expect(m[2] == simd_float3(7, 8, 9))
    m[1] = simd_float3(4, 5, 6)
    m[0, 2] = 3
    #expect(m.columns.1.y == 5 && m.columns.0 == simd_float3(1, 0, 3))
    #expect(m == simd_matrix(m.columns.0, m.columns.1, m.columns.2))
  }

  // MARK: Components

  @Test func componentsAreChangedOneByOne() {
    let (a, b) = (simd_float3(-2, 0, 3), simd_float3(1, -1, 2))
    #expect(simd_min(a, b) == simd_float3(-2, -1, 2) && max(a, b) == simd_float3(1, 0, 3))
    #expect(simd_clamp(a, -simd_float3.one, simd_float3.one) == simd_float3(-1, 0, 1))
    #expect(simd_clamp(Float(1.5), -1, 1) == 1)
    #expect(abs(a) == simd_float3(2, 0, 3) && simd_sign(a) == simd_float3(-1, 0, 1))
    #expect(mix(a, b, t: 0.5) == (a + b) / 2 && simd_mix(2, 4, 0.25) == 2.5)
    #expect(simd_smoothstep(Float(0), 2, 1) == 0.5 && simd_smoothstep(0.0, 1, 7) == 1)
    #expect(simd_reduce_add(a) == 1 && simd_reduce_min(a) == -2 && simd_reduce_max(a) == 3)
    #expect(simd_project(a, simd_float3(2, 0, 0)) == simd_float3(-2, 0, 0))
    #expect(reflect(a, n: simd_float3(0, 0, 1)) == simd_float3(-2, 0, -3))
    #expect(simd_distance_squared(a, b) == 11 && length_squared(a) == 13)
  }
}
