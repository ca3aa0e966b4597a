// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Rotation")
struct RotationTests {
  static let seeds = 0..<64 as Range<UInt64>

  @Test("group laws", arguments: seeds)
  func groupLaws(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let (a, b, c) = (generator.rotation(), generator.rotation(), generator.rotation())
    let v = generator.normalVector()
    #expect((a * b * c).angle(to: a * (b * c)) < 1e-14)
    #expect((a * .identity).angle(to: a) < 1e-15)
    #expect((a * a.inverse).angle(to: .identity) < 1e-15)
    #expect((a * b).inverse.angle(to: b.inverse * a.inverse) < 1e-14)
    #expect(((a * b).act(v) - a.act(b.act(v))).length < 1e-14 * (1 + v.length))
    #expect((a.inverse.act(a.act(v)) - v).length < 1e-14 * (1 + v.length))
  }

  @Test("rotations keep lengths, angles and handedness", arguments: seeds)
  func isometry(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let rotation = generator.rotation()
    let (v, w) = (generator.normalVector(), generator.normalVector())
    let (rv, rw) = (rotation.act(v), rotation.act(w))
    #expect(abs(rv.dot(rw) - v.dot(w)) < 1e-13)
    #expect((rv.cross(rw) - rotation.act(v.cross(w))).length < 1e-13)
  }

  @Test("the three axes are the images of the unit vectors", arguments: seeds)
  func axes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let rotation = generator.rotation()
    #expect((rotation.xAxis - rotation.act(Vector3(1, 0, 0))).length < 1e-15)
    #expect((rotation.yAxis - rotation.act(Vector3(0, 1, 0))).length < 1e-15)
    #expect((rotation.zAxis - rotation.act(Vector3(0, 0, 1))).length < 1e-15)
  }

  @Test("a quarter turn about z takes x to y")
  func quarterTurn() {
    let turn = Rotation(angleRadians: .pi / 2, about: Vector3(0, 0, 5))
    #expect((turn.act(Vector3(1, 0, 0)) - Vector3(0, 1, 0)).length < 1e-15)
    #expect((turn.act(Vector3(0, 1, 0)) - Vector3(-1, 0, 0)).length < 1e-15)
    #expect(abs(turn.z - 0.5.squareRoot()) < 1e-15)
    #expect(abs(turn.w - 0.5.squareRoot()) < 1e-15)
    #expect(Rotation(angleRadians: 1, about: .zero) == .identity)
  }

  @Test("the angle of a turn comes back", arguments: [0, 1e-9, 1e-4, 1, 3, .pi - 1e-9, .pi])
  func angle(angle: Double) {
    let turn = Rotation(angleRadians: angle, about: Vector3(1, 2, -3))
    #expect(abs(turn.angle(to: .identity) - angle) < 1e-15 * 4)
    #expect(abs(Rotation.identity.angle(to: turn) - angle) < 1e-15 * 4)
  }

  @Test("the cosine of half the angle is that of the angle", arguments: seeds)
  func halfCosine(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let (a, b) = (generator.rotation(), generator.rotation())
    let cosine = cos(0.5 * a.angle(to: b))
    #expect(abs(a.squaredHalfCosine(to: b) - cosine * cosine) < 1e-14)
    #expect(abs(a.squaredHalfCosine(to: a) - 1) < 1e-14)
  }

  @Test(
    "the angle comes back from the cosine of its half, but for that one's rounding",
    arguments: [0, 1e-9, 1e-6, 1e-4, 0.02, 0.0632, 0.0633, 1, 3, .pi])
  func angleOfHalfCosine(angle: Double) {
    let cosine = cos(angle / 2)
    let found = Rotation.angle(ofSquaredHalfCosine: cosine * cosine)
    #expect(abs(found - angle) <= min(5e-8, 2e-15 / angle) + 2e-14)
    // Rounding may give a cosine above one.
    #expect(Rotation.angle(ofSquaredHalfCosine: 1 + 1e-15) == 0)
  }

  @Test("a turn of more than half a circle is the shorter one the other way")
  func longTurn() {
    let turn = Rotation(angleRadians: 2 * .pi - 0.5, about: Vector3(0, 1, 0))
    #expect(abs(turn.angle(to: .identity) - 0.5) < 1e-14)
    #expect(turn.angle(to: Rotation(angleRadians: -0.5, about: Vector3(0, 1, 0))) < 1e-14)
  }

  @Test("a matrix there and back", arguments: seeds)
  func matrixRoundTrip(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let axis = generator.normalVector()
    let tiny = generator.uniform(in: -1e-7...1e-7)
    for rotation in [
      generator.rotation(), Rotation(angleRadians: .pi + tiny, about: axis),
      Rotation(angleRadians: tiny, about: axis),
    ] {
      let back = Rotation(xAxis: rotation.xAxis, yAxis: rotation.yAxis, zAxis: rotation.zAxis)
      #expect(back.angle(to: rotation) < 1e-14, "seed \(seed)")
    }
  }

  @Test(
    "half turns about each axis and each diagonal come back from their matrices",
    arguments: [
      Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1), Vector3(1, 1, 0), Vector3(0, 1, 1),
      Vector3(1, 0, 1), Vector3(1, 1, 1), Vector3(-1, 1, 1),
    ])
  func halfTurns(axis: Vector3) {
    let turn = Rotation(angleRadians: .pi, about: axis)
    let back = Rotation(xAxis: turn.xAxis, yAxis: turn.yAxis, zAxis: turn.zAxis)
    #expect(back.angle(to: turn) < 1e-14)
    #expect(back.x.isFinite && back.y.isFinite && back.z.isFinite && back.w.isFinite)
  }

  @Test("normalising takes any length, and refuses what has no direction")
  func normalizing() throws {
    let rotation = try #require(Rotation(normalizing: 0, 0, 30, 40))
    #expect(rotation.z == 0.6)
    #expect(rotation.w == 0.8)
    #expect(Rotation(normalizing: 0, 0, 0, 0) == nil)
    #expect(Rotation(normalizing: 1e-10, 0, 0, 0) == nil)
    #expect(Rotation(normalizing: .nan, 0, 0, 1) == nil)
    #expect(Rotation(normalizing: 0, .infinity, 0, 1) == nil)
    #expect(Rotation(normalizing: 0, 0, 0, -.infinity) == nil)
  }

  @Test("a million products leave a unit quaternion")
  func longChain() {
    let step = Rotation(angleRadians: 0.1, about: Vector3(1, 2, 3))
    var chain = Rotation.identity
    for _ in 0..<1_000_000 { chain = chain * step }
    let square = chain.x * chain.x + chain.y * chain.y + chain.z * chain.z + chain.w * chain.w
    #expect(abs(square - 1) < 1e-15 * 4)
  }

  @Test("interpolation is a turn at constant rate", arguments: seeds)
  func interpolation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let start = generator.rotation()
    let axis = generator.normalVector()
    let angle = generator.uniform(in: 0.11...3.1)
    let end = start * Rotation(angleRadians: angle, about: axis)
    for fraction in [0, 0.2, 0.5, 0.9, 1, 1.1, -0.2] {
      let expected = start * Rotation(angleRadians: fraction * angle, about: axis)
      #expect(start.interpolated(to: end, fraction: fraction).angle(to: expected) < 1e-13)
    }
  }

  @Test("the short cut for small arcs differs from the arc by less than 1e-6 rad, as promised")
  func smallArcs() {
    var worst = 0.0
    for angle in [1e-12, 1e-6, 0.01, 0.05, 0.08, 0.0999] {
      let end = Rotation(angleRadians: angle, about: Vector3(1, -1, 2))
      for fraction in stride(from: 0, through: 1, by: 0.02) {
        let expected = Rotation(angleRadians: fraction * angle, about: Vector3(1, -1, 2))
        let turned = Rotation.identity.interpolated(to: end, fraction: fraction)
        worst = max(worst, turned.angle(to: expected))
        #expect(abs(turned.squaredNorm - 1) < 4e-15)
      }
    }
    #expect(worst < 1e-6)
  }

  @Test("extrapolation of a small arc continues at its rate", arguments: seeds)
  func smallArcsExtrapolated(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let start = generator.rotation()
    let axis = generator.normalVector()
    for angle in [1e-9, 1e-4, 0.01, 0.02, 0.06] {
      let end = start * Rotation(angleRadians: angle, about: axis)
      let negated = try #require(Rotation(normalizing: -end.x, -end.y, -end.z, -end.w))
      for fraction in [-3, -0.2, 1.01, 1.3, 1.9, 3, 6] {
        let expected = start * Rotation(angleRadians: fraction * angle, about: axis)
        let turned = start.interpolated(to: end, fraction: fraction)
        #expect(turned.angle(to: expected) < 2e-12)
        #expect(turned.angle(to: start.interpolated(to: negated, fraction: fraction)) < 1e-14)
        #expect(abs(turned.squaredNorm - 1) < 4e-15)
      }
    }
  }

  @Test("interpolation takes the shorter arc whatever the quaternion's sign", arguments: seeds)
  func shorterArc(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (a, b) = (generator.rotation(), generator.rotation())
    let negated = try #require(Rotation(normalizing: -b.x, -b.y, -b.z, -b.w))
    let half = a.interpolated(to: b, fraction: 0.5)
    #expect(half.angle(to: a.interpolated(to: negated, fraction: 0.5)) < 1e-7)
    #expect(abs(half.angle(to: a) - a.angle(to: b) / 2) < 1e-7)
  }

  @Test("extrapolating from equal rotations stays there")
  func equalRotations() {
    let rotation = Rotation(angleRadians: 1, about: Vector3(0, 1, 0))
    #expect(rotation.interpolated(to: rotation, fraction: 3).angle(to: rotation) < 1e-15)
    #expect(rotation.interpolated(to: rotation, fraction: 0.5).angle(to: rotation) < 1e-15)
  }
}
