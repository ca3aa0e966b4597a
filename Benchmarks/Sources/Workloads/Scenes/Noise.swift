// SPDX-License-Identifier: Apache-2.0

/// Deterministic noise: Knuth's linear congruential generator, the same on every machine.
struct Noise {
  private var state: UInt64

  /// Makes a generator; the same seed gives the same noise.
  init(seed: UInt64) { state = seed }

  /// A number drawn uniformly from [0, 1), from the generator's upper bits.
  mutating func uniform() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 11) * 0x1p-53
  }

  /// An approximately normal number of the given standard deviation: the sum of twelve uniform
  /// ones.
  mutating func normal(_ sigma: Double) -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += uniform() }
    return sigma * sum
  }
}
