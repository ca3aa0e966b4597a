// SPDX-License-Identifier: Apache-2.0

// MARK: - Names

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
/// Two whole numbers.
public typealias simd_int2 = SIMD2<Int32>
/// Three whole numbers.
public typealias simd_int3 = SIMD3<Int32>
/// Four whole numbers.
public typealias simd_int4 = SIMD4<Int32>
/// Two natural numbers.
public typealias simd_uint2 = SIMD2<UInt32>
/// Three natural numbers.
public typealias simd_uint3 = SIMD3<UInt32>
/// Four natural numbers.
public typealias simd_uint4 = SIMD4<UInt32>

/// Two single-precision numbers, by the older name.
public typealias vector_float2 = SIMD2<Float>
/// Three single-precision numbers, by the older name.
public typealias vector_float3 = SIMD3<Float>
/// Four single-precision numbers, by the older name.
public typealias vector_float4 = SIMD4<Float>
/// Two double-precision numbers, by the older name.
public typealias vector_double2 = SIMD2<Double>
/// Three double-precision numbers, by the older name.
public typealias vector_double3 = SIMD3<Double>
/// Four double-precision numbers, by the older name.
public typealias vector_double4 = SIMD4<Double>
/// Two single-precision numbers, by the oldest name.
public typealias float2 = SIMD2<Float>
/// Three single-precision numbers, by the oldest name.
public typealias float3 = SIMD3<Float>
/// Four single-precision numbers, by the oldest name.
public typealias float4 = SIMD4<Float>

// MARK: - Making

/// A vector from its components.
@inlinable
public func simd_make_float2(_ x: Float, _ y: Float) -> simd_float2 { simd_float2(x, y) }

/// The first two components of a vector.
@inlinable
public func simd_make_float2(_ other: simd_float3) -> simd_float2 { simd_float2(other.x, other.y) }

/// A vector from its components.
@inlinable
public func simd_make_float3(_ x: Float, _ y: Float, _ z: Float) -> simd_float3 {
  simd_float3(x, y, z)
}

/// A vector from two of its components and the third.
@inlinable
public func simd_make_float3(_ xy: simd_float2, _ z: Float) -> simd_float3 { simd_float3(xy, z) }

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

/// A vector from three of its components and the fourth.
@inlinable
public func simd_make_float4(_ xyz: simd_float3, _ w: Float) -> simd_float4 { simd_float4(xyz, w) }

/// A vector from its components.
@inlinable
public func simd_make_double3(_ x: Double, _ y: Double, _ z: Double) -> simd_double3 {
  simd_double3(x, y, z)
}

/// A vector from its components.
@inlinable
public func simd_make_double2(_ x: Double, _ y: Double) -> simd_double2 { simd_double2(x, y) }

/// The first two components of a vector.
@inlinable
public func simd_make_double2(_ other: simd_double3) -> simd_double2 {
  simd_double2(other.x, other.y)
}

/// The first three components of a vector.
@inlinable
public func simd_make_double3(_ other: simd_double4) -> simd_double3 {
  simd_double3(other.x, other.y, other.z)
}

/// A vector from its components.
@inlinable
public func simd_make_double4(
  _ x: Double, _ y: Double, _ z: Double, _ w: Double
) -> simd_double4 { simd_double4(x, y, z, w) }

/// A vector from three of its components and the fourth.
@inlinable
public func simd_make_double4(_ xyz: simd_double3, _ w: Double) -> simd_double4 {
  simd_double4(xyz, w)
}

// MARK: - Conversion

/// The components in single precision.
@inlinable
public func simd_float(_ x: simd_double3) -> simd_float3 { simd_float3(x) }

/// The components in double precision.
@inlinable
public func simd_double(_ x: simd_float3) -> simd_double3 { simd_double3(x) }
