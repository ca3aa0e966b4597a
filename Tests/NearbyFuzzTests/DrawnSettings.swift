// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation

extension FusionConfiguration {
  /// Draws settings within their intervals: some as they are by default, many at an end.
  ///
  /// - Parameters:
  ///   - share: The share of the settings that are changed.
  ///   - generator: The source of randomness.
  init(changing share: Double, _ generator: inout SeededGenerator) {
    self.init()
    for limit in Self.limits where generator.happens(share) {
      let (lower, upper) = (limit.interval.lowerBound, limit.interval.upperBound)
      self[keyPath: limit.path] =
        switch generator.number(0..<5) {
        case 0: lower
        case 1: upper
        case 2 where lower > 0: lower * pow(upper / lower, generator.uniform())
        case 2: upper * pow(1e-9, generator.uniform())
        default: generator.uniform(in: limit.interval)
        }
    }
    if generator.happens(share) {
      let counts = Self.hypothesisCounts
      hypotheses.maximumCount =
        generator.happens(0.5)
        ? generator.one(of: [counts.lowerBound, counts.lowerBound + 1, counts.upperBound])
        : Int.random(in: counts, using: &generator)
    }
    if generator.happens(share) { odometry.isPlanar.toggle() }
    if generator.happens(share) { ranging.whiteSharesAreKnown.toggle() }
    if generator.happens(share) {
      ranging.antennaInDevice =
        generator.happens(0.5) ? Vector3(-9, 0, 0) : generator.normalVector()
    }
  }
}
