// SPDX-License-Identifier: Apache-2.0

// Apple's older names of the functions for vectors and matrices.

/// The inner product.
public func vector_dot<V: SIMD>(_ x: V, _ y: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_dot(x, y)
}

/// The square of the Euclidean length.
public func vector_length_squared<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_length_squared(x)
}

/// The Euclidean length.
public func vector_length<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_length(x)
}

/// The Euclidean distance of two points.
public func vector_distance<V: SIMD>(_ x: V, _ y: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_distance(x, y) }

/// The square of the Euclidean distance of two points.
public func vector_distance_squared<V: SIMD>(_ x: V, _ y: V) -> V.Scalar
where V.Scalar: BinaryFloatingPoint { simd_distance_squared(x, y) }

/// The vector of length one along a vector; NaN for the zero vector.
public func vector_normalize<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_normalize(x)
}

/// The right-handed vector product.
public func vector_cross<Scalar: BinaryFloatingPoint>(_ x: SIMD3<Scalar>, _ y: SIMD3<Scalar>)
  -> SIMD3<Scalar>
{ simd_cross(x, y) }

/// The part of a vector along another.
public func vector_project<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_project(x, y)
}

/// A vector mirrored at the plane with a unit normal.
public func vector_reflect<V: SIMD>(_ x: V, _ normal: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_reflect(x, normal)
}

/// The magnitude of each component.
public func vector_abs<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint { simd_abs(x) }

/// The smaller of each pair of components.
public func vector_min<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: Comparable { simd_min(x, y) }

/// The larger of each pair of components.
public func vector_max<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: Comparable { simd_max(x, y) }

/// Each component moved to the nearest point of its interval.
public func vector_clamp<V: SIMD>(_ x: V, _ min: V, _ max: V) -> V where V.Scalar: Comparable {
  simd_clamp(x, min, max)
}

/// The point at a fraction of the way between two others, component by component.
public func vector_mix<V: SIMD>(_ x: V, _ y: V, _ t: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_mix(x, y, t)
}

/// The sum of all components.
public func vector_reduce_add<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  simd_reduce_add(x)
}

/// The smallest component.
public func vector_reduce_min<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: Comparable {
  simd_reduce_min(x)
}

/// The largest component.
public func vector_reduce_max<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: Comparable {
  simd_reduce_max(x)
}

// MARK: - Matrices

/// The product of two matrices; the right one acts first.
public func matrix_multiply<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x * y }

/// The product of a matrix with a column vector.
public func matrix_multiply<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix.Row) -> Matrix.Column {
  x * y
}

/// A matrix scaled by a number.
public func matrix_scale<Matrix: SIMDMatrix>(_ a: Matrix.Column.Scalar, _ x: Matrix) -> Matrix {
  a * x
}

/// The sum of two matrices.
public func matrix_add<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x + y }

/// The difference of two matrices.
public func matrix_sub<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x - y }

/// A matrix with rows and columns exchanged.
public func matrix_transpose<Matrix: SIMDMatrix>(_ x: Matrix) -> Matrix.Transpose { x.transpose }

/// The inverse of a matrix.
public func matrix_invert<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix { x.inverse }

/// The determinant of a matrix.
public func matrix_determinant<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix.Column.Scalar {
  x.determinant
}

/// Whether all elements of two matrices are equal.
public func matrix_equal<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix) -> Bool { x == y }
