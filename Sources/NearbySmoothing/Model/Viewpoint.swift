// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// Where a sample was made from and where it saw the peer: what its wandering errors are functions of.
///
/// A range's depends on where the device is (multipath) and how it is held (the antenna), an angle's on
/// the direction under which the peer is seen. Whoever comes back to a pose meets the same error again.
struct Viewpoint: Sendable {
  private let place: Vector3
  /// Two device axes fix the attitude.
  private let back: Vector3
  private let up: Vector3
  /// The peer's direction in device axes.
  private let direction: Vector3

  /// Errors at places and attitudes further apart than these have little in common.
  private static let rangeMetres = 0.4
  private static let rangeRadians = 0.7
  private static let angleRadians = 1.0

  init(_ observation: Observation, in problem: SmoothingProblem, at state: SmoothingState) {
    let device = state.devices[observation.knot]
    let turn = YawTurn(device.yawRadians)
    let from = observation.measurement
    let antenna = Vector3(
      from.antenna_in_world.0, from.antenna_in_world.1, from.antenna_in_world.2)
    place = device.place + turn.act(antenna - problem.knots[observation.knot].place)
    let r = from.device_from_world
    let axes = [
      Vector3(r.0, r.1, r.2), Vector3(r.3, r.4, r.5), Vector3(r.6, r.7, r.8),
    ]
    up = turn.act(axes[1])
    back = turn.act(axes[2])
    let peer = problem.place(
      ofPeer: observation.peer, knot: observation.knot,
      secondsSinceKnot: observation.secondsSinceKnot, in: state)
    let sight = turn.actBack(peer - place).normalized
    direction = Vector3(axes[0].dot(sight), axes[1].dot(sight), axes[2].dot(sight))
  }

  /// The correlation of a component's wandering errors between two viewpoints.
  ///
  /// Angles between attitudes are taken from the chords of two axes, which a turn by θ about any axis
  /// moves by 1 to √2 times `2 sin(θ/2)` together.
  func correlation(_ component: Int, with other: Viewpoint) -> Double {
    guard component == 0 else {
      return exp(-(direction - other.direction).length / Self.angleRadians)
    }
    let (a, b) = (up - other.up, back - other.back)
    let turned = (a.dot(a) + b.dot(b)).squareRoot() / 1.2
    let away = (place - other.place).length
    return exp(-(away / Self.rangeMetres + turned / Self.rangeRadians))
  }
}
