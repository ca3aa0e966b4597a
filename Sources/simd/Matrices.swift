// SPDX-License-Identifier: Apache-2.0

/// A 4 × 4 matrix of single-precision numbers, held by columns.
///
/// A transform keeps its translation in `columns.3`.
public struct simd_float4x4: Sendable {
  /// The columns.
  public var columns: (simd_float4, simd_float4, simd_float4, simd_float4)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float4, simd_float4, simd_float4, simd_float4)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float4, _ c1: simd_float4, _ c2: simd_float4, _ c3: simd_float4) {
    columns = (c0, c1, c2, c3)
  }

  /// Makes a matrix from its four columns.
  public init(_ columns: [simd_float4]) {
    precondition(columns.count == 4, "a 4 x 4 matrix has four columns")
    self.columns = (columns[0], columns[1], columns[2], columns[3])
  }

  /// Makes a matrix from its four rows.
  public init(rows: [simd_float4]) { self = Self(rows).transpose }

  /// Makes a matrix with one number along its diagonal.
  public init(_ scalar: Float) { self.init(diagonal: simd_float4(repeating: scalar)) }

  /// Makes a matrix from its diagonal.
  public init(diagonal: simd_float4) {
    self.init()
    for index in 0..<4 { self[index][index] = diagonal[index] }
  }

  /// A column.
  public subscript(column: Int) -> simd_float4 {
    get {
      switch column {
      case 0: columns.0
      case 1: columns.1
      case 2: columns.2
      case 3: columns.3
      default: preconditionFailure("a 4 x 4 matrix has no column \(column)")
      }
    }
    set {
      switch column {
      case 0: columns.0 = newValue
      case 1: columns.1 = newValue
      case 2: columns.2 = newValue
      case 3: columns.3 = newValue
      default: preconditionFailure("a 4 x 4 matrix has no column \(column)")
      }
    }
  }

  /// An element, column first.
  public subscript(column: Int, row: Int) -> Float {
    get { self[column][row] }
    set { self[column][row] = newValue }
  }

  /// The matrix with rows and columns exchanged.
  public var transpose: simd_float4x4 {
    var result = simd_float4x4()
    for column in 0..<4 { for row in 0..<4 { result[row][column] = self[column][row] } }
    return result
  }

  /// The determinant.
  public var determinant: Float { Float(eliminated().determinant) }

  /// The inverse; not a number throughout when there is none.
  ///
  /// By Gauss and Jordan with row pivots, in double precision.
  public var inverse: simd_float4x4 { eliminated().inverse }

  /// Eliminates all columns of `[A | 1]`, which leaves `[1 | A⁻¹]`.
  private func eliminated() -> (inverse: simd_float4x4, determinant: Double) {
    var rows = (0..<4).map { row in
      (0..<4).map { Double(self[$0][row]) } + (0..<4).map { $0 == row ? 1.0 : 0 }
    }
    var determinant = 1.0
    for pivot in 0..<4 {
      let best = (pivot..<4).max { abs(rows[$0][pivot]) < abs(rows[$1][pivot]) } ?? pivot
      if best != pivot {
        rows.swapAt(best, pivot)
        determinant = -determinant
      }
      let divisor = rows[pivot][pivot]
      determinant *= divisor
      guard divisor != 0 else {
        return (simd_float4x4(diagonal: simd_float4(repeating: .nan)), 0)
      }
      for column in 0..<8 { rows[pivot][column] /= divisor }
      for row in 0..<4 where row != pivot {
        let factor = rows[row][pivot]
        for column in 0..<8 { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    var inverse = simd_float4x4()
    for column in 0..<4 { for row in 0..<4 { inverse[column][row] = Float(rows[row][column + 4]) } }
    return (inverse, determinant)
  }

  /// The matrix product; the right one acts first.
  public static func * (a: simd_float4x4, b: simd_float4x4) -> simd_float4x4 {
    simd_float4x4(a * b.columns.0, a * b.columns.1, a * b.columns.2, a * b.columns.3)
  }

  /// The product with a column vector.
  public static func * (a: simd_float4x4, v: simd_float4) -> simd_float4 {
    let left = a.columns.0 * v.x + a.columns.1 * v.y
    return left + a.columns.2 * v.z + a.columns.3 * v.w
  }

  /// The matrix scaled by a number.
  public static func * (scale: Float, a: simd_float4x4) -> simd_float4x4 {
    simd_float4x4(
      scale * a.columns.0, scale * a.columns.1, scale * a.columns.2, scale * a.columns.3)
  }
}

extension simd_float4x4: Hashable, CustomStringConvertible {
  /// Whether all elements are equal.
  public static func == (a: simd_float4x4, b: simd_float4x4) -> Bool {
    (0..<4).allSatisfy { a[$0] == b[$0] }
  }

  /// Feeds the elements to a hasher.
  public func hash(into hasher: inout Hasher) {
    for column in 0..<4 { hasher.combine(self[column]) }
  }

  /// The columns.
  public var description: String {
    "simd_float4x4(\((0..<4).map { "\(self[$0])" }.joined(separator: ", ")))"
  }
}

/// A 4 × 4 matrix, by the older name.
public typealias matrix_float4x4 = simd_float4x4
/// A 4 × 4 matrix, by the name of Swift's overlay.
public typealias float4x4 = simd_float4x4

/// The matrix that changes nothing.
public let matrix_identity_float4x4 = simd_float4x4(1)

/// The inverse of a matrix.
public func simd_inverse(_ x: simd_float4x4) -> simd_float4x4 { x.inverse }

/// A matrix with rows and columns exchanged.
public func simd_transpose(_ x: simd_float4x4) -> simd_float4x4 { x.transpose }

/// The determinant of a matrix.
public func simd_determinant(_ x: simd_float4x4) -> Float { x.determinant }

/// The product of two matrices; the right one acts first.
public func simd_mul(_ x: simd_float4x4, _ y: simd_float4x4) -> simd_float4x4 { x * y }

/// The product of a matrix with a column vector.
public func simd_mul(_ x: simd_float4x4, _ y: simd_float4) -> simd_float4 { x * y }
