// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@Suite("SymmetricMatrix3")
struct SymmetricMatrix3Tests {
  /// A positive definite matrix: a sum of outer products.
  static func random(_ generator: inout SeededGenerator) -> SymmetricMatrix3 {
    (0..<4).reduce(.zero) { sum, _ in sum + SymmetricMatrix3(outer: generator.normalVector()) }
  }

  static func rows(_ m: SymmetricMatrix3) -> [Double] {
    [m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz]
  }

  @Test("products by hand")
  func byHand() {
    let m = SymmetricMatrix3(xx: 1, xy: 2, xz: 3, yy: 4, yz: 5, zz: 6)
    #expect(m.times(Vector3(1, -1, 2)) == Vector3(5, 8, 10))
    #expect(m.quadraticForm(Vector3(1, -1, 2)) == 17)
    #expect(m.trace == 11)
    // 1 (24 - 25) - 2 (12 - 15) + 3 (10 - 12).
    #expect(m.determinant == -1)
    #expect((2 * m).yz == 10)
    #expect((m + m).xz == 6)
    let outer = SymmetricMatrix3(outer: Vector3(1, 2, 3), scale: 0.5)
    #expect(outer == SymmetricMatrix3(xx: 0.5, xy: 1, xz: 1.5, yy: 2, yz: 3, zz: 4.5))
  }

  @Test(
    "the inverse agrees with LAPACK's and undoes the matrix", arguments: 0..<64 as Range<UInt64>)
  func inverse(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let matrix = Self.random(&generator)
    let inverse = try #require(matrix.positiveDefiniteInverse)
    let reference = try #require(positiveDefiniteInverse(of: Self.rows(matrix), order: 3))
    let largest = reference.reduce(0) { max($0, abs($1)) }
    for (ours, theirs) in zip(Self.rows(inverse), reference) {
      #expect(abs(ours - theirs) < 1e-11 * largest)
    }
    let v = generator.normalVector()
    let condition = largest * matrix.trace
    #expect((inverse.times(matrix.times(v)) - v).length < 1e-14 * condition * (1 + v.length))
  }

  @Test("a matrix that is not positive definite has no inverse")
  func noInverse() {
    #expect(SymmetricMatrix3.zero.positiveDefiniteInverse == nil)
    #expect(SymmetricMatrix3(outer: Vector3(1, 2, 3)).positiveDefiniteInverse == nil)
    let indefinite = [
      SymmetricMatrix3(xx: -1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1),
      SymmetricMatrix3(xx: 1, xy: 0, xz: 0, yy: -1, yz: 0, zz: 1),
      SymmetricMatrix3(xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: -1),
      SymmetricMatrix3(xx: -1, xy: 0, xz: 0, yy: -1, yz: 0, zz: 1),
      SymmetricMatrix3(xx: 1, xy: 2, xz: 0, yy: 1, yz: 0, zz: -1),
      SymmetricMatrix3(xx: .nan, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1),
      SymmetricMatrix3(xx: .infinity, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1),
    ]
    #expect(indefinite.allSatisfy { $0.positiveDefiniteInverse == nil })
  }

  @Test(
    "rotation turns the axes and keeps trace and determinant", arguments: 0..<64 as Range<UInt64>)
  func rotation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let matrix = Self.random(&generator)
    let rotation = generator.rotation()
    let v = generator.normalVector()
    let rotated = matrix.rotated(by: rotation)
    #expect((rotated.times(rotation.act(v)) - rotation.act(matrix.times(v))).length < 1e-12)
    #expect(abs(rotated.trace - matrix.trace) < 1e-12 * matrix.trace)
    #expect(abs(rotated.determinant - matrix.determinant) < 1e-11 * (1 + matrix.determinant))
  }

  @Test("a quarter turn about z swaps the variances along x and y")
  func quarterTurn() {
    let turned = SymmetricMatrix3(xx: 4, xy: 0, xz: 0, yy: 9, yz: 0, zz: 1)
      .rotated(by: Rotation(angleRadians: .pi / 2, about: Vector3(0, 0, 1)))
    #expect(abs(turned.xx - 9) < 1e-14)
    #expect(abs(turned.yy - 4) < 1e-14)
    #expect(abs(turned.zz - 1) < 1e-14)
    #expect(abs(turned.xy) < 1e-14)
  }
}
