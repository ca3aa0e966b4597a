// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing
import simd

/// Quaternions against the engine's own rotations, which have tests of their own.
struct QuaternionTests {
  private struct Turn {
    var angle: Double
    var axis: Vector3
    var rotation: Rotation { Rotation(angleRadians: angle, about: axis) }
    var quaternion: simd_quatd {
      simd_quatd(angle: angle, axis: simd_normalize(simd_double3(axis.x, axis.y, axis.z)))
    }

    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      angle = 3 * generator.normal()
      axis = Vector3(generator.normal(), generator.normal(), generator.normal())
    }
  }

  private func isClose(_ a: simd_double3, _ b: Vector3) -> Bool {
    simd_distance(a, simd_double3(b.x, b.y, b.z)) < 1e-9
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func aTurnIsThatOfTheEngine(_ seed: UInt64) {
    let (a, b) = (Turn(seed: seed), Turn(seed: seed + 1000))
    let v = Vector3(1, -2, 0.5)
    let w = simd_double3(1, -2, 0.5)
    #expect(isClose(a.quaternion.act(w), a.rotation.act(v)))
    #expect(isClose((a.quaternion * b.quaternion).act(w), a.rotation.act(b.rotation.act(v))))
    #expect(isClose(simd_act(a.quaternion.inverse, a.quaternion.act(w)), v))
    #expect(isClose(simd_double3x3(a.quaternion) * w, a.rotation.act(v)))
    // Through a matrix and back gives the same rotation, except for the sign.
    let back = simd_quatd(simd_double4x4(a.quaternion))
    #expect(abs(abs(simd_dot(back, a.quaternion)) - 1) < 1e-12)
    #expect(isClose(back.act(w), a.rotation.act(v)))
    #expect(abs(a.quaternion.length - 1) < 1e-12)
    #expect(isClose(simd_quatd(angle: back.angle, axis: back.axis).act(w), a.rotation.act(v)))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func theShortestTurnLeadsThere(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func direction() -> simd_float3 {
      simd_normalize(simd_float3((0..<3).map { _ in Float(generator.normal()) }))
    }
    let (from, to) = (direction(), direction())
    let turn = simd_quatf(from: from, to: to)
    #expect(simd_distance(turn.act(from), to) < 1e-5)
    #expect(abs(cos(turn.angle) - simd_dot(from, to)) < 1e-4)
    #expect(simd_distance(simd_quatf(from: from, to: -from).act(from), -from) < 1e-5)
    #expect(simd_distance(simd_quatf(from: from, to: from).act(to), to) < 1e-5)
  }

  @Test(arguments: [0, 0.25, 0.5, 1] as [Float], [false, true])
  func theWayBetweenTwoTurnsIsEven(_ share: Float, isFlipped: Bool) {
    let axis = simd_normalize(simd_float3(1, 2, -1))
    let (a, b) = (simd_quatf(angle: 0.4, axis: axis), simd_quatf(angle: 1.6, axis: axis))
    let between = simd_slerp(a, isFlipped ? -b : b, share)
    let expected = simd_quatf(angle: 0.4 + 1.2 * share, axis: axis)
    #expect(simd_length((between - expected).vector) < 1e-5)
  }

  @Test func partsAreWhereAppleHasThem() {
    let q = simd_quatf(ix: 1, iy: 2, iz: 3, r: 4)
    #expect(q.vector == simd_float4(1, 2, 3, 4) && q.real == 4 && q.imag == simd_float3(1, 2, 3))
    #expect(q == simd_quatf(real: 4, imag: simd_float3(1, 2, 3)))
    #expect(q == simd_quaternion(1, 2, 3, 4) && simd_conjugate(q).vector.x == -1)
    let turn = simd_quatf(angle: .pi / 2, axis: simd_float3(0, 1, 0))
    #expect(simd_distance(turn.act(simd_float3(0, 0, -1)), simd_float3(-1, 0, 0)) < 1e-6)
    #expect(simd_matrix4x4(turn).columns.3 == simd_float4(0, 0, 0, 1))
    #expect((2 * turn).normalized == turn)
  }
}
