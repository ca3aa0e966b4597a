// SPDX-License-Identifier: Apache-2.0
import simd

// Uses the names of simd that session code needs; see `NearbyInteractionNames.swift`.

enum SIMDNames {
  // MARK: - Vectors

  static func vectors() {
    let a: simd_float3 = simd_make_float3(1, 2, 3)
    let b: vector_float3 = simd_make_float3(simd_make_float2(0, 1), 2)
    let c: float3 = simd_make_float3(simd_make_float4(a, 1))
    let _: (simd_float2, simd_float4, simd_double2) = (.zero, .zero, .zero)
    let d: simd_double3 = simd_make_double3(1, 2, 3)
    let _: simd_double4 = simd_make_double4(d, 1)
    let _: (simd_int3, simd_uint3) = (.zero, .zero)
    let _: Float = simd_dot(a, b) + simd_length(a) + simd_length_squared(b) + simd_distance(a, b)
    let _: Float = simd_distance_squared(a, b) + simd_reduce_add(c)
    let _: simd_float3 = simd_normalize(a) + simd_cross(a, b) + simd_project(a, b)
    let _: simd_float3 = simd_reflect(a, b) + simd_mix(a, b, c) + simd_clamp(a, b, c)
    let _: simd_float3 = simd_min(a, b) + simd_max(a, b) + simd_abs(a) + simd_sign(a)
    let _: Float = simd_reduce_min(a) + simd_reduce_max(a) + simd_smoothstep(0, 1, 0.5)
    let _: Float = dot(a, b) + length(a) + distance(a, b) + length_squared(a)
    let _: simd_float3 = normalize(a) + cross(a, b) + mix(a, b, t: 0.5)
    let _: Float = vector_dot(a, b) + vector_length(a) + vector_distance(a, b)
    let _: Float = vector_length_squared(a) + vector_distance_squared(a, b)
    let _: simd_float3 = vector_normalize(a) + vector_cross(a, b) + vector_mix(a, b, c)
    let _: simd_float3 = vector_min(a, b) + vector_max(a, b) + vector_clamp(a, b, c)
    let _: simd_float3 = vector_abs(a) + vector_project(a, b) + vector_reflect(a, b)
    let _: Float = vector_reduce_add(a) + vector_reduce_min(a) + vector_reduce_max(a)
    let _: Float = simd_fast_length(a) + simd_fast_distance(a, b)
    let _: (simd_float3, simd_float3) = (simd_fast_normalize(a), simd_float(d))
    let _: (simd_double3, Bool) = (simd_double(a), simd_equal(a, b))
  }

  // MARK: - Matrices

  static func matrices(_ m: simd_float4x4, _ v: simd_float4) {
    let _: [matrix_float4x4] = [matrix_identity_float4x4, float4x4(1)]
    let _: (simd_float2x2, simd_float3x3) = (matrix_identity_float2x2, matrix_identity_float3x3)
    let _: (simd_double2x2, simd_double3x3) = (matrix_identity_double2x2, matrix_identity_double3x3)
    let _: simd_double4x4 = matrix_identity_double4x4
    let _: simd_float4 = m.columns.3 + m[2] + simd_mul(m, v) + simd_mul(v, m) + m * v
    let _: simd_float4x4 = simd_mul(m, m) + simd_inverse(m) - simd_transpose(m) + m.inverse
    let _: simd_float4x4 = m.transpose * m + simd_add(m, m) + simd_sub(m, m)
    let _: Float = simd_determinant(m) + m.determinant + m[3, 1] + matrix_determinant(m)
    let _: simd_float4x4 = simd_matrix(v, v, v, v) + simd_linear_combination(1, m, 2, m)
    let _: (simd_float4x4, simd_float4) = (matrix_multiply(m, m), matrix_multiply(m, v))
    let _: simd_float4x4 = matrix_invert(m) + matrix_transpose(m) + matrix_scale(2, m)
    let _: simd_float4x4 = matrix_add(m, m) + matrix_sub(m, m) + simd_diagonal_matrix(v)
    _ = (simd_equal(m, m), simd_almost_equal_elements(m, m, 0.1), matrix_equal(m, m))
    _ = (
      simd_float4x4(rows: [v, v, v, v]), simd_float4x4(diagonal: v), simd_float4x4([v, v, v, v])
    )
  }

  // MARK: - Rectangular matrices

  static func rectangular(_ m: simd_float4x4, _ v: simd_float4) {
    let a: simd_float4x3 = simd_float4x3(columns: (.zero, .zero, .zero, .zero))
    let b: simd_float3x4 = a.transpose
    let _: simd_float3 = a * v
    let _: simd_float3x3 = a * b
    let _: simd_float4x4 = simd_mul(b, a)
    let _: simd_float4x3 = a * m
    let c = simd_float2x3(.zero, .zero)
    let d = simd_float3x2(.zero, .zero, .zero)
    let _: simd_float2x2 = d * c
    let _: (simd_float2x4, simd_float4x2) = (simd_float2x4(), simd_transpose(simd_float2x4()))
    let _: (simd_double2x3, simd_double3x2) = (simd_double2x3(), simd_double3x2())
    let _: (simd_double2x4, simd_double4x2) = (simd_double2x4(), simd_double4x2())
    let _: (simd_double3x4, simd_double4x3) = (simd_double3x4(), simd_double4x3())
    let _: (matrix_float4x3, matrix_float3x4) = (2 * a, simd_add(b, b) - b)
  }

  // MARK: - Quaternions

  static func quaternions(_ m: simd_float4x4, _ v: simd_float3) {
    let q: simd_quatf = simd_quatf(angle: 1, axis: v)
    let p = simd_quatf(from: v, to: v) * simd_quatf(m) * simd_quatf(ix: 0, iy: 0, iz: 0, r: 1)
    _ = (
      simd_quatf(real: 1, imag: v), simd_quatf(vector: q.vector), simd_quatd(angle: 1, axis: .one)
    )
    let _: simd_float3 = q.act(v) + simd_act(q, v) + q.axis + q.imag
    let _: Float = q.angle + q.real + q.length + simd_dot(p, q) + simd_angle(q)
    let _: simd_quatf = q.inverse * q.normalized * q.conjugate * simd_slerp(p, q, 0.5)
    let _: simd_quatf = simd_inverse(q) * simd_normalize(q) * simd_conjugate(q) * simd_mul(p, q)
    let _: simd_quatf = simd_slerp_longest(p, q, 0.5) + simd_quaternion(1, v) + simd_quaternion(m)
    let _: (simd_float3x3, simd_float4x4) = (simd_matrix3x3(q), simd_matrix4x4(q))
    let _: (simd_float3x3, simd_float4x4) = (simd_float3x3(q), simd_float4x4(q))
    let _: simd_float3 = simd_axis(q)
  }
}
