// SPDX-License-Identifier: Apache-2.0
import Foundation
package import NearbyGeometry

/// Which way a device faces about gravity.
///
/// The horizontal projection of the back camera's axis (-z). Within 30 degrees of looking straight up
/// or down that projection says little, so it blends to the projection of the device's +y (looking
/// down) or -y (looking up): the way the top of a phone points when it is laid flat.
package struct Heading {
  /// The unit vector ahead, in the world's horizontal plane.
  let ahead: Vector3
  /// The unit vector to the right of it.
  let right: Vector3

  /// The sine of the elevation of the camera's axis at which blending begins.
  private static let blendFrom = cos(30.0.degreesAsRadians)

  package init(_ worldFromDevice: Rotation) {
    let camera = -worldFromDevice.zAxis
    var level = Vector3(camera.x, 0, camera.z)
    let steep = abs(camera.y)
    if steep > Self.blendFrom {
      let top = worldFromDevice.yAxis
      let sign = camera.y < 0 ? 1.0 : -1.0
      let blend = (steep - Self.blendFrom) / (1 - Self.blendFrom)
      level = (1 - blend) * level + blend * sign * Vector3(top.x, 0, top.z)
    }
    let unit = level.normalized
    ahead = unit == .zero ? Vector3(0, 0, -1) : unit
    right = Vector3(-ahead.z, 0, ahead.x)
  }

  /// The bearing of a horizontal vector, positive to the right, (-π, π].
  package func bearing(of vector: Vector3) -> Double {
    atan2(vector.dot(right), vector.dot(ahead))
  }
}
