// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbySimulation
import Testing

@Suite("ChiSquare")
struct ChiSquareTests {
  /// Degrees of freedom, probability, quantile: from the tables in Abramowitz and Stegun 26.8, and,
  /// with two degrees of freedom, from -2 ln(1 - p).
  @Test(
    "quantiles agree with the tables",
    arguments: [
      (1, 0.95, 3.84146), (1, 0.99, 6.63490), (1, 0.05, 0.00393214), (2, 0.5, 1.386294361),
      (2, 0.99, 9.210340372), (3, 0.95, 7.81473), (3, 0.99, 11.3449), (3, 0.005, 0.0717218),
      (6, 0.975, 14.4494), (10, 0.05, 3.94030), (30, 0.995, 53.6720), (100, 0.975, 129.561),
    ])
  func tabulated(degreesOfFreedom: Int, probability: Double, quantile: Double) {
    let computed = ChiSquare(degreesOfFreedom: degreesOfFreedom).quantile(probability)
    #expect(abs(computed - quantile) < 5e-6 * quantile)
  }

  @Test("probability undoes quantile", arguments: [1, 2, 3, 7, 50, 600, 30_000])
  func roundTrip(degreesOfFreedom: Int) {
    let distribution = ChiSquare(degreesOfFreedom: degreesOfFreedom)
    for probability in [1e-4, 0.025, 0.5, 0.8, 0.9995] {
      let back = distribution.probability(below: distribution.quantile(probability))
      #expect(abs(back - probability) < 1e-10)
    }
  }

  @Test("nothing is below zero")
  func belowZero() {
    #expect(ChiSquare(degreesOfFreedom: 3).probability(below: -1) == 0)
    #expect(ChiSquare(degreesOfFreedom: 3).probability(below: 0) == 0)
  }

  @Test("the band of a mean agrees with the quantiles of the sum and holds simulated means")
  func band() {
    // 60 degrees of freedom in total: 40.4817 and 83.2977 enclose 95 %.
    let band = ChiSquare(degreesOfFreedom: 3).meanBand(count: 20, probability: 0.95)
    #expect(abs(band.lowerBound - 40.4817 / 20) < 1e-4)
    #expect(abs(band.upperBound - 83.2977 / 20) < 1e-4)
    var generator = SeededGenerator(seed: 5)
    let inside = (0..<2_000).count { _ in
      let sum = (0..<60).reduce(0.0) { sum, _ in
        let x = generator.normal()
        return sum + x * x
      }
      return band.contains(sum / 20)
    }
    // 1900 expected, standard deviation 9.7.
    #expect((1861...1939).contains(inside))
  }
}
