// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry

/// How fast the wandering errors of the radio lose their memory.
///
/// They depend on the pose: a range's on where the device is (multipath) and how it is held (the
/// antenna's phase centre), an angle's on the direction under which the peer is seen. A range's moves
/// with time too, since people do. First-order Gauss-Markov: correlation exp(-travelled).
struct WanderModel: Sendable {
  /// Correlation lengths of a range's error along each of the three, and of an angle's, as their
  /// inverses: many divisions in a row would be waited for.
  private static let rangePerSecond = 1 / 3.0
  private static let rangePerMetre = 1 / 0.4
  private static let rangePerRadian = 1 / 0.7
  private static let anglePerRadian = 1 / 1.5
  /// The share of the variance of an angle's pose-dependent error that is the same in all directions.
  ///
  /// A smooth function of the direction does not average out as one that wanders would: whoever looks
  /// to and fro meets the same errors again, and whoever holds the device level stays on one circle.
  static let constantAngleShare = 0.35

  /// What is left of the errors between two device points, for a peer at a distance.
  func decay(
    from a: TrajectoryPoint, to b: TrajectoryPoint, distance: Double
  ) -> (range: Double, angle: Double) {
    let travelled = travelled(from: a, to: b, distance: distance)
    return (exp(-travelled.range), exp(-travelled.angle))
  }

  /// How far it is between two device points, in correlation lengths of the errors.
  @inline(__always)
  func travelled(
    from a: TrajectoryPoint, to b: TrajectoryPoint, distance: Double
  ) -> (range: Double, angle: Double) {
    let seconds = abs(b.timestamp.seconds(since: a.timestamp))
    let path = abs(b.path - a.path)
    let turn = abs(b.turn - a.turn)
    return (
      seconds * Self.rangePerSecond + path * Self.rangePerMetre + turn * Self.rangePerRadian,
      (turn + path / distance) * Self.anglePerRadian
    )
  }
}
