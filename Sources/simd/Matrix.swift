// SPDX-License-Identifier: Apache-2.0

/// The common interface of matrices, which are stored by columns.
///
/// Apple's names count columns first: `simd_float4x3` has four columns of three numbers.
public protocol SIMDMatrix: Hashable, Sendable, CustomStringConvertible {
  /// One column, with as many components as there are rows.
  associatedtype Column: SIMD where Column.Scalar: BinaryFloatingPoint
  /// One row, with as many components as there are columns.
  associatedtype Row: SIMD where Row.Scalar == Column.Scalar
  /// The matrix with rows and columns exchanged.
  associatedtype Transpose: SIMDMatrix where Transpose.Column == Row, Transpose.Row == Column
  /// The matrix with two columns like this one's.
  associatedtype TwoColumns: SIMDMatrix where TwoColumns.Column == Column
  /// The matrix with three columns like this one's.
  associatedtype ThreeColumns: SIMDMatrix where ThreeColumns.Column == Column
  /// The matrix with four columns like this one's.
  associatedtype FourColumns: SIMDMatrix where FourColumns.Column == Column

  /// Makes the zero matrix.
  init()
}

extension SIMDMatrix {
  // MARK: Making

  /// Makes a matrix from its columns.
  public init(_ columns: [Column]) {
    precondition(columns.count == Row.scalarCount, "the matrix has \(Row.scalarCount) columns")
    self.init()
    for (index, column) in columns.enumerated() { self[index] = column }
  }

  /// Makes a matrix from its rows.
  public init(rows: [Row]) {
    precondition(rows.count == Column.scalarCount, "the matrix has \(Column.scalarCount) rows")
    self.init()
    for (index, row) in rows.enumerated() {
      for column in 0..<Row.scalarCount { self[column][index] = row[column] }
    }
  }

  // MARK: Elements

  /// A column.
  public subscript(column: Int) -> Column {
    get {
      precondition((0..<Row.scalarCount).contains(column), "the matrix has no column \(column)")
      // The memory of a matrix consists of its columns, one after the other.
      return unsafe withUnsafeBytes(of: self) { bytes in
        unsafe bytes.load(fromByteOffset: column * MemoryLayout<Column>.stride, as: Column.self)
      }
    }
    set {
      precondition((0..<Row.scalarCount).contains(column), "the matrix has no column \(column)")
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
  public var transpose: Transpose {
    var result = Transpose()
    for column in 0..<Row.scalarCount {
      for row in 0..<Column.scalarCount { result[row][column] = self[column][row] }
    }
    return result
  }

  /// Each column changed.
  private func mapped(_ change: (Int, Column) -> Column) -> Self {
    var result = Self()
    for index in 0..<Row.scalarCount { result[index] = change(index, self[index]) }
    return result
  }

  /// The sum.
  public static func + (a: Self, b: Self) -> Self { a.mapped { $1 + b[$0] } }

  /// The difference.
  public static func - (a: Self, b: Self) -> Self { a.mapped { $1 - b[$0] } }

  /// The matrix with all signs changed.
  public static prefix func - (a: Self) -> Self { a.mapped { -$1 } }

  /// The product with a column vector.
  public static func * (a: Self, v: Row) -> Column {
    (0..<Row.scalarCount).reduce(Column.zero) { $0 + a[$1] * v[$1] }
  }

  /// The product of a row vector with the matrix.
  public static func * (v: Column, a: Self) -> Row {
    var result = Row.zero
    for index in 0..<Row.scalarCount { result[index] = simd_dot(v, a[index]) }
    return result
  }

  /// The columns of a product, each put where the result has it.
  private func product<B: SIMDMatrix, Product: SIMDMatrix>(with b: B) -> Product
  where B.Column == Row, Product.Column == Column {
    var result = Product()
    for index in 0..<B.Row.scalarCount { result[index] = self * b[index] }
    return result
  }

  /// The matrix product with a matrix of two columns; the right one acts first.
  public static func * <B: SIMDMatrix>(a: Self, b: B) -> TwoColumns
  where B.Column == Row, B.Row == SIMD2<Column.Scalar> { a.product(with: b) }

  /// The matrix product with a matrix of three columns; the right one acts first.
  public static func * <B: SIMDMatrix>(a: Self, b: B) -> ThreeColumns
  where B.Column == Row, B.Row == SIMD3<Column.Scalar> { a.product(with: b) }

  /// The matrix product with a matrix of four columns; the right one acts first.
  public static func * <B: SIMDMatrix>(a: Self, b: B) -> FourColumns
  where B.Column == Row, B.Row == SIMD4<Column.Scalar> { a.product(with: b) }

  /// The matrix scaled by a number.
  public static func * (scale: Column.Scalar, a: Self) -> Self { a.mapped { scale * $1 } }

  /// The matrix scaled by a number.
  public static func * (a: Self, scale: Column.Scalar) -> Self { scale * a }

  /// Adds a matrix.
  public static func += (a: inout Self, b: Self) { a = a + b }

  /// Subtracts a matrix.
  public static func -= (a: inout Self, b: Self) { a = a - b }

  /// Scales by a number.
  public static func *= (a: inout Self, scale: Column.Scalar) { a = scale * a }

  // MARK: Comparison and text

  /// Whether all elements are equal.
  public static func == (a: Self, b: Self) -> Bool {
    (0..<Row.scalarCount).allSatisfy { a[$0] == b[$0] }
  }

  /// Feeds the elements to a hasher.
  public func hash(into hasher: inout Hasher) {
    for column in 0..<Row.scalarCount { hasher.combine(self[column]) }
  }

  /// The columns.
  public var description: String {
    "\(Self.self)(\((0..<Row.scalarCount).map { "\(self[$0])" }.joined(separator: ", ")))"
  }
}

// MARK: - Functions

/// A matrix with rows and columns exchanged.
public func simd_transpose<Matrix: SIMDMatrix>(_ x: Matrix) -> Matrix.Transpose { x.transpose }

/// The sum of two matrices.
public func simd_add<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x + y }

/// The difference of two matrices.
public func simd_sub<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix) -> Matrix { x - y }

/// A matrix scaled by a number.
public func simd_mul<Matrix: SIMDMatrix>(_ a: Matrix.Column.Scalar, _ x: Matrix) -> Matrix { a * x }

/// The sum of two matrices, each scaled by a number.
public func simd_linear_combination<Matrix: SIMDMatrix>(
  _ a: Matrix.Column.Scalar, _ x: Matrix, _ b: Matrix.Column.Scalar, _ y: Matrix
) -> Matrix { a * x + b * y }

/// The product of a matrix with a column vector.
public func simd_mul<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix.Row) -> Matrix.Column { x * y }

/// The product of a row vector with a matrix.
public func simd_mul<Matrix: SIMDMatrix>(_ x: Matrix.Column, _ y: Matrix) -> Matrix.Row { x * y }

/// The product of two matrices; the right one acts first.
@_disfavoredOverload  // For square matrices there is a simpler one.
public func simd_mul<A: SIMDMatrix, B: SIMDMatrix>(_ x: A, _ y: B) -> A.TwoColumns
where B.Column == A.Row, B.Row == SIMD2<A.Column.Scalar> { x * y }

/// The product of two matrices; the right one acts first.
@_disfavoredOverload  // For square matrices there is a simpler one.
public func simd_mul<A: SIMDMatrix, B: SIMDMatrix>(_ x: A, _ y: B) -> A.ThreeColumns
where B.Column == A.Row, B.Row == SIMD3<A.Column.Scalar> { x * y }

/// The product of two matrices; the right one acts first.
@_disfavoredOverload  // For square matrices there is a simpler one.
public func simd_mul<A: SIMDMatrix, B: SIMDMatrix>(_ x: A, _ y: B) -> A.FourColumns
where B.Column == A.Row, B.Row == SIMD4<A.Column.Scalar> { x * y }

/// Whether all elements of two matrices are equal.
public func simd_equal<Matrix: SIMDMatrix>(_ x: Matrix, _ y: Matrix) -> Bool { x == y }

/// Whether no two elements of two matrices differ by more than a tolerance.
public func simd_almost_equal_elements<Matrix: SIMDMatrix>(
  _ x: Matrix, _ y: Matrix, _ tolerance: Matrix.Column.Scalar
) -> Bool {
  (0..<Matrix.Row.scalarCount).allSatisfy { column in
    simd_reduce_max(simd_abs(x[column] - y[column])) <= tolerance
  }
}
