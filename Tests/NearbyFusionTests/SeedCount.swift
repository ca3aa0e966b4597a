// SPDX-License-Identifier: Apache-2.0

/// How many seeded runs a test makes, and what their statistics must be.
///
/// An unoptimised run of the engine takes seconds.
enum SeedCount {
  #if DEBUG
    static let few: Range<UInt64> = 0..<1
  #else
    static let few: Range<UInt64> = 0..<10
  #endif
  static let seeds: Range<UInt64> = 0..<200
  static let normalizedErrorBand = 0.8...1.25
  static let largestBoundRatio = 1.15
  /// With a scale error drawn for every run the bound ratio is still a little beyond where it should be.
  static let largestBoundRatioWithScale = 1.17
  /// In scenarios harder than plain finding, one run in a hundred may ever be converged and wrong.
  ///
  /// Where the engine should get to is one in a thousand.
  static let fewFalse = 2
}
