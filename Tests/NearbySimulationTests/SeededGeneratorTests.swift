// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("SeededGenerator")
struct SeededGeneratorTests {
  @Test("SplitMix64 gives the published numbers for seed 1234567")
  func splitMixReference() {
    var generator = SplitMix64(state: 1_234_567)
    let drawn = (0..<5).map { _ in generator.next() }
    #expect(
      drawn == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ])
  }

  @Test("xoshiro256++ gives the published numbers for the state 1, 2, 3, 4")
  func xoshiroReference() {
    var generator = SeededGenerator(state: 1, 2, 3, 4)
    let drawn = (0..<6).map { _ in generator.next() }
    #expect(
      drawn == [
        41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386,
        9_228_616_714_210_784_205, 9_973_669_472_204_895_162,
      ])
  }

  @Test("streams of one seed differ, and repeat")
  func streams() {
    var a = SeededGenerator(seed: 7, stream: 0)
    var b = SeededGenerator(seed: 7, stream: 1)
    var again = SeededGenerator(seed: 7, stream: 1)
    let drawn = (0..<64).map { _ in (a.next(), b.next(), again.next()) }
    #expect(drawn.allSatisfy { $0.0 != $0.1 && $0.1 == $0.2 })
  }

  @Test("normals have the moments of a normal distribution")
  func normalMoments() {
    var generator = SeededGenerator(seed: 1)
    let count = 100_000
    let drawn = (0..<count).map { _ in generator.normal(sigma: 2) / 2 }
    let moments = (1...4).map { power in
      drawn.reduce(0) { sum, x in sum + (0..<power).reduce(1) { product, _ in product * x } }
        / Double(count)
    }
    // Four standard errors: of x 1/√n, of x² √2/√n, of x³ √15/√n, of x⁴ √96/√n.
    let error = 4 / Double(count).squareRoot()
    #expect(abs(moments[0]) < error)
    #expect(abs(moments[1] - 1) < 1.42 * error)
    #expect(abs(moments[2]) < 3.88 * error)
    #expect(abs(moments[3] - 3) < 9.80 * error)
  }

  @Test("exponentials and uniforms have their means and stay in their intervals")
  func otherDistributions() {
    var generator = SeededGenerator(seed: 2)
    let count = 100_000
    var exponentialSum = 0.0
    var uniformSum = 0.0
    for _ in 0..<count {
      let exponential = generator.exponential(mean: 1.5)
      let uniform = generator.uniform(in: -2...4)
      guard exponential >= 0, (-2...4).contains(uniform) else {
        Issue.record("outside the interval: \(exponential), \(uniform)")
        return
      }
      exponentialSum += exponential
      uniformSum += uniform
    }
    let error = 4 / Double(count).squareRoot()
    #expect(abs(exponentialSum / Double(count) - 1.5) < 1.5 * error)
    #expect(abs(uniformSum / Double(count) - 1) < 1.74 * error)
  }

  @Test("random rotations favour no direction")
  func rotations() {
    var generator = SeededGenerator(seed: 3)
    let count = 20_000
    var sum = Vector3.zero
    for _ in 0..<count { sum += generator.rotation().act(Vector3(1, 0, 0)) }
    // Each component of a uniform unit vector has variance 1/3.
    #expect((sum / Double(count)).length < 4 / Double(count).squareRoot())
  }
}
