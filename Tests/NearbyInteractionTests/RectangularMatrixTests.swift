// SPDX-License-Identifier: Apache-2.0
import NearbySimulation
import Testing
import simd

/// Matrices that are not square, against sums over their elements.
struct RectangularMatrixTests {
  private func drawn<Matrix: SIMDMatrix>(_: Matrix.Type, _ seed: UInt64) -> Matrix {
    var generator = SeededGenerator(seed: seed)
    var matrix = Matrix()
    for column in 0..<Matrix.Row.scalarCount {
      for row in 0..<Matrix.Column.scalarCount {
        matrix[column, row] = Matrix.Column.Scalar(generator.normal())
      }
    }
    return matrix
  }

  /// Element by element: (A B)ij = Σ Aik Bkj.
  private func isProduct<A: SIMDMatrix, B: SIMDMatrix, C: SIMDMatrix>(
    _ c: C, of a: A, _ b: B
  ) -> Bool where A.Column.Scalar == Double, B.Column.Scalar == Double, C.Column.Scalar == Double {
    (0..<C.Row.scalarCount).allSatisfy { column in
      (0..<C.Column.scalarCount).allSatisfy { row in
        let sum = (0..<A.Row.scalarCount).reduce(0) { $0 + a[$1, row] * b[column, $1] }
        return abs(c[column, row] - sum) < 1e-12
      }
    }
  }

  @Test func productsAreSumsOverTheCommonIndex() {
    let a = drawn(simd_double4x3.self, 1)
    let b = drawn(simd_double2x4.self, 2)
    let ab: simd_double2x3 = a * b
    #expect(isProduct(ab, of: a, b))
    let c = drawn(simd_double3x2.self, 3)
    let bc: simd_double3x4 = b * c
    #expect(isProduct(bc, of: b, c))
    let square: simd_double3x3 = a * a.transpose
    #expect(isProduct(square, of: a, a.transpose))
    let four: simd_double4x4 = simd_mul(a.transpose, a)
    #expect(isProduct(four, of: a.transpose, a))
    let turned: simd_double4x3 = drawn(simd_double3x3.self, 4) * a
    #expect(isProduct(turned, of: drawn(simd_double3x3.self, 4), a))
    let v = simd_double4(1, -2, 3, 0.5)
    var sum = simd_double3.zero
    for column in 0..<4 { sum += v[column] * a[column] }
    #expect(simd_distance(a * v, sum) < 1e-12)
    let row = simd_double3(1, 2, 3)
    #expect(simd_distance(simd_mul(row, a), a.transpose * row) < 1e-12)
  }

  @Test func columnsComeFirstInNames() {
    let m = simd_float4x3(
      columns: (
        simd_float3(1, 2, 3), simd_float3(4, 5, 6), simd_float3(7, 8, 9), simd_float3(10, 11, 12)
      ))
    #expect(m[3] == simd_float3(10, 11, 12) && m[2, 1] == 8)
    let rows = [simd_float4(1, 4, 7, 10), simd_float4(2, 5, 8, 11), simd_float4(3, 6, 9, 12)]
    #expect(simd_float4x3(rows: rows) == m)
    #expect(m.transpose == simd_float3x4(rows[0], rows[1], rows[2]))
    #expect(m + m == 2 * m && m - m == simd_float4x3())
    #expect(simd_linear_combination(2, m, -1, m) == m)
  }

  @Test func theOlderNamesAreTheSameFunctions() {
    let (a, b) = (simd_float3(3, 0, 4), simd_float3(0, 2, -1))
    #expect(vector_length(a) == 5 && vector_dot(a, b) == -4 && vector_length_squared(b) == 5)
    #expect(vector_normalize(a) == simd_normalize(a) && vector_cross(a, b) == simd_cross(a, b))
    #expect(vector_distance(a, b) == simd_distance(a, b))
    #expect(vector_clamp(a, .zero, .one) == simd_float3(1, 0, 1))
    #expect(vector_reduce_max(a) == 4 && vector_reduce_min(b) == -1 && vector_reduce_add(b) == 1)
    let m = drawn(simd_float4x4.self, 9)
    #expect(matrix_invert(m) == m.inverse && matrix_transpose(m) == m.transpose)
    #expect(matrix_determinant(m) == m.determinant && matrix_multiply(m, m) == m * m)
  }
}
