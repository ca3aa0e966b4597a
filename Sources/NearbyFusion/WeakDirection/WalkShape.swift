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
  /// The places scatter by less along a direction that the walk does not tell, m².
  private let flatVariance: Double

  /// - Parameters:
  ///   - centre: The mean of the places.
  ///   - covariance: Their covariance, m².
  ///   - isAlone: Whether only one peer is heard.
  init(centre: Vector3, covariance: SymmetricMatrix3, isAlone: Bool) {
    self.centre = centre
    axes = covariance.principalAxes
    flatVariance = FlatWalk.variance(isAlone: isAlone)
  }

  /// That of some places.
  init(of places: some Collection<Vector3>, isAlone: Bool) {
    var spread = DeviceSpread()
    for place in places { spread.add(place) }
    self = spread.shape(isAlone: isAlone)
  }

  /// Whether the walk lies within a plane.
  var isFlat: Bool { axes[0].variance < flatVariance }

  /// Whether the walk lies within a line.
  var isLine: Bool { axes[1].variance < flatVariance }

  /// The directions in which a place is known at second order only, unit vectors, the weakest first: none
  /// after a walk through space, one after a walk in a plane, two after a walk along a line.
  var weakDirections: [Vector3] {
    (0..<2).filter { axes[$0].variance < flatVariance }
      .map { axes[$0].direction }
  }

  /// Whether what is open along the weak directions is also open along another one.
  ///
  /// - Parameter direction: A unit vector.
  /// - Returns: Whether it is.
  func hides(_ direction: Vector3) -> Bool {
    for axis in 0..<2 where axes[axis].variance < flatVariance {
      let cosine = axes[axis].direction.dot(direction)
      if cosine * cosine > FlatWalk.hiddenShare { return true }
    }
    return false
  }
}
