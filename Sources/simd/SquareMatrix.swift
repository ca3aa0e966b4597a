// SPDX-License-Identifier: Apache-2.0

/// The common interface of square matrices, which are stored by columns.
public protocol SIMDSquareMatrix: Hashable, Sendable, CustomStringConvertible {
  /// One column, with as many components as there are columns.
  associatedtype Column: SIMD where Column.Scalar: BinaryFloatingPoint

  /// Makes the zero matrix.
  init()
}

extension SIMDSquareMatrix {
  /// How many columns and rows there are.
  private static var order: Int { Column.scalarCount }

  // MARK: Making

  /// Makes a matrix from its columns.
  public init(_ columns: [Column]) {
    precondition(columns.count == Self.order, "a square matrix has as many columns as rows")
    self.init()
    for (index, column) in columns.enumerated() { self[index] = column }
  }

  /// Makes a matrix from its rows.
  public init(rows: [Column]) { self = Self(rows).transpose }

  /// Makes a matrix from its diagonal.
  public init(diagonal: Column) {
    self.init()
    for index in 0..<Self.order { self[index][index] = diagonal[index] }
  }

  /// Makes a matrix with one number along its diagonal.
  public init(_ scalar: Column.Scalar) { self.init(diagonal: Column(repeating: scalar)) }

  // MARK: Elements

  /// A column.
  public subscript(column: Int) -> Column {
    get {
      precondition((0..<Self.order).contains(column), "the matrix has no column \(column)")
      // The memory of a matrix consists of its columns, one after the other.
      return unsafe withUnsafeBytes(of: self) { bytes in
        unsafe bytes.load(fromByteOffset: column * MemoryLayout<Column>.stride, as: Column.self)
      }
    }
    set {
      precondition((0..<Self.order).contains(column), "the matrix has no column \(column)")
      unsafe withUnsafeMutableBytes(of: &self) { bytes in
        unsafe bytes.storeBytes(
          of: newValue, toByteOffset: column * MemoryLayout<Column>.stride, as: Column.self)
      }
    }
  }

  /// An element, column first.
  public subscript(column: Int, row: Int) -> Column.Scalar {
    get { self[column][row] }
    set { self[column][row] = newValue }
  }

  // MARK: Algebra

  /// The matrix with rows and columns exchanged.
  public var transpose: Self {
    var result = Self()
    for column in 0..<Self.order {
      for row in 0..<Self.order { result[row][column] = self[column][row] }
    }
    return result
  }

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

  /// Each column changed.
  private func mapped(_ change: (Int, Column) -> Column) -> Self {
    var result = Self()
    for index in 0..<Self.order { result[index] = change(index, self[index]) }
    return result
  }

  /// The sum.
  public static func + (a: Self, b: Self) -> Self { a.mapped { $1 + b[$0] } }

  /// The difference.
  public static func - (a: Self, b: Self) -> Self { a.mapped { $1 - b[$0] } }

  /// The matrix with all signs changed.
  public static prefix func - (a: Self) -> Self { a.mapped { -$1 } }

  /// The matrix product; the right one acts first.
  public static func * (a: Self, b: Self) -> Self { b.mapped { a * $1 } }

  /// The product with a column vector.
  public static func * (a: Self, v: Column) -> Column {
    (0..<order).reduce(Column.zero) { $0 + a[$1] * v[$1] }
  }

  /// The product of a row vector with the matrix.
  public static func * (v: Column, a: Self) -> Column {
    var result = Column.zero
    for index in 0..<order { result[index] = simd_dot(v, a[index]) }
    return result
  }

  /// The matrix scaled by a number.
  public static func * (scale: Column.Scalar, a: Self) -> Self { a.mapped { scale * $1 } }

  /// The matrix scaled by a number.
  public static func * (a: Self, scale: Column.Scalar) -> Self { scale * a }

  /// Adds a matrix.
  public static func += (a: inout Self, b: Self) { a = a + b }

  /// Subtracts a matrix.
  public static func -= (a: inout Self, b: Self) { a = a - b }

  /// Multiplies with a matrix from the right.
  public static func *= (a: inout Self, b: Self) { a = a * b }

  /// Scales by a number.
  public static func *= (a: inout Self, scale: Column.Scalar) { a = scale * a }

  // MARK: Comparison and text

  /// Whether all elements are equal.
  public static func == (a: Self, b: Self) -> Bool { (0..<order).allSatisfy { a[$0] == b[$0] } }

  /// Feeds the elements to a hasher.
  public func hash(into hasher: inout Hasher) {
    for column in 0..<Self.order { hasher.combine(self[column]) }
  }

  /// The columns.
  public var description: String {
    "\(Self.self)(\((0..<Self.order).map { "\(self[$0])" }.joined(separator: ", ")))"
  }
}

// MARK: - Functions

/// The inverse of a matrix.
public func simd_inverse<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix { x.inverse }

/// A matrix with rows and columns exchanged.
public func simd_transpose<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix { x.transpose }

/// The determinant of a matrix.
public func simd_determinant<Matrix: SIMDSquareMatrix>(_ x: Matrix) -> Matrix.Column.Scalar {
  x.determinant
}

/// The sum of two matrices.
public func simd_add<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x + y }

/// The difference of two matrices.
public func simd_sub<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x - y }

/// The product of two matrices; the right one acts first.
public func simd_mul<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x * y }

/// The product of a matrix with a column vector.
public func simd_mul<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix.Column) -> Matrix.Column {
  x * y
}

/// The product of a row vector with a matrix.
public func simd_mul<Matrix: SIMDSquareMatrix>(_ x: Matrix.Column, _ y: Matrix) -> Matrix.Column {
  x * y
}

/// The product of two matrices, by the older name; the right one acts first.
public func matrix_multiply<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x * y }

/// The product of a matrix with a column vector, by the older name.
public func matrix_multiply<Matrix: SIMDSquareMatrix>(
  _ x: Matrix, _ y: Matrix.Column
) -> Matrix.Column { x * y }

/// Whether all elements of two matrices are equal.
public func simd_equal<Matrix: SIMDSquareMatrix>(_ x: Matrix, _ y: Matrix) -> Bool { x == y }

/// Whether no two elements of two matrices differ by more than a tolerance.
public func simd_almost_equal_elements<Matrix: SIMDSquareMatrix>(
  _ x: Matrix, _ y: Matrix, _ tolerance: Matrix.Column.Scalar
) -> Bool {
  (0..<Matrix.Column.scalarCount).allSatisfy { column in
    simd_reduce_max(simd_abs(x[column] - y[column])) <= tolerance
  }
}
