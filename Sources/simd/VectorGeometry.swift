// SPDX-License-Identifier: Apache-2.0

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

/// The square of the Euclidean distance of two points.
@inlinable
public func simd_distance_squared<V: SIMD>(_ x: V, _ y: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_length_squared(x - y) }

/// The vector of length one along a vector; NaN for the zero vector.
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

/// The part of a vector along another.
@inlinable
public func simd_project<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: BinaryFloatingPoint {
  (simd_dot(x, y) / simd_length_squared(y)) * y
}

/// A vector mirrored at the plane with a unit normal.
@inlinable
public func simd_reflect<V: SIMD>(_ x: V, _ normal: V) -> V
where V.Scalar: BinaryFloatingPoint { x - (2 * simd_dot(x, normal)) * normal }

// Apple's variants that are faster and less accurate. Here they are the accurate functions.

/// The Euclidean length.
@inlinable
public func simd_fast_length<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_length(x)
}

/// The Euclidean distance of two points.
@inlinable
public func simd_fast_distance<V: SIMD>(_ x: V, _ y: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_distance(x, y) }

/// The vector of length one along a vector; NaN for the zero vector.
@inlinable
public func simd_fast_normalize<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_normalize(x)
}

// MARK: - By their short names

/// The inner product.
@inlinable
public func dot<V: SIMD>(_ x: V, _ y: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_dot(x, y)
}

/// The square of the Euclidean length.
@inlinable
public func length_squared<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_length_squared(x)
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

/// The square of the Euclidean distance of two points.
@inlinable
public func distance_squared<V: SIMD>(_ x: V, _ y: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_distance_squared(x, y) }

/// The vector of length one along a vector; NaN for the zero vector.
@inlinable
public func normalize<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_normalize(x)
}

/// The right-handed vector product.
@inlinable
public func cross<Scalar: BinaryFloatingPoint>(
  _ x: SIMD3<Scalar>, _ y: SIMD3<Scalar>
) -> SIMD3<Scalar> { simd_cross(x, y) }

/// The part of a vector along another.
@inlinable
public func project<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_project(x, y)
}

/// A vector mirrored at the plane with a unit normal.
@inlinable
public func reflect<V: SIMD>(_ x: V, n normal: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_reflect(x, normal)
}
