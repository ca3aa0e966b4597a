// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The common interface of quaternions r + ix i + iy j + iz k, stored as (ix, iy, iz, r).
///
/// A unit quaternion rotates a vector v to q v q*, by the right-hand rule.
public protocol SIMDQuaternion: Hashable, Sendable, CustomStringConvertible {
  /// The type of its components.
  associatedtype Scalar: BinaryFloatingPoint & SIMDScalar
  /// A rotation as a matrix.
  associatedtype Rotation: SIMDSquareMatrix where Rotation.Column == SIMD3<Scalar>
  /// A rotation and a translation as a matrix.
  associatedtype Transform: SIMDSquareMatrix where Transform.Column == SIMD4<Scalar>

  /// The components: ix, iy, iz and r.
  var vector: SIMD4<Scalar> { get set }

  /// Makes a quaternion from its components: ix, iy, iz and r.
  init(vector: SIMD4<Scalar>)
}

/// A quaternion of single-precision numbers.
public struct simd_quatf: SIMDQuaternion {
  /// A rotation as a matrix.
  public typealias Rotation = simd_float3x3
  /// A rotation and a translation as a matrix.
  public typealias Transform = simd_float4x4

  /// The components: ix, iy, iz and r.
  public var vector: simd_float4

  /// Makes the zero quaternion, which is not a rotation.
  public init() { vector = .zero }

  /// Makes a quaternion from its components: ix, iy, iz and r.
  public init(vector: simd_float4) { self.vector = vector }
}

/// A quaternion of double-precision numbers.
public struct simd_quatd: SIMDQuaternion {
  /// A rotation as a matrix.
  public typealias Rotation = simd_double3x3
  /// A rotation and a translation as a matrix.
  public typealias Transform = simd_double4x4

  /// The components: ix, iy, iz and r.
  public var vector: simd_double4

  /// Makes the zero quaternion, which is not a rotation.
  public init() { vector = .zero }

  /// Makes a quaternion from its components: ix, iy, iz and r.
  public init(vector: simd_double4) { self.vector = vector }
}

extension SIMDQuaternion {
  // MARK: Making

  /// Makes a quaternion from its components.
  public init(ix: Scalar, iy: Scalar, iz: Scalar, r: Scalar) {
    self.init(vector: SIMD4(ix, iy, iz, r))
  }

  /// Makes a quaternion from its real part and its imaginary parts.
  public init(real: Scalar, imag: SIMD3<Scalar>) { self.init(vector: SIMD4(imag, real)) }

  /// Makes a rotation.
  ///
  /// - Parameters:
  ///   - angle: Radians.
  ///   - axis: The axis, of length one.
  public init(angle: Scalar, axis: SIMD3<Scalar>) {
    let half = Double(angle) / 2
    self.init(real: Scalar(cos(half)), imag: Scalar(sin(half)) * axis)
  }

  /// Makes the shortest rotation from one direction to another.
  ///
  /// - Parameters:
  ///   - from: A vector of length one.
  ///   - to: A vector of length one.
  public init(from: SIMD3<Scalar>, to: SIMD3<Scalar>) {
    let half = from + to
    guard simd_length_squared(half) > Scalar.ulpOfOne else {
      // Opposite directions: half a turn about any perpendicular axis.
      let other: SIMD3<Scalar> =
        from.x.magnitude < 0.5 ? SIMD3(1, 0, 0) : SIMD3(0, 1, 0)
      self.init(real: 0, imag: simd_normalize(simd_cross(from, other)))
      return
    }
    let middle = simd_normalize(half)
    self.init(real: simd_dot(from, middle), imag: simd_cross(from, middle))
  }

  /// Makes the rotation of a rotation matrix.
  public init(_ rotation: Rotation) {
    // Uses the largest of the four components, whose square is farthest from zero.
    let (x, y, z) = (rotation[0], rotation[1], rotation[2])
    let squares = SIMD4(
      1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z, 1 - x.x - y.y + z.z, 1 + x.x + y.y + z.z)
    let (xy, yz, zx) = (x.y + y.x, y.z + z.y, z.x + x.z)
    let (turnX, turnY, turnZ) = (y.z - z.y, z.x - x.z, x.y - y.x)
    let largest = squares.max()
    let components: SIMD4<Scalar> =
      if largest == squares.w {
        SIMD4(turnX, turnY, turnZ, largest)
      } else if largest == squares.x {
        SIMD4(largest, xy, zx, turnX)
      } else if largest == squares.y {
        SIMD4(xy, largest, yz, turnY)
      } else {
        SIMD4(zx, yz, largest, turnZ)
      }
    self.init(vector: components / (2 * largest.squareRoot()))
  }

  /// Makes the rotation of a transform, without its translation.
  public init(_ transform: Transform) {
    self.init(
      Rotation((0..<3).map { SIMD3(transform[$0].x, transform[$0].y, transform[$0].z) }))
  }

  // MARK: Parts

  /// The real part.
  public var real: Scalar {
    get { vector.w }
    set { vector.w = newValue }
  }

  /// The imaginary parts.
  public var imag: SIMD3<Scalar> {
    get { SIMD3(vector.x, vector.y, vector.z) }
    set { vector = SIMD4(newValue, vector.w) }
  }

  /// The angle of the rotation, radians, [0, 2π].
  public var angle: Scalar {
    Scalar(2 * atan2(Double(simd_length(imag)), Double(real)))
  }

  /// The axis of the rotation; NaN for the identity.
  public var axis: SIMD3<Scalar> { simd_normalize(imag) }

  /// The Euclidean length; one for rotations.
  public var length: Scalar { simd_length(vector) }

  /// The same rotation with length one.
  public var normalized: Self { Self(vector: simd_normalize(vector)) }

  /// The quaternion with the signs of its imaginary parts changed; the inverse of a rotation.
  public var conjugate: Self { Self(real: real, imag: -imag) }

  /// The multiplicative inverse.
  public var inverse: Self {
    Self(vector: conjugate.vector / simd_length_squared(vector))
  }

  /// The rotation matrix.
  fileprivate var rotation: Rotation {
    Rotation([act(SIMD3(1, 0, 0)), act(SIMD3(0, 1, 0)), act(SIMD3(0, 0, 1))])
  }

  /// The transform of the rotation without a translation.
  fileprivate var transform: Transform {
    Transform((0..<3).map { SIMD4(rotation[$0], 0) } + [SIMD4(0, 0, 0, 1)])
  }

  // MARK: Acting

  /// A vector rotated by the quaternion, which must have length one.
  public func act(_ vector: SIMD3<Scalar>) -> SIMD3<Scalar> {
    let twice = 2 * simd_cross(imag, vector)
    return vector + real * twice + simd_cross(imag, twice)
  }

  /// The product; the right rotation acts first.
  public static func * (a: Self, b: Self) -> Self {
    Self(
      real: a.real * b.real - simd_dot(a.imag, b.imag),
      imag: a.real * b.imag + b.real * a.imag + simd_cross(a.imag, b.imag))
  }

  /// Multiplies from the right.
  public static func *= (a: inout Self, b: Self) { a = a * b }

  /// The quaternion scaled by a number.
  public static func * (scale: Scalar, a: Self) -> Self { Self(vector: scale * a.vector) }

  /// The quaternion scaled by a number.
  public static func * (a: Self, scale: Scalar) -> Self { scale * a }

  /// The sum.
  public static func + (a: Self, b: Self) -> Self { Self(vector: a.vector + b.vector) }

  /// The difference.
  public static func - (a: Self, b: Self) -> Self { Self(vector: a.vector - b.vector) }

  /// The quaternion with all signs changed, which is the same rotation.
  public static prefix func - (a: Self) -> Self { Self(vector: -a.vector) }

  /// The real part and the imaginary parts.
  public var description: String { "\(Self.self)(real: \(real), imag: \(imag))" }
}

// MARK: - As matrices

extension simd_float3x3 {
  /// Makes the matrix of a rotation.
  public init(_ quaternion: simd_quatf) { self = quaternion.rotation }
}

extension simd_float4x4 {
  /// Makes the matrix of a rotation.
  public init(_ quaternion: simd_quatf) { self = quaternion.transform }
}

extension simd_double3x3 {
  /// Makes the matrix of a rotation.
  public init(_ quaternion: simd_quatd) { self = quaternion.rotation }
}

extension simd_double4x4 {
  /// Makes the matrix of a rotation.
  public init(_ quaternion: simd_quatd) { self = quaternion.transform }
}

/// The matrix of a rotation.
public func simd_matrix3x3(_ q: simd_quatf) -> simd_float3x3 { simd_float3x3(q) }

/// The matrix of a rotation.
public func simd_matrix4x4(_ q: simd_quatf) -> simd_float4x4 { simd_float4x4(q) }

// MARK: - Functions

/// A quaternion from its components: ix, iy, iz and r.
public func simd_quaternion(_ ix: Float, _ iy: Float, _ iz: Float, _ r: Float) -> simd_quatf {
  simd_quatf(ix: ix, iy: iy, iz: iz, r: r)
}

/// A rotation by an angle in radians about an axis of length one.
public func simd_quaternion(_ angle: Float, _ axis: simd_float3) -> simd_quatf {
  simd_quatf(angle: angle, axis: axis)
}

/// The shortest rotation from one unit vector to another.
public func simd_quaternion(_ from: simd_float3, _ to: simd_float3) -> simd_quatf {
  simd_quatf(from: from, to: to)
}

/// The rotation of a rotation matrix.
public func simd_quaternion(_ matrix: simd_float3x3) -> simd_quatf { simd_quatf(matrix) }

/// The rotation of a transform, without its translation.
public func simd_quaternion(_ matrix: simd_float4x4) -> simd_quatf { simd_quatf(matrix) }

/// A vector rotated by a quaternion of length one.
public func simd_act<Q: SIMDQuaternion>(_ q: Q, _ v: SIMD3<Q.Scalar>) -> SIMD3<Q.Scalar> {
  q.act(v)
}

/// The product; the right rotation acts first.
public func simd_mul<Q: SIMDQuaternion>(_ p: Q, _ q: Q) -> Q { p * q }

/// The inner product of the components.
public func simd_dot<Q: SIMDQuaternion>(_ p: Q, _ q: Q) -> Q.Scalar {
  simd_dot(p.vector, q.vector)
}

/// The Euclidean length; one for rotations.
public func simd_length<Q: SIMDQuaternion>(_ q: Q) -> Q.Scalar { q.length }

/// The same rotation with length one.
public func simd_normalize<Q: SIMDQuaternion>(_ q: Q) -> Q { q.normalized }

/// The quaternion with the signs of its imaginary parts changed; the inverse of a rotation.
public func simd_conjugate<Q: SIMDQuaternion>(_ q: Q) -> Q { q.conjugate }

/// The multiplicative inverse.
public func simd_inverse<Q: SIMDQuaternion>(_ q: Q) -> Q { q.inverse }

/// The angle of a rotation, radians, [0, 2π].
public func simd_angle<Q: SIMDQuaternion>(_ q: Q) -> Q.Scalar { q.angle }

/// The axis of a rotation.
public func simd_axis<Q: SIMDQuaternion>(_ q: Q) -> SIMD3<Q.Scalar> { q.axis }

/// The rotation at a fraction of the shortest arc between two, at constant speed.
public func simd_slerp<Q: SIMDQuaternion>(_ p: Q, _ q: Q, _ t: Q.Scalar) -> Q {
  // A quaternion and its negative are the same rotation; takes the nearer one.
  simd_slerp_longest(p, simd_dot(p, q) < 0 ? -q : q, t)
}

/// The rotation at a fraction of the arc between two, at constant speed, without changing signs.
public func simd_slerp_longest<Q: SIMDQuaternion>(_ p: Q, _ q: Q, _ t: Q.Scalar) -> Q {
  let angle = Double(simd_length((p - q).vector) / simd_length((p + q).vector))
  let whole = 2 * atan(angle)
  guard whole > 1e-4 else { return ((1 - t) * p + t * q).normalized }
  let (here, there) = (sin((1 - Double(t)) * whole), sin(Double(t) * whole))
  return (Q.Scalar(here / sin(whole)) * p + Q.Scalar(there / sin(whole)) * q).normalized
}
