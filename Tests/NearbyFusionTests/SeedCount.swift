// SPDX-License-Identifier: Apache-2.0

/// Statistics need many seeds, and many seeds need an optimised build: 200 there, 24 in debug builds,
/// where the bands are wide enough for a mean of that many runs.
enum SeedCount {
  #if DEBUG
    static let seeds: Range<UInt64> = 0..<24
    static let normalizedErrorBand = 0.45...1.9
    static let largestBoundRatio = 1.6
  #else
    static let seeds: Range<UInt64> = 0..<200
    static let normalizedErrorBand = 0.8...1.25
    static let largestBoundRatio = 1.15
  #endif
}
