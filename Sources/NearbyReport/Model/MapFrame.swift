// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// The frame of every map: x to the right, y ahead and z up, as a person reads a plan.
///
/// For a world with z up it is that world; for one with y up, `(x, y, z) ↦ (x, -z, y)`.
package enum MapFrame {
  /// Takes a vector of the engine's world (y up) to the map.
  package static func vector(fromEngine v: Vector3) -> Vector3 { Vector3(v.x, -v.z, v.y) }

  /// Takes a vector of the map to the engine's world (y up).
  package static func engineVector(fromMap v: Vector3) -> Vector3 { Vector3(v.x, v.z, -v.y) }

  /// Takes a covariance of the engine's world to the map.
  package static func covariance(fromEngine p: SymmetricMatrix3) -> SymmetricMatrix3 {
    SymmetricMatrix3(xx: p.xx, xy: -p.xz, xz: p.xy, yy: p.zz, yz: -p.yz, zz: p.yy)
  }

  /// The names of the map's axes in the recording's own world.
  package static func axisNames(up: WorldUp) -> [String] {
    switch up {
    case .y: ["x", "−z", "y"]
    case .z: ["x", "y", "z"]
    }
  }
}
