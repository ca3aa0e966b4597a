// SPDX-License-Identifier: Apache-2.0

/// Two single-precision numbers.
public typealias simd_float2 = SIMD2<Float>
/// Three single-precision numbers.
public typealias simd_float3 = SIMD3<Float>
/// Four single-precision numbers.
public typealias simd_float4 = SIMD4<Float>
/// Two double-precision numbers.
public typealias simd_double2 = SIMD2<Double>
/// Three double-precision numbers.
public typealias simd_double3 = SIMD3<Double>
/// Four double-precision numbers.
public typealias simd_double4 = SIMD4<Double>
/// Three single-precision numbers, by the older name.
public typealias vector_float3 = SIMD3<Float>
/// Four single-precision numbers, by the older name.
public typealias vector_float4 = SIMD4<Float>

// MARK: - Making

/// A vector from its components.
@inlinable
public func simd_make_float3(_ x: Float, _ y: Float, _ z: Float) -> simd_float3 {
  simd_float3(x, y, z)
}

/// The first three components of a vector.
@inlinable
public func simd_make_float3(_ other: simd_float4) -> simd_float3 {
  simd_float3(other.x, other.y, other.z)
}

/// A vector from its components.
@inlinable
public func simd_make_float4(_ x: Float, _ y: Float, _ z: Float, _ w: Float) -> simd_float4 {
  simd_float4(x, y, z, w)
}

// MARK: - Geometry

/// The inner product.
@inlinable
public func simd_dot<V: SIMD>(_ x: V, _ y: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  (x * y).sum()
}

/// The square of the Euclidean length.
@inlinable
public func simd_length_squared<V: SIMD>(_ x: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_dot(x, x) }

/// The Euclidean length.
@inlinable
public func simd_length<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_dot(x, x).squareRoot()
}

/// The Euclidean distance of two points.
@inlinable
public func simd_distance<V: SIMD>(_ x: V, _ y: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_length(x - y) }

/// The vector of length one along a vector; not a number for the zero vector.
@inlinable
public func simd_normalize<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  x / simd_length(x)
}

/// The right-handed vector product.
@inlinable
public func simd_cross<Scalar: BinaryFloatingPoint>(
  _ x: SIMD3<Scalar>, _ y: SIMD3<Scalar>
) -> SIMD3<Scalar> {
  let (xy, xz) = (x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z)
  return SIMD3(xy, xz, x.x * y.y - x.y * y.x)
}

/// The inner product.
@inlinable
public func dot<V: SIMD>(_ x: V, _ y: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_dot(x, y)
}

/// The Euclidean length.
@inlinable
public func length<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_length(x)
}

/// The Euclidean distance of two points.
@inlinable
public func distance<V: SIMD>(_ x: V, _ y: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_distance(x, y)
}

/// The vector of length one along a vector; not a number for the zero vector.
@inlinable
public func normalize<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_normalize(x)
}

/// The right-handed vector product.
@inlinable
public func cross<Scalar: BinaryFloatingPoint>(
  _ x: SIMD3<Scalar>, _ y: SIMD3<Scalar>
) -> SIMD3<Scalar> { simd_cross(x, y) }
