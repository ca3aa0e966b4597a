// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Where the device has been while it ranged with a peer: mean and scatter of its positions.
///
/// Welford's recurrence: exact, one pass, no history.
struct DeviceSpread: Hashable, Sendable, Codable {
  private var count = 0.0
  private(set) var mean = Vector3.zero
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

  /// The plane or the line that its positions span.
  ///
  /// - Parameter isAlone: Whether only one peer is heard.
  /// - Returns: The shape.
  func shape(isAlone: Bool) -> WalkShape {
    WalkShape(centre: mean, covariance: covariance, isAlone: isAlone)
  }

  /// The covariance of its positions, m².
  var covariance: SymmetricMatrix3 { count > 0 ? (1 / count) * scatter : .zero }

  /// The mean square of the movement across a unit direction, m².
  @inline(__always)
  func squaredTransverse(to direction: Vector3) -> Double {
    count > 0 ? max(0, (scatter.trace - scatter.quadraticForm(direction)) / count) : 0
  }
}
