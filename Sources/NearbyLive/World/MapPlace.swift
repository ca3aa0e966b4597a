// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyGeometry
internal import NearbyReport

/// Places and headings of the map for the engine's, and back.
package enum MapPlace {
  /// Takes a place of the engine's world (y up) to the map (z up).
  package static func map(fromEngine place: Vector3) -> Vector3 {
    MapFrame.vector(fromEngine: place)
  }

  /// Takes a place of the map (z up) to the engine's world (y up).
  package static func engine(fromMap place: Vector3) -> Vector3 {
    MapFrame.engineVector(fromMap: place)
  }

  /// The heading of a device: degrees from the map's y towards x.
  ///
  /// - Parameter rotation: Its attitude in the engine's world.
  /// - Returns: The bearing of the back camera; that of the top edge, where the camera looks up or down.
  package static func headingDegrees(of rotation: Rotation) -> Double {
    var ahead = -rotation.zAxis
    if ahead.x * ahead.x + ahead.z * ahead.z < 0.05 { ahead = rotation.yAxis }
    let map = map(fromEngine: ahead)
    return atan2(map.x, map.y).radiansAsDegrees
  }
}
