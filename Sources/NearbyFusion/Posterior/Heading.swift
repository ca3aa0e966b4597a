// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Which way a device faces about gravity.
///
/// The horizontal projection of the back camera's axis (-z). Within 30 degrees of looking straight up
/// or down that projection says little, so it blends to the projection of the device's +y (looking
/// down) or -y (looking up): the way the top of a phone points when it is laid flat.
package struct Heading {
  /// Ahead in the world's horizontal plane; of no particular length, which a bearing does not need.
  private let level: Vector3

  /// The unit vector ahead, in the world's horizontal plane.
  var ahead: Vector3 { level.normalized }
  /// The unit vector to the right of it.
  var right: Vector3 { Vector3(-ahead.z, 0, ahead.x) }

  /// The sine of the elevation of the camera's axis at which blending begins: cos 30°.
  private static let blendFrom = 0.8660254037844387

  @inline(__always)
  package init(_ worldFromDevice: Rotation) {
    let camera = -worldFromDevice.zAxis
    let level = Vector3(camera.x, 0, camera.z)
    let isSteep = abs(camera.y) > Self.blendFrom
    self.level = isSteep ? Self.blended(level, camera, worldFromDevice.yAxis) : level
  }

  private static func blended(_ level: Vector3, _ camera: Vector3, _ top: Vector3) -> Vector3 {
    let sign = camera.y < 0 ? 1.0 : -1.0
    let blend = (abs(camera.y) - blendFrom) / (1 - blendFrom)
    let blended = (1 - blend) * level + blend * sign * Vector3(top.x, 0, top.z)
    return blended == .zero ? Vector3(0, 0, -1) : blended
  }

  /// The bearing of a horizontal vector, positive to the right, (-π, π].
  package func bearing(of vector: Vector3) -> Double {
    atan2(level.x * vector.z - level.z * vector.x, level.x * vector.x + level.z * vector.z)
  }
}
