// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbySimulation
import Testing

/// The kernels' own exp, log and atan2 against the system's.
@Suite("Kernel elementary functions")
struct ElementaryFunctionTests {
  private func exponential(_ x: [Double]) -> [Double] {
    var result = [Double](repeating: .nan, count: x.count)
    unsafe nearby_exponential(x, &result, Int32(x.count))
    return result
  }

  private func logarithm(_ x: [Double]) -> [Double] {
    var result = [Double](repeating: .nan, count: x.count)
    unsafe nearby_logarithm(x, &result, Int32(x.count))
    return result
  }

  private func arctangent(_ y: [Double], _ x: [Double]) -> [Double] {
    var result = [Double](repeating: .nan, count: x.count)
    unsafe nearby_arctangent(y, x, &result, Int32(x.count))
    return result
  }

  /// The most units in the last place by which one differs from the other; the same value, of the
  /// same sign, is none, whatever it is.
  private func mostUnits(_ values: [Double], _ expected: [Double]) -> Double {
    zip(values, expected).map { value, expected in
      if value.bitPattern == expected.bitPattern || (value.isNaN && expected.isNaN) { return 0 }
      guard value.isFinite, expected.isFinite, value.sign == expected.sign else { return .infinity }
      return abs(value - expected) / expected.ulp
    }.max() ?? 0
  }

  // The system's functions are themselves off by a little less than one unit.

  @Test("exp is that of the system", arguments: [1, 40, 708] as [Double])
  func exponentials(reach: Double) {
    var generator = SeededGenerator(seed: 1)
    let x = (0..<200_003).map { _ in generator.uniform(in: -reach...reach) }
    #expect(mostUnits(exponential(x), x.map { exp($0) }) <= 1)
  }

  @Test(
    "the densities' power of two has the error that it promises",
    arguments: [1, 40, 866] as [Double])
  func powersOfTwo(reach: Double) throws {
    var generator = SeededGenerator(seed: 4)
    let x = (0..<200_003).map { _ in generator.uniform(in: -reach...reach) }
    let worst = zip(x, powerOfTwo(x)).map { abs($1 / exp2($0) - 1) }.max()
    #expect(try #require(worst) <= 2e-14)
  }

  @Test("beyond its reach the densities' power of two stays what it is there, and is never slow")
  func leastPowerOfTwo() {
    let beyond = [866, 867, 1e15, 1e16, 1e30, 1e300, .infinity]
    #expect(powerOfTwo(beyond).allSatisfy { $0 == exp2(866) })
    let least = powerOfTwo(beyond.map { -$0 })
    #expect(least.allSatisfy { $0 == exp2(-866) })
    #expect((least[0] * 1e-40).isNormal, "what it is multiplied by is small, and slow if it is not")
  }

  private func powerOfTwo(_ x: [Double]) -> [Double] {
    var result = [Double](repeating: .nan, count: x.count)
    unsafe nearby_power_of_two(x, &result, Int32(x.count))
    return result
  }

  @Test("exp of what has no normal value")
  func specialExponentials() {
    let infinity = Double.infinity
    let x = [0, -0.0, 1e-300, -709, -1e300, -infinity, 710, 1e300, infinity, .nan]
    let expected = [1, 1, 1, 0, 0, 0, infinity, infinity, infinity, .nan]
    #expect(mostUnits(exponential(x), expected) == 0)
  }

  @Test("log is that of the system", arguments: [0.7, 5, 700] as [Double])
  func logarithms(reach: Double) {
    var generator = SeededGenerator(seed: 2)
    let x = (0..<200_003).map { _ in exp(generator.uniform(in: -reach...reach)) }
    #expect(mostUnits(logarithm(x), x.map { log($0) }) <= 1)
  }

  @Test("log near one, of the least numbers, and of what has none")
  func specialLogarithms() {
    let near = (-2000...2000).map { 1 + Double($0) * 0x1p-52 }
    let least = (1...60).map { Double.leastNonzeroMagnitude * exp2(Double($0)) }
    let rest: [Double] = [0, -0.0, -1, -.infinity, .infinity, .nan, .greatestFiniteMagnitude]
    let x = near + least + rest
    #expect(mostUnits(logarithm(x), x.map { log($0) }) <= 1)
  }

  @Test("atan2 is that of the system", arguments: [0, 3, 200] as [Double])
  func arctangents(decades: Double) {
    var generator = SeededGenerator(seed: 3)
    func coordinate() -> Double {
      generator.normal() * pow(10, generator.uniform(in: -1...1) * decades / 2)
    }
    let pairs = (0..<200_003).map { _ in (y: coordinate(), x: coordinate()) }
    let (y, x) = (pairs.map(\.y), pairs.map(\.x))
    #expect(mostUnits(arctangent(y, x), zip(y, x).map { atan2($0, $1) }) <= 2)
  }

  @Test("atan2 on the axes, on the diagonals, and where the polynomials meet")
  func specialArctangents() {
    let tangent = tan(Double.pi / 8)
    let values = [0, 1, tangent, tangent.nextUp, tangent.nextDown, 1e-308, 1e300]
    let both = values + values.map { -$0 }
    let pairs = both.flatMap { y in both.map { (y: y, x: $0) } }
    let (y, x) = (pairs.map(\.y), pairs.map(\.x))
    #expect(mostUnits(arctangent(y, x), zip(y, x).map { atan2($0, $1) }) <= 2)
  }
}
