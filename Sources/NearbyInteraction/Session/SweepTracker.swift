// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry

/// How far a device has been moved since a moment, horizontally and along gravity.
///
/// It holds the extents of the device's positions along gravity and along eight horizontal directions.
/// Cost: a few comparisons a pose.
struct SweepTracker: Sendable {
  private static let directions = 8
  /// The unit vectors of the horizontal directions, x and z.
  private static let units: [(x: Double, z: Double)] = (0..<directions).map {
    let angle = Double.pi * Double($0) / Double(directions)
    return (cos(angle), sin(angle))
  }

  private var low = SIMD8<Double>(repeating: .infinity)
  private var high = SIMD8<Double>(repeating: -.infinity)
  private var heights = (low: Double.infinity, high: -Double.infinity)

  /// Begins anew, with the next position.
  mutating func restart() { self = SweepTracker() }

  /// Adds a position of the device.
  ///
  /// - Parameter place: The position in a world with y up, metres.
  mutating func add(_ place: Vector3) {
    for (index, unit) in Self.units.enumerated() {
      let along = unit.x * place.x + unit.z * place.z
      low[index] = min(low[index], along)
      high[index] = max(high[index], along)
    }
    heights = (min(heights.low, place.y), max(heights.high, place.y))
  }

  /// The largest horizontal extent of the positions, metres.
  var horizontalExtent: Double { max(0, (high - low).max()) }

  /// Their extent along gravity, metres.
  var verticalExtent: Double { max(0, heights.high - heights.low) }
}
