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
}
