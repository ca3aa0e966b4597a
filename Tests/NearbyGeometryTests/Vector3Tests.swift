// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Vector3")
struct Vector3Tests {
  @Test("operators work component by component")
  func operators() {
    let a = Vector3(1, -2, 3)
    let b = Vector3(4, 5, -6)
    #expect(a + b == Vector3(5, 3, -3))
    #expect(a - b == Vector3(-3, -7, 9))
    #expect(-a == Vector3(-1, 2, -3))
    #expect(a * 2 == Vector3(2, -4, 6))
    #expect(2 * a == a * 2)
    #expect(b / 2 == Vector3(2, 2.5, -3))
    var sum = a
    sum += b
    #expect(sum == a + b)
    sum -= b
    #expect(sum == a)
  }

  @Test("products by hand")
  func products() {
    let a = Vector3(1, -2, 3)
    let b = Vector3(4, 5, -6)
    // 4 - 10 - 18, and (12 - 15, 12 + 6, 5 + 8).
    #expect(a.dot(b) == -24)
    #expect(a.cross(b) == Vector3(-3, 18, 13))
    #expect(Vector3(1, 0, 0).cross(Vector3(0, 1, 0)) == Vector3(0, 0, 1))
    #expect(Vector3(2, 3, 6).length == 7)
  }

  @Test("the vector product is perpendicular and has the right length", arguments: 0..<32)
  func crossProperties(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let a = generator.normalVector()
    let b = generator.normalVector()
    let c = a.cross(b)
    #expect(abs(c.dot(a)) < 1e-14)
    #expect(abs(c.dot(b)) < 1e-14)
    // Lagrange: |a × b|² = |a|² |b|² - (a · b)².
    let expected = a.dot(a) * b.dot(b) - a.dot(b) * a.dot(b)
    #expect(abs(c.dot(c) - expected) < 1e-13 * (1 + expected))
  }

  @Test("normalising keeps the direction, and zero stays zero")
  func normalizing() {
    #expect(Vector3(0, 3, -4).normalized == Vector3(0, 0.6, -0.8))
    #expect(Vector3.zero.normalized == .zero)
    #expect(abs(Vector3(1e-150, 1e-150, 0).normalized.length - 1) < 1e-12)
    #expect(abs(Vector3(1e149, 1e149, 1e149).normalized.length - 1) < 1e-12)
  }

  @Test("one component that is no number spoils the vector")
  func finiteness() {
    #expect(Vector3(1, 2, 3).isFinite)
    #expect(!Vector3(.nan, 2, 3).isFinite)
    #expect(!Vector3(1, .infinity, 3).isFinite)
    #expect(!Vector3(1, 2, -.infinity).isFinite)
  }
}
