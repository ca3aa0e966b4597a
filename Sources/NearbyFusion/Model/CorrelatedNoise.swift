// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry

/// How the wandering errors of the radio decorrelate.
///
/// They depend on the pose: a range's on where the device is (multipath) and how it is held (the
/// antenna's phase centre), an angle's on the direction under which the peer is seen. A range's changes
/// with time too, since people move. The filter has first-order Gauss-Markov processes along the path,
/// with the correlation factor φ = exp(-travelled); the smoother has the correlation between any two
/// viewpoints, with the same lengths.
package enum CorrelatedNoise {
  /// Correlation lengths of a range's error, and of an angle's.
  package static let rangeSeconds = 3.0
  package static let rangeMetres = 0.4
  package static let rangeRadians = 0.7
  package static let angleRadians = 1.5

  /// The share of the variance of an angle's pose-dependent error that is the same in all directions.
  ///
  /// A smooth function of the direction does not average out as one that wanders would: a device that
  /// looks to and fro meets the same errors again, and one that is held level stays on one circle.
  static let constantAngleShare = 0.35

  /// Inverse correlation lengths.
  ///
  /// Performance: avoids dependent divisions.
  private static let rangePerSecond = 1 / rangeSeconds
  private static let rangePerMetre = 1 / rangeMetres
  private static let rangePerRadian = 1 / rangeRadians
  private static let anglePerRadian = 1 / angleRadians

  /// Correlation factors of the errors between two device points, for a peer at a distance.
  static func correlation(
    from a: TrajectoryPoint, to b: TrajectoryPoint, distance: Double
  ) -> (range: Double, angle: Double) {
    let travelled = travelled(from: a, to: b, distance: distance)
    return (exp(-travelled.range), exp(-travelled.angle))
  }

  /// The length of the path between two device points, in correlation lengths of the errors.
  @inline(__always)
  static func travelled(
    from a: TrajectoryPoint, to b: TrajectoryPoint, distance: Double
  ) -> (range: Double, angle: Double) {
    let seconds = abs(b.timestamp.seconds(since: a.timestamp))
    let path = abs(b.path - a.path)
    let turn = abs(b.turn - a.turn)
    return (
      seconds * rangePerSecond + path * rangePerMetre + turn * rangePerRadian,
      (turn + path / distance) * anglePerRadian
    )
  }
}
