// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("DirectionField")
struct DirectionFieldTests {
  @Test("the direction field's basis has the same length everywhere")
  func field() {
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<100 {
      let basis = DirectionField.basis(at: generator.normalVector())
      #expect(abs(basis.reduce(0) { $0 + $1 * $1 } - 1) < 1e-12)
    }
  }

  @Test("values have the spread asked for, and correlate as the shares of the degrees say")
  func spreadAndCorrelation() {
    var generator = SeededGenerator(seed: 10)
    let (a, b) = (Vector3(0, 0, -1), Vector3(0.694_658, 0, -0.719_340))
    var (values, products) = (RunningMoments(), RunningMoments())
    for _ in 0..<4000 {
      let field = DirectionField(sigma: 2, &generator)
      values.add(field.value(at: a))
      products.add(field.value(at: a) * field.value(at: b) / 4)
    }
    #expect(abs(values.deviation - 2) < 0.1)
    #expect(abs(products.mean - 0.5) < 0.07)
  }
}
