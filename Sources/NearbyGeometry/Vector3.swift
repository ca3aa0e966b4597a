// SPDX-License-Identifier: Apache-2.0

/// A vector in three dimensions, in metres unless its name says otherwise.
///
/// The frame is part of the name of the variable that holds it: `peerInWorld`, `leverArmInDevice`.
/// Memory layout: three doubles in the order `x`, `y`, `z`.
@frozen
public struct Vector3: Hashable, Sendable, Codable {
  /// The first component.
  public var x: Double
  /// The second component.
  public var y: Double
  /// The third component.
  public var z: Double

  /// The zero vector.
  @inlinable
  public static var zero: Vector3 { Vector3(0, 0, 0) }

  /// Makes a vector from its components.
  @inlinable
  public init(_ x: Double, _ y: Double, _ z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The Euclidean length, without overflow for components below 1e150.
  @inlinable
  public var length: Double { dot(self).squareRoot() }

  /// Whether no component is infinite or not a number.
  @inlinable
  public var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }

  /// The vector of length one along this one; the zero vector stays zero.
  @inlinable
  public var normalized: Vector3 {
    let length = self.length
    return length > 0 ? self / length : .zero
  }

  /// The inner product with another vector.
  @inlinable
  public func dot(_ other: Vector3) -> Double { x * other.x + y * other.y + z * other.z }

  /// The right-handed vector product with another vector.
  @inlinable
  public func cross(_ other: Vector3) -> Vector3 {
    Vector3(
      y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }

  /// The component-wise sum.
  @inlinable
  public static func + (a: Vector3, b: Vector3) -> Vector3 {
    Vector3(a.x + b.x, a.y + b.y, a.z + b.z)
  }

  /// The component-wise difference.
  @inlinable
  public static func - (a: Vector3, b: Vector3) -> Vector3 {
    Vector3(a.x - b.x, a.y - b.y, a.z - b.z)
  }

  /// The vector of opposite direction.
  @inlinable
  public static prefix func - (a: Vector3) -> Vector3 { Vector3(-a.x, -a.y, -a.z) }

  /// The vector scaled by a number.
  @inlinable
  public static func * (a: Vector3, scale: Double) -> Vector3 {
    Vector3(a.x * scale, a.y * scale, a.z * scale)
  }

  /// The vector scaled by a number.
  @inlinable
  public static func * (scale: Double, a: Vector3) -> Vector3 { a * scale }

  /// The vector divided by a number.
  @inlinable
  public static func / (a: Vector3, divisor: Double) -> Vector3 {
    Vector3(a.x / divisor, a.y / divisor, a.z / divisor)
  }

  /// Adds a vector in place.
  @inlinable
  public static func += (a: inout Vector3, b: Vector3) { a = a + b }

  /// Subtracts a vector in place.
  @inlinable
  public static func -= (a: inout Vector3, b: Vector3) { a = a - b }
}
