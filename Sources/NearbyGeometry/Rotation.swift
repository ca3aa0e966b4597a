// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A rotation in three dimensions, held as a unit quaternion (Hamilton, scalar last).
///
/// `a * b` rotates by `b` first, so that `worldFromDevice * deviceFromAntenna` reads as a chain.
/// `q` and `-q` are the same rotation; compare with ``angle(to:)``, not with `==`.
/// Memory layout: four doubles in the order `x`, `y`, `z`, `w`.
@frozen
public struct Rotation: Hashable, Sendable, Codable {
  /// The first component of the quaternion's vector part.
  public let x: Double
  /// The second component of the quaternion's vector part.
  public let y: Double
  /// The third component of the quaternion's vector part.
  public let z: Double
  /// The quaternion's scalar part.
  public let w: Double

  /// The identity rotation.
  @inlinable
  public static var identity: Rotation { Rotation(unchecked: 0, 0, 0, 1) }

  /// Makes a rotation from a quaternion that has unit length already.
  @inlinable
  package init(unchecked x: Double, _ y: Double, _ z: Double, _ w: Double) {
    self.x = x
    self.y = y
    self.z = z
    self.w = w
  }

  /// Makes a rotation from quaternion components of any length that is not zero.
  ///
  /// `nil` when a component is not finite or the length is below 1e-9, since the direction is
  /// undefined then.
  ///
  /// - Parameters:
  ///   - x: First component of the vector part.
  ///   - y: Second component of the vector part.
  ///   - z: Third component of the vector part.
  ///   - w: Scalar part.
  @inlinable
  public init?(normalizing x: Double, _ y: Double, _ z: Double, _ w: Double) {
    let length = (x * x + y * y + z * z + w * w).squareRoot()
    guard length.isFinite, length > 1e-9 else { return nil }
    self.init(unchecked: x / length, y / length, z / length, w / length)
  }

  /// Reads a quaternion: its components `x`, `y`, `z` and `w`.
  ///
  /// One of unit length, within rounding, is kept bit by bit. Another one is divided by its length.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws, and when the components are no direction.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let x = try container.decode(Double.self, forKey: .x)
    let y = try container.decode(Double.self, forKey: .y)
    let z = try container.decode(Double.self, forKey: .z)
    let w = try container.decode(Double.self, forKey: .w)
    if abs(x * x + y * y + z * z + w * w - 1) < Self.unitTolerance {
      self.init(unchecked: x, y, z, w)
    } else if let rotation = Rotation(normalizing: x, y, z, w) {
      self = rotation
    } else {
      throw DecodingError.dataCorruptedError(
        forKey: .w, in: container, debugDescription: "a quaternion without a direction")
    }
  }

  /// By how much the square of a length may differ from one after some products of rotations.
  private static let unitTolerance = 1e-6

  /// Makes the rotation by an angle about an axis.
  ///
  /// - Parameters:
  ///   - angleRadians: The angle, positive by the right-hand rule.
  ///   - axis: The axis; its length does not matter. The zero vector gives the identity.
  public init(angleRadians: Double, about axis: Vector3) {
    let unit = axis.normalized
    let s = sin(angleRadians / 2)
    let c = unit == .zero ? 1 : cos(angleRadians / 2)
    self.init(unchecked: unit.x * s, unit.y * s, unit.z * s, c)
  }

  /// Makes a rotation from the columns of a rotation matrix: where it takes the three unit vectors.
  ///
  /// - Parameters:
  ///   - xAxis: The image of `(1, 0, 0)`.
  ///   - yAxis: The image of `(0, 1, 0)`.
  ///   - zAxis: The image of `(0, 0, 1)`.
  public init(xAxis: Vector3, yAxis: Vector3, zAxis: Vector3) {
    // Shepperd's method: the largest of the four squares is the safe divisor.
    let trace = xAxis.x + yAxis.y + zAxis.z
    var q = (x: 0.0, y: 0.0, z: 0.0, w: 0.0)
    if trace > max(xAxis.x, yAxis.y, zAxis.z) {
      q = (yAxis.z - zAxis.y, zAxis.x - xAxis.z, xAxis.y - yAxis.x, 1 + trace)
    } else if xAxis.x >= max(yAxis.y, zAxis.z) {
      q = (1 + 2 * xAxis.x - trace, xAxis.y + yAxis.x, zAxis.x + xAxis.z, yAxis.z - zAxis.y)
    } else if yAxis.y >= zAxis.z {
      q = (xAxis.y + yAxis.x, 1 + 2 * yAxis.y - trace, yAxis.z + zAxis.y, zAxis.x - xAxis.z)
    } else {
      q = (zAxis.x + xAxis.z, yAxis.z + zAxis.y, 1 + 2 * zAxis.z - trace, xAxis.y - yAxis.x)
    }
    self = Rotation(normalizing: q.x, q.y, q.z, q.w) ?? .identity
  }

  /// The inverse rotation.
  @inlinable
  public var inverse: Rotation { Rotation(unchecked: -x, -y, -z, w) }

  /// Where the rotation takes `(1, 0, 0)`: the first column of its matrix.
  @inlinable
  public var xAxis: Vector3 {
    Vector3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
  }

  /// Where the rotation takes `(0, 1, 0)`: the second column of its matrix.
  @inlinable
  public var yAxis: Vector3 {
    Vector3(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x))
  }

  /// Where the rotation takes `(0, 0, 1)`: the third column of its matrix.
  @inlinable
  public var zAxis: Vector3 {
    Vector3(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
  }

  /// Rotates a vector.
  @inlinable
  public func act(_ v: Vector3) -> Vector3 {
    let u = Vector3(x, y, z)
    let t = 2 * u.cross(v)
    return v + w * t + u.cross(t)
  }

  /// The chain of two rotations; the right one acts first.
  @inlinable
  public static func * (a: Rotation, b: Rotation) -> Rotation {
    // One Newton step renormalises the product, so that rounding does not accumulate.
    let x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y
    let y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x
    let z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w
    let w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z
    let scale = 1.5 - 0.5 * (x * x + y * y + z * z + w * w)
    return Rotation(unchecked: x * scale, y * scale, z * scale, w * scale)
  }

  /// The angle between two rotations, in [0, π].
  ///
  /// - Parameter other: The other rotation.
  /// - Returns: The smallest angle, in radians, that turns one into the other.
  public func angle(to other: Rotation) -> Double {
    // The vector and the scalar part of inverse * other.
    let cosine = w * other.w + x * other.x + y * other.y + z * other.z
    let vector = Vector3(
      w * other.x - x * other.w - y * other.z + z * other.y,
      w * other.y + x * other.z - y * other.w - z * other.x,
      w * other.z - x * other.y + y * other.x - z * other.w)
    let tangent = vector.length / abs(cosine)
    // Small angles, as between neighbouring poses, use the series. The first omitted term is below
    // 1e-16 of the sum.
    guard tangent < 0.03 else { return 2 * atan2(vector.length, abs(cosine)) }
    let t = tangent * tangent
    return 2 * tangent * (1 - t * (1 / 3 - t * (1 / 5 - t * (1 / 7 - t / 9))))
  }

  /// The angle α in [0, π] of a cos²(α/2).
  ///
  /// The cosine's rounding limits the accuracy: the error is about 1e-15/α, or 5e-8 radians where
  /// that is larger.
  @inlinable
  package static func angle(ofSquaredHalfCosine squaredCosine: Double) -> Double {
    let s = max(0, 1 - squaredCosine)
    // Small angles, as between neighbouring poses, use the arcsine's series. The first omitted term
    // is below 1e-13.
    guard s < 0.001 else { return wideAngle(squaredSine: s, squaredCosine: squaredCosine) }
    return 2 * s.squareRoot() * (1 + s * (1 / 6 + s * (3 / 40 + s * (15 / 336))))
  }

  @usableFromInline
  static func wideAngle(squaredSine: Double, squaredCosine: Double) -> Double {
    2 * atan2(squaredSine.squareRoot(), squaredCosine.squareRoot())
  }

  /// cos²(α/2) of the angle α to another rotation.
  ///
  /// It decreases with the angle and needs no trigonometric function.
  @inlinable
  package func squaredHalfCosine(to other: Rotation) -> Double {
    let cosine = x * other.x + y * other.y + z * other.z + w * other.w
    return cosine * cosine
  }

  /// The sum of the components' squares, which is one within rounding.
  @inlinable
  package var squaredNorm: Double { x * x + y * y + z * z + w * w }

  /// Spherical linear interpolation along the shorter arc.
  ///
  /// For the small arcs between neighbouring poses (below 0.06 rad) it is the normalised linear
  /// interpolation, which differs from the arc by less than 1e-6 rad and needs no trigonometry.
  ///
  /// - Parameters:
  ///   - other: The rotation at `fraction` one.
  ///   - fraction: Where between the two, 0 to 1; outside, it extrapolates at the same rate.
  /// - Returns: The rotation in between.
  @inlinable
  @inline(__always)
  public func interpolated(to other: Rotation, fraction: Double) -> Rotation {
    let cosine = x * other.x + y * other.y + z * other.z + w * other.w
    // cos(0.03): half the arc of the rotation is the arc of the quaternion.
    guard abs(cosine) >= 0.99955, fraction >= 0, fraction <= 1 else {
      return interpolatedOnArc(to: other, fraction, cosine)
    }
    let q = mixed(1 - fraction, cosine < 0 ? -fraction : fraction, other)
    // Shorter than one by 2.3e-4 at most: the next term of 1/√(1 - short) is below 1e-15.
    let short = 1 - (q.0 * q.0 + q.1 * q.1 + q.2 * q.2 + q.3 * q.3)
    let scale = 1 + short * (0.5 + short * (0.375 + short * 0.3125))
    return Rotation(unchecked: q.0 * scale, q.1 * scale, q.2 * scale, q.3 * scale)
  }

  @usableFromInline
  @inline(never)
  func interpolatedOnArc(to other: Rotation, _ fraction: Double, _ cosine: Double) -> Rotation {
    let squaredChord = 2 * (1 - abs(cosine))
    guard squaredChord * max(1, fraction * fraction) > 1e-3 else {
      return interpolatedOnSmallArc(to: other, fraction, cosine, squaredChord)
    }
    // Nearly equal rotations are handled above, so the cosine is below one and the sine above 1e-8.
    let half = acos(abs(cosine))
    let sine = sin(half)
    let sign = cosine < 0 ? -1.0 : 1.0
    let q = mixed(sin((1 - fraction) * half) / sine, sign * sin(fraction * half) / sine, other)
    let scale = 1 / (q.0 * q.0 + q.1 * q.1 + q.2 * q.2 + q.3 * q.3).squareRoot()
    return Rotation(unchecked: q.0 * scale, q.1 * scale, q.2 * scale, q.3 * scale)
  }

  /// Spherical linear interpolation for small arcs: the weights sin(f h)/sin(h) as series in the
  /// arc h between the quaternions.
  ///
  /// The rotation is accurate to 2e-12 rad.
  private func interpolatedOnSmallArc(
    to other: Rotation, _ fraction: Double, _ cosine: Double, _ squaredChord: Double
  ) -> Rotation {
    let h2 = squaredChord * (1 + squaredChord * (1 / 12))
    func share(_ f: Double) -> Double {
      let f2 = f * f
      return f * (1 + h2 * ((1 - f2) * (1 / 6) + h2 * (7 - f2 * (10 - 3 * f2)) * (1 / 360)))
    }
    let towards = share(fraction)
    let q = mixed(share(1 - fraction), cosine < 0 ? -towards : towards, other)
    let scale = 1.5 - 0.5 * (q.0 * q.0 + q.1 * q.1 + q.2 * q.2 + q.3 * q.3)
    return Rotation(unchecked: q.0 * scale, q.1 * scale, q.2 * scale, q.3 * scale)
  }

  /// The components of a sum of quaternions.
  @inlinable
  @inline(__always)
  func mixed(
    _ a: Double, _ b: Double, _ other: Rotation
  ) -> (Double, Double, Double, Double) {
    (a * x + b * other.x, a * y + b * other.y, a * z + b * other.z, a * w + b * other.w)
  }
}
