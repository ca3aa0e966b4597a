// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A turn about gravity (y), with its sine and cosine at hand.
package struct YawTurn: Sendable {
  private let sine: Double
  private let cosine: Double

  /// Makes the turn by an angle.
  package init(_ radians: Double) {
    sine = sin(radians)
    cosine = cos(radians)
  }

  /// Turns a vector.
  package func act(_ v: Vector3) -> Vector3 {
    Vector3(cosine * v.x + sine * v.z, v.y, cosine * v.z - sine * v.x)
  }

  /// Turns a vector back.
  package func actBack(_ v: Vector3) -> Vector3 {
    Vector3(cosine * v.x - sine * v.z, v.y, cosine * v.z + sine * v.x)
  }
}
