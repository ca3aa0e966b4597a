// SPDX-License-Identifier: Apache-2.0

/// The common interface of square matrices.
public protocol SIMDSquareMatrix: SIMDMatrix where Row == Column, Transpose == Self {}

extension SIMDSquareMatrix {
  /// How many columns and rows there are.
  private static var order: Int { Column.scalarCount }

  /// Makes a matrix from its diagonal.
  public init(diagonal: Column) {
    self.init()
    for index in 0..<Self.order { self[index][index] = diagonal[index] }
  }

  /// Makes a matrix with one number along its diagonal.
  public init(_ scalar: Column.Scalar) { self.init(diagonal: Column(repeating: scalar)) }

  /// The determinant.
  public var determinant: Column.Scalar { Column.Scalar(eliminated().determinant) }

  /// The inverse; all elements are NaN when there is none.
  ///
  /// Computed by Gauss-Jordan elimination with row pivots, in double precision.
  public var inverse: Self { eliminated().inverse }

  /// Eliminates all columns of `[A | 1]`, which leaves `[1 | A⁻¹]`.
  private func eliminated() -> (inverse: Self, determinant: Double) {
    let order = Self.order
    var rows = (0..<order).map { row in
      (0..<order).map { Double(self[$0][row]) } + (0..<order).map { $0 == row ? 1.0 : 0 }
    }
    var determinant = 1.0
    for pivot in 0..<order {
      let best =
        (pivot..<order).max { rows[$0][pivot].magnitude < rows[$1][pivot].magnitude } ?? pivot
      if best != pivot {
        rows.swapAt(best, pivot)
        determinant = -determinant
      }
      let divisor = rows[pivot][pivot]
      determinant *= divisor
      guard divisor != 0 else {
        return (Self((0..<order).map { _ in Column(repeating: .nan) }), 0)
      }
      for column in 0..<2 * order { rows[pivot][column] /= divisor }
      for row in 0..<order where row != pivot {
        let factor = rows[row][pivot]
        for column in 0..<2 * order { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    var inverse = Self()
    for column in 0..<order {
      for row in 0..<order { inverse[column][row] = Column.Scalar(rows[row][column + order]) }
    }
    return (inverse, determinant)
  }

  /// The matrix product; the right one acts first.
  public static func * (a: Self, b: Self) -> Self {
    var result = Self()
    for index in 0..<order { result[index] = a * b[index] }
    return result
  }

  /// Multiplies with a matrix from the right.
  public static func *= (a: inout Self, b: Self) { a = a * b }
}

// MARK: - Functions

/// The inverse of a matrix.
public func simd_inverse<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix { x.inverse }

/// The determinant of a matrix.
public func simd_determinant<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix.Column.Scalar {
  x.determinant
}

/// The product of two matrices; the right one acts first.
public func simd_mul<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x * y }

/// A matrix from its diagonal.
public func simd_diagonal_matrix(_ diagonal: simd_float3) -> simd_float3x3 {
  simd_float3x3(diagonal: diagonal)
}

/// A matrix from its diagonal.
public func simd_diagonal_matrix(_ diagonal: simd_float4) -> simd_float4x4 {
  simd_float4x4(diagonal: diagonal)
}
