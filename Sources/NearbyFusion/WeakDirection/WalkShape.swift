// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// How the device or its antenna has moved: the plane or the line that a walk spans.
///
/// Ranges from a plane cannot tell a place from its mirror image beyond it, and how far the place is
/// from the plane enters them at second order only: with z that distance and r the range, as z²/2r. From
/// a line the same holds around it. What a walk moves across its plane tells the two apart at first
/// order, if it is not small beside z. A level walk is the special case of a horizontal plane.
///
/// The joint fit examines a place with the shape of the antenna's places. The filter and its window, which
/// only decide whether an examination is needed, take that of the device's.
struct WalkShape: Sendable {
  /// The mean of the places.
  let centre: Vector3
  /// The principal axes of the places, that along which they scatter least first.
  let axes: InlineArray<3, SymmetricMatrix3.PrincipalAxis>

  /// - Parameters:
  ///   - centre: The mean of the places.
  ///   - covariance: Their covariance, m².
  init(centre: Vector3, covariance: SymmetricMatrix3) {
    self.centre = centre
    axes = covariance.principalAxes
  }

  /// That of some places.
  init(of places: some Collection<Vector3>) {
    var spread = DeviceSpread()
    for place in places { spread.add(place) }
    self.init(centre: spread.mean, covariance: spread.covariance)
  }

  /// Whether the walk lies within a plane.
  var isFlat: Bool { axes[0].variance < FlatWalk.sigma * FlatWalk.sigma }

  /// Whether the walk lies within a line.
  var isLine: Bool { axes[1].variance < FlatWalk.sigma * FlatWalk.sigma }

  /// The directions in which a place is known at second order only, unit vectors, the weakest first: none
  /// after a walk through space, one after a walk in a plane, two after a walk along a line.
  var weakDirections: [Vector3] {
    (0..<2).filter { axes[$0].variance < FlatWalk.sigma * FlatWalk.sigma }
      .map { axes[$0].direction }
  }

  /// Whether what is open along the weak directions is also open along another one.
  ///
  /// - Parameter direction: A unit vector.
  /// - Returns: Whether it is.
  func hides(_ direction: Vector3) -> Bool {
    for axis in 0..<2 where axes[axis].variance < FlatWalk.sigma * FlatWalk.sigma {
      let cosine = axes[axis].direction.dot(direction)
      if cosine * cosine > FlatWalk.hiddenShare { return true }
    }
    return false
  }
}
