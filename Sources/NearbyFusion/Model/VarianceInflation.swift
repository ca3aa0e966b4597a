// SPDX-License-Identifier: Apache-2.0

/// By how much the variance of a peer's place exceeds the filter's, since the errors of its ranges average
/// out more slowly than the filter's noise model assumes.
///
/// The filter takes wandering errors at places that are a few correlation lengths apart for independent
/// (``CorrelatedNoise``). Errors that depend on the antenna's attitude or on the room are alike over many
/// metres. Innovations hardly show that: the filter follows such errors. Means of residuals do. Over a block
/// of the walk that is worth m independent draws of the wandering error, the mean residual ē of n ranges has
/// the variance
///
/// `V = R/n + W/m`
///
/// with the white variance R and the wandering one W. The factor is the average of ē²/V over the newest
/// blocks, one if the model is right. It multiplies the published covariance; the filter itself stays as it
/// is.
struct VarianceInflation: Hashable, Sendable, Codable {
  private var block = Block()
  private var average = 1.0
  /// The number of blocks that the average is worth, the prior included.
  private var weight = Self.priorWeight

  /// A part of the walk.
  private struct Block: Hashable, Codable {
    var count = 0.0
    var residual = 0.0
    /// The sums of the variances of the ranges' errors.
    var white = 0.0
    var wandering = 0.0
    /// The independent draws of the wandering error: the mean of a Gauss-Markov sequence with the factor φ
    /// has the variance `W/Σ(1 - φ)/(1 + φ)`.
    var draws = 0.0
  }

  /// The weight of the prior, that the model is right, and the largest weight, in blocks.
  private static let priorWeight = 3.0
  private static let memory = 20.0
  /// The least number of independent draws of the wandering error, and of ranges, in a block.
  private static let drawsPerBlock = 4.0
  private static let fewest = 4.0
  /// The largest ē²/V of a block that counts: beyond five sigmas the place is wrong, or the peer has moved.
  private static let most = 25.0
  /// By how much the average must exceed one to count: a mean of few χ² variables scatters.
  private static let tolerance = 0.5

  /// What the covariance is multiplied by, at least one.
  @inline(__always)
  var factor: Double { max(1, average - Self.tolerance) }

  /// Takes note of a range that the place explains.
  ///
  /// - Parameters:
  ///   - residual: Measured minus predicted after the update, without the wandering error, m.
  ///   - errors: The variances of its errors, m².
  ///   - decorrelation: The decorrelation 1 - φ² of the wandering error since the sample before.
  @inline(__always)
  mutating func add(
    _ residual: Double, _ errors: ErrorVariances, decorrelation: Double
  ) {
    block.count += 1
    block.residual += residual
    block.white += errors.white
    block.wandering += errors.wandering
    block.draws += decorrelation / (2 - decorrelation + 2 * (1 - decorrelation).squareRoot())
    if block.draws >= Self.drawsPerBlock, block.count >= Self.fewest { endBlock() }
  }

  @inline(never)
  private mutating func endBlock() {
    defer { block = Block() }
    let mean = block.residual / block.count
    let variance =
      (block.white / block.count + block.wandering / block.draws) / block.count
    guard variance > 0 else { return }
    weight = min(weight + 1, Self.memory)
    average += (min(mean * mean / variance, Self.most) - average) / weight
  }
}
