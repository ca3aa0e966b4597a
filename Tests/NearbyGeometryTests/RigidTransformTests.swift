// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("RigidTransform")
struct RigidTransformTests {
  @Test("group laws", arguments: 0..<32 as Range<UInt64>)
  func groupLaws(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func transform(_ generator: inout SeededGenerator) -> RigidTransform {
      RigidTransform(
        rotation: generator.rotation(), translation: generator.normalVector(sigma: 10))
    }
    let (a, b) = (transform(&generator), transform(&generator))
    let point = generator.normalVector(sigma: 5)
    #expect(((a * b).act(point) - a.act(b.act(point))).length < 1e-13 * 50)
    #expect((a.inverse.act(a.act(point)) - point).length < 1e-13 * 50)
    #expect(((a * a.inverse).act(point) - point).length < 1e-13 * 50)
    #expect(((RigidTransform.identity * a).act(point) - a.act(point)).length < 1e-13 * 50)
  }

  @Test("a point by hand: a quarter turn about y, then a step")
  func byHand() {
    // y up: the turn takes -z (ahead) to -x (left).
    let transform = RigidTransform(
      rotation: Rotation(angleRadians: .pi / 2, about: Vector3(0, 1, 0)),
      translation: Vector3(10, 1, 0))
    #expect((transform.act(Vector3(0, 0.5, -2)) - Vector3(8, 1.5, 0)).length < 1e-14)
  }

  @Test("interpolation moves straight and turns evenly, and extrapolates")
  func interpolation() {
    let a = RigidTransform(rotation: .identity, translation: Vector3(1, 2, 3))
    let b = RigidTransform(
      rotation: Rotation(angleRadians: 0.8, about: Vector3(0, 1, 0)), translation: Vector3(3, 2, 1))
    for fraction in [0, 0.25, 1, 1.5] {
      let between = a.interpolated(to: b, fraction: fraction)
      let place = Vector3(1 + 2 * fraction, 2, 3 - 2 * fraction)
      #expect((between.translation - place).length < 1e-14)
      #expect(abs(between.rotation.angle(to: .identity) - 0.8 * fraction) < 1e-13)
    }
  }
}
