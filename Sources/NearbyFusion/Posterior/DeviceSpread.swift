// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Where the device has been while it ranged with a peer: mean and scatter of its positions.
///
/// Welford's recurrence: exact, one pass, no history.
struct DeviceSpread: Hashable, Sendable {
  private var count = 0.0
  private var mean = Vector3.zero
  private var scatter = SymmetricMatrix3.zero

  @inline(__always)
  mutating func add(_ position: Vector3) {
    count += 1
    let before = position - mean
    let share = 1 / count
    mean += share * before
    // (x - old mean)(x - new mean)ᵀ is symmetric: the two differ by a factor.
    scatter = scatter + SymmetricMatrix3(outer: before, scale: 1 - share)
  }

  /// The variance of the device's height, m².
  var heightVariance: Double { count > 0 ? scatter.yy / count : 0 }

  /// The mean square of the movement across a unit direction, m².
  @inline(__always)
  func squaredTransverse(to direction: Vector3) -> Double {
    count > 0 ? max(0, (scatter.trace - scatter.quadraticForm(direction)) / count) : 0
  }
}
