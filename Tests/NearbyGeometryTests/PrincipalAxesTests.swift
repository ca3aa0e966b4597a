// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Principal axes")
struct PrincipalAxesTests {
  @Test("axes are orthonormal eigenvectors in rising order", arguments: 0..<50 as Range<UInt64>)
  func eigenvectors(seed: UInt64) {
    var draws = SeededGenerator(seed: seed)
    var matrix = SymmetricMatrix3.zero
    // Of rank one, two and three, and of very unequal sizes.
    for index in 0...(Int(seed) % 3) {
      let scale = index == 0 ? 1 : draws.uniform(in: 1e-4...1)
      let v = Vector3(
        draws.uniform(in: -1...1), draws.uniform(in: -1...1), draws.uniform(in: -1...1))
      matrix = matrix + SymmetricMatrix3(outer: v, scale: scale)
    }
    let axes = matrix.principalAxes
    for index in 0..<3 {
      let axis = axes[index]
      let off = matrix.times(axis.direction) - axis.variance * axis.direction
      #expect(off.length < 1e-14)
      #expect(abs(axis.direction.length - 1) < 1e-14)
      #expect(abs(axis.direction.dot(axes[(index + 1) % 3].direction)) < 1e-14)
    }
    #expect(axes[0].variance <= axes[1].variance && axes[1].variance <= axes[2].variance)
    #expect(abs(axes[0].variance + axes[1].variance + axes[2].variance - matrix.trace) < 1e-14)
  }

  @Test("equal eigenvalues and no numbers end")
  func ends() {
    let ball = SymmetricMatrix3(xx: 2, xy: 0, xz: 0, yy: 2, yz: 0, zz: 2)
    #expect(ball.principalAxes[0].variance == 2)
    #expect(SymmetricMatrix3.zero.principalAxes[2].variance == 0)
    let nothing = SymmetricMatrix3(xx: .nan, xy: .nan, xz: 0, yy: 1, yz: 0, zz: .infinity)
    _ = nothing.principalAxes
  }
}
