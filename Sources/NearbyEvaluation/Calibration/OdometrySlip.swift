// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

/// A slip of the odometry within an interval of the path.
enum OdometrySlip: Sendable, CaseIterable {
  /// Tracking that was lost, or a lift that nothing has seen.
  case large
  /// A correction of the odometry's own.
  case small

  var horizontal: Double { self == .large ? 4 : 0.09 }
  var vertical: Double { self == .large ? 2.25 : 0.01 }
  var yaw: Double {
    let sigma = (self == .large ? 3 : 2).degreesAsRadians
    return sigma * sigma
  }

  func variance(_ axis: Int) -> Double {
    switch axis {
    case 1: vertical
    case 3: yaw
    default: horizontal
    }
  }

  /// The logarithm of the prior odds: once in 200 intervals, more often beside another one, and as often as not where
  /// there are no new poses.
  func logOdds(isFrozen: Bool, isBeside: Bool) -> Double {
    if self == .small { return log(0.01) }
    return log(isFrozen ? 0.5 : isBeside ? 0.2 : 0.005)
  }
}
