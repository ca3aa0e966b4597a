// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// Where a sample was made from and where it saw the peer: what its wandering errors are functions of.
///
/// A range's depends on where the device is (multipath) and how it is held (the antenna), an angle's on
/// the direction under which the peer is seen. A device that comes back to a pose meets the same error again.
struct Viewpoint: Sendable {
  /// About when: that of the knot before.
  let timestamp: Timestamp
  /// The antenna in the fixed world.
  let antenna: Vector3
  /// Two device axes fix the attitude.
  private let back: Vector3
  private let up: Vector3
  /// The peer's direction in device axes.
  private let direction: Vector3

  init(_ observation: Observation, in problem: SmoothingProblem, at state: SmoothingState) {
    timestamp = problem.knots[observation.knot].device.timestamp
    let pose = problem.correctedPose(of: observation, at: state)
    antenna = pose.antenna
    up = pose.up
    back = pose.back
    let peer = problem.place(
      ofPeer: observation.peer, knot: observation.knot,
      secondsSinceKnot: observation.secondsSinceKnot, in: state)
    let sight = (peer - antenna).normalized
    direction = Vector3(pose.right.dot(sight), pose.up.dot(sight), pose.back.dot(sight))
  }

  /// The correlation of a kind's wandering errors between two viewpoints, with the correlation lengths of
  /// ``CorrelatedNoise``.
  ///
  /// Time is not in it: a device that comes back to a pose meets the same error again.
  ///
  /// Angles between attitudes are taken from the chords of two axes, which a turn by θ about any axis
  /// moves by 1 to √2 times `2 sin(θ/2)` together.
  func correlation(_ kind: MeasurementKind, with other: Viewpoint) -> Double {
    if kind.isAngle {
      return exp(-(direction - other.direction).length / CorrelatedNoise.angleRadians)
    }
    let (a, b) = (up - other.up, back - other.back)
    let turned = (a.dot(a) + b.dot(b)).squareRoot() / 1.2
    let away = (antenna - other.antenna).length
    return exp(
      -(away / CorrelatedNoise.rangeMetres + turned / CorrelatedNoise.rangeRadians))
  }
}
