// SPDX-License-Identifier: Apache-2.0

// MARK: - Component by component

/// The smaller of each pair of components.
@inlinable
public func simd_min<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: Comparable { pointwiseMin(x, y) }

/// The larger of each pair of components.
@inlinable
public func simd_max<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: Comparable { pointwiseMax(x, y) }

/// Each component moved to the nearest point of its interval.
@inlinable
public func simd_clamp<V: SIMD>(_ x: V, _ min: V, _ max: V) -> V where V.Scalar: Comparable {
  x.clamped(lowerBound: min, upperBound: max)
}

/// The magnitude of each component.
@inlinable
public func simd_abs<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  pointwiseMax(x, -x)
}

/// The sign of each component: 1, -1, or 0 for zero and NaN.
@inlinable
public func simd_sign<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint {
  V.zero.replacing(with: 1, where: x .> 0).replacing(with: -1, where: x .< 0)
}

/// The point at a fraction of the way between two others, component by component.
@inlinable
public func simd_mix<V: SIMD>(_ x: V, _ y: V, _ t: V) -> V where V.Scalar: BinaryFloatingPoint {
  x + t * (y - x)
}

/// Each component's smooth step from 0 at one edge to 1 at the other: t² (3 - 2 t).
@inlinable
public func simd_smoothstep<V: SIMD>(_ edge0: V, _ edge1: V, _ x: V) -> V
where V.Scalar: BinaryFloatingPoint {
  let t = simd_clamp((x - edge0) / (edge1 - edge0), V.zero, V.one)
  return t * t * (3 - 2 * t)
}

// MARK: - Of single numbers

/// A number moved to the nearest point of an interval.
@inlinable
public func simd_clamp<Number: BinaryFloatingPoint>(
  _ x: Number, _ min: Number, _ max: Number
) -> Number { Swift.min(Swift.max(x, min), max) }

/// The sign of a number: 1, -1, or 0 for zero and NaN.
@inlinable
public func simd_sign<Number: BinaryFloatingPoint>(_ x: Number) -> Number {
  x > 0 ? 1 : x < 0 ? -1 : 0
}

/// The point at a fraction of the way between two others.
@inlinable
public func simd_mix<Number: BinaryFloatingPoint>(
  _ x: Number, _ y: Number, _ t: Number
) -> Number { x + t * (y - x) }

/// The smooth step from 0 at one edge to 1 at the other: t² (3 - 2 t).
@inlinable
public func simd_smoothstep<Number: BinaryFloatingPoint>(
  _ edge0: Number, _ edge1: Number, _ x: Number
) -> Number {
  let t = simd_clamp((x - edge0) / (edge1 - edge0), 0, 1)
  return t * t * (3 - 2 * t)
}

// MARK: - Over all components

/// The sum of all components.
@inlinable
public func simd_reduce_add<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: BinaryFloatingPoint {
  x.sum()
}

/// The smallest component.
@inlinable
public func simd_reduce_min<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: Comparable { x.min() }

/// The largest component.
@inlinable
public func simd_reduce_max<V: SIMD>(_ x: V) -> V.Scalar where V.Scalar: Comparable { x.max() }

/// Whether all components of two vectors are equal.
@inlinable
public func simd_equal<V: SIMD>(_ x: V, _ y: V) -> Bool { x == y }

// MARK: - By their short names

/// The smaller of each pair of components.
@inlinable
public func min<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: Comparable { simd_min(x, y) }

/// The larger of each pair of components.
@inlinable
public func max<V: SIMD>(_ x: V, _ y: V) -> V where V.Scalar: Comparable { simd_max(x, y) }

/// Each component moved to the nearest point of its interval.
@inlinable
public func clamp<V: SIMD>(_ x: V, min: V, max: V) -> V where V.Scalar: Comparable {
  simd_clamp(x, min, max)
}

/// The magnitude of each component.
@inlinable
public func abs<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint { simd_abs(x) }

/// The sign of each component: 1, -1, or 0 for zero and NaN.
@inlinable
public func sign<V: SIMD>(_ x: V) -> V where V.Scalar: BinaryFloatingPoint { simd_sign(x) }

/// The point at a fraction of the way between two others, component by component.
@inlinable
public func mix<V: SIMD>(_ x: V, _ y: V, t: V) -> V where V.Scalar: BinaryFloatingPoint {
  simd_mix(x, y, t)
}

/// The point at a fraction of the way between two others.
@inlinable
public func mix<V: SIMD>(_ x: V, _ y: V, t: V.Scalar) -> V where V.Scalar: BinaryFloatingPoint {
  simd_mix(x, y, V(repeating: t))
}
