// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

extension Double {
  /// The same angle in (-π, π].
  ///
  /// Exact for angles already in the interval; for others the error is that of the remainder, below
  /// one unit in the last place of the input.
  @inlinable
  public var wrappedAngle: Double {
    guard self > .pi || self <= -.pi else { return self }
    let rest = remainder(dividingBy: 2 * .pi)
    return rest <= -.pi ? .pi : rest
  }

  /// Degrees as radians.
  @inlinable
  public var degreesAsRadians: Double { self * (.pi / 180) }

  /// Radians as degrees.
  @inlinable
  public var radiansAsDegrees: Double { self * (180 / .pi) }
}

/// The angles of arrival of a direction, in device axes (`arkit`: +x right, +y up, -z ahead).
@frozen
public struct ArrivalAngles: Hashable, Sendable {
  /// `atan2(d.x, -d.z)`: zero straight out of the back camera, positive to the right, (-π, π].
  public var azimuthRadians: Double
  /// `asin(d.y / ‖d‖)`: positive up, [-π/2, π/2].
  public var elevationRadians: Double

  /// Makes a pair of angles.
  @inlinable
  public init(azimuthRadians: Double, elevationRadians: Double) {
    self.azimuthRadians = azimuthRadians
    self.elevationRadians = elevationRadians
  }

  /// The angles under which a vector in device axes is seen; the zero vector gives zeros.
  public init(ofDirection d: Vector3) {
    // Adding zero makes -0 a +0, so that straight behind is π and never -π.
    azimuthRadians = d == .zero ? 0 : atan2(d.x + 0, -d.z)
    elevationRadians = atan2(d.y, (d.x * d.x + d.z * d.z).squareRoot())
  }

  /// The unit vector in device axes that is seen under these angles.
  public var direction: Vector3 {
    let c = cos(elevationRadians)
    return Vector3(c * sin(azimuthRadians), sin(elevationRadians), -c * cos(azimuthRadians))
  }
}
