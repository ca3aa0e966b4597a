// SPDX-License-Identifier: Apache-2.0
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Errors that average out more slowly than the filter's model has it widen the published covariance.
@Suite("Variance inflation")
struct VarianceInflationTests {
  private static let errors = ErrorVariances(white: 0.0064, wandering: 0.0036)

  /// The factor after a walk with errors of the stated variances; the Gauss-Markov error has a given
  /// correlation from range to range, and the model has 0.9.
  private func factor(correlation: Double = 0.9, constant: Double = 0, seed: UInt64) -> Double {
    let wandering = Self.errors.wandering
    var generator = SeededGenerator(seed: seed)
    var inflation = VarianceInflation()
    var error = generator.normal(sigma: wandering.squareRoot())
    for _ in 0..<4000 {
      error =
        correlation * error
        + generator.normal(sigma: ((1 - correlation * correlation) * wandering).squareRoot())
      inflation.add(
        constant + error + generator.normal(sigma: Self.errors.white.squareRoot()), Self.errors,
        decorrelation: 1 - 0.9 * 0.9)
    }
    return inflation.factor
  }

  private func mean(_ factor: (UInt64) -> Double) -> Double {
    (0..<40).map { factor($0) }.reduce(0, +) / 40
  }

  @Test("errors as modelled leave the covariance as it is")
  func asModelled() {
    #expect(mean { factor(seed: $0) } < 1.15)
  }

  @Test("errors alike ten times as long inflate it as far as the mean of a block varies more")
  func longer() {
    let expected = mean { factor(correlation: 0.99, seed: $0) }
    // A block has 77 ranges. The mean over them of an error with a correlation length of 100 ranges has
    // 0.79 of its variance; the model's has a quarter, and the white noise a seventy-seventh.
    let block = (0.79 * 0.0036 + 0.0064 / 77) / (0.0036 / 4.05 + 0.0064 / 77)
    #expect(abs(expected - (block - 0.5)) < 0.5, "\(expected), \(block)")
  }

  @Test("an error that never changes counts with no more than five sigmas")
  func constant() {
    #expect(abs(factor(constant: 1, seed: 1) - 24.5) < 1)
  }
}
