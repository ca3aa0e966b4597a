// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

extension FusionEngine {
  /// Whether the odometry has been silent for so long before a moment that no place may be claimed then.
  ///
  /// - Parameter time: The moment, after the newest pose.
  /// - Returns: Whether there is no tracked pose, or the newest is more than a second old (twice the usual
  ///   interval of poses where they come more slowly).
  package func isOdometrySilent(at time: Timestamp) -> Bool {
    trajectory.silence(at: time).isOutage
  }
}
