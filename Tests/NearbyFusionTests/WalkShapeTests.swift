// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// The plane or the line that a walk spans, and the check of a place across it.
@Suite("Weak directions of walks")
struct WalkShapeTests {
  /// Places within a rectangle of a plane, and so far from it.
  private func walk(
    normal: Vector3, length: Double, width: Double, bob: Double, isAlone: Bool = false
  ) -> WalkShape {
    var draws = SeededGenerator(seed: 7)
    let along = normal.cross(Vector3(0.3, 0.2, 0.9)).normalized
    let across = normal.cross(along)
    let places = (0..<400).map { _ in
      draws.uniform(in: -length...length) * along + draws.uniform(in: -width...width) * across
        + draws.uniform(in: -bob...bob) * normal
    }
    return WalkShape(of: places, isAlone: isAlone)
  }

  @Test(
    "a walk in a plane leaves the direction across it, however the plane is tilted",
    arguments: [Vector3(0, 1, 0), Vector3(0.1, 0.99, 0.05), Vector3(1, 0.2, 0)])
  func plane(normal: Vector3) throws {
    let unit = normal.normalized
    let shape = walk(normal: unit, length: 6, width: 4, bob: 0.05)
    let directions = shape.weakDirections
    let direction = try #require(directions.first)
    #expect(directions.count == 1 && shape.isFlat && !shape.isLine)
    #expect(abs(direction.dot(unit)) > 0.999)
    #expect(shape.hides(unit) && !shape.hides(unit.cross(Vector3(0, 0, 1)).normalized))
  }

  @Test("a walk along a line leaves the two directions around it")
  func line() {
    let shape = walk(normal: Vector3(0, 1, 0), length: 6, width: 0.1, bob: 0.05)
    #expect(shape.weakDirections.count == 2 && shape.isLine)
  }

  @Test("a walk through space leaves none")
  func space() {
    let shape = walk(normal: Vector3(0, 1, 0), length: 6, width: 4, bob: 0.6)
    #expect(!shape.isFlat && shape.weakDirections.isEmpty)
  }

  @Test("a peer that is alone must be seen from further above and below")
  func alone() {
    // A deviation of 0.225 m.
    let bob = 0.39
    let normal = Vector3(0, 1, 0)
    #expect(!walk(normal: normal, length: 6, width: 4, bob: bob).isFlat)
    #expect(walk(normal: normal, length: 6, width: 4, bob: bob, isAlone: true).isFlat)
    #expect(!walk(normal: normal, length: 6, width: 4, bob: 0.5, isAlone: true).isFlat)
  }

  @Test("a place is verified after three examinations in a row, and again when it is much surer")
  func check() {
    var check = DirectionCheck()
    let up = Vector3(0, 1, 0)
    #expect(check.urgency(along: up, at: 5, walk: 5, variance: 1) >= 1)
    check.add(widening: 1, rival: nil, along: up, at: 7, variance: 1)
    #expect(check.verdict(with: 1) == .unverified)
    #expect(check.urgency(along: up, at: 7.2, walk: 7, variance: 1) < 1)
    check.add(widening: 1, rival: nil, along: up, at: 7.5, variance: 0.7)
    #expect(check.verdict(with: 0.7) == .unverified)
    check.add(widening: 1.5, rival: nil, along: up, at: 8, variance: 0.5)
    #expect(check.verdict(with: 0.5) == .verified && check.widening == 1.5)
    #expect(check.verdict(with: 0.2) == .unverified)
    #expect(check.urgency(along: up, at: 10, walk: 20, variance: 0.4) < 1)
    #expect(check.urgency(along: up, at: 12, walk: 20, variance: 0.4) >= 1, "after a longer walk")
    #expect(check.urgency(along: up, at: 10, walk: 20, variance: 0.3) >= 1, "much surer")
    check.add(widening: nil, rival: nil, along: up, at: 20, variance: 0.3)
    #expect(check.verdict(with: 0.3) == .unverified && check.widening == 1)
    #expect(check.urgency(along: up, at: 20.5, walk: 20, variance: 0.3) < 1)
    #expect(check.urgency(along: up, at: 21, walk: 20, variance: 0.3) >= 1)
    check.restart(at: 30)
    #expect(check.urgency(along: up, at: 30.1, walk: 30, variance: 1) < 1)
  }

  @Test("what was found along one direction says nothing of another")
  func otherDirection() {
    var check = DirectionCheck()
    let (up, aside) = (Vector3(0, 1, 0), Vector3(1, 0, 0))
    for path in [1.0, 2, 3] {
      check.add(widening: 1, rival: nil, along: up, at: path, variance: 1)
    }
    #expect(check.verdict(with: 1) == .verified)
    #expect(check.urgency(along: aside, at: 3.1, walk: 3, variance: 1) >= 1)
    check.add(widening: 1, rival: nil, along: aside, at: 3.1, variance: 1)
    #expect(check.verdict(with: 1) == .unverified)
  }

  @Test("a place is contested until an examination finds no rival")
  func contested() {
    var check = DirectionCheck()
    let up = Vector3(0, 1, 0)
    check.add(widening: nil, rival: -4, along: up, at: 1, variance: 1)
    #expect(check.verdict(with: 1) == .contested)
    check.add(widening: nil, rival: nil, along: up, at: 2, variance: 1)
    #expect(check.verdict(with: 1) == .unverified, "it may be flat")
    check.add(widening: nil, rival: -5, along: up, at: 3, variance: 1)
    #expect(check.verdict(with: 1) == .unverified, "it has less than 1 %")
    check.restart(at: 5)
    #expect(check.verdict(with: 1) == .contested)
  }

  @Test("a mode mirrored twice is itself, and widened it is wider along the direction alone")
  func mirror() {
    var mode = JointPosterior.Mode(
      logWeight: 0, mean: [1, 2, 3, 0.01, 0.1], covariance: InlineArray(repeating: 0))
    for row in 0..<5 {
      for column in 0...row {
        mode.covariance[StateIndex.packed(column, row)] =
          (row == column ? 1.0 : 0.1) * Double(1 + row) * Double(1 + column)
      }
    }
    let n = Vector3(0.2, 0.9, 0.3).normalized
    let none = InlineArray<5, Double>(repeating: 0)
    let twice = mode.mirrored(along: [n], by: none, logWeight: 0)
      .mirrored(along: [n], by: none, logWeight: 0)
    let once = mode.mirrored(along: [n], by: none, logWeight: -1)
    #expect(once.logWeight == -1)
    // Half a turn around a line is one mirror image after the other.
    let m = n.cross(Vector3(0, 0, 1)).normalized
    let half = mode.mirrored(along: [n, m], by: none, logWeight: 0)
    let inTurn = mode.mirrored(along: [n], by: none, logWeight: 0)
      .mirrored(along: [m], by: none, logWeight: 0)
    for element in 0..<15 {
      #expect(abs(half.covariance[element] - inTurn.covariance[element]) < 1e-12)
    }
    let before = mode.positionCovariance
    #expect(abs(once.positionCovariance.quadraticForm(n) - before.quadraticForm(n)) < 1e-12)
    for element in 0..<15 {
      #expect(abs(twice.covariance[element] - mode.covariance[element]) < 1e-12)
    }
    var wide = mode
    wide.widen(along: n, by: 2)
    #expect(abs(wide.positionCovariance.quadraticForm(n) - 2 * before.quadraticForm(n)) < 1e-12)
  }
}
