// SPDX-License-Identifier: Apache-2.0

// The types differ only in their columns; ``SIMDMatrix`` and ``SIMDSquareMatrix`` have their operations.

/// A 2 × 2 matrix of single-precision numbers.
public struct simd_float2x2: SIMDSquareMatrix {
  /// The type of a column.
  public typealias Column = simd_float2
  /// The type of the transpose.
  public typealias Transpose = simd_float2x2
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x2
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x2
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x2

  /// The columns.
  public var columns: (simd_float2, simd_float2)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float2, simd_float2)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float2, _ c1: simd_float2) {
    columns = (c0, c1)
  }
}

/// A 3 × 3 matrix of single-precision numbers.
public struct simd_float3x3: SIMDSquareMatrix {
  /// The type of a column.
  public typealias Column = simd_float3
  /// The type of the transpose.
  public typealias Transpose = simd_float3x3
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x3
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x3
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x3

  /// The columns.
  public var columns: (simd_float3, simd_float3, simd_float3)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float3, simd_float3, simd_float3)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float3, _ c1: simd_float3, _ c2: simd_float3) {
    columns = (c0, c1, c2)
  }
}

/// A 4 × 4 matrix of single-precision numbers.
///
/// A transform keeps its translation in `columns.3`.
public struct simd_float4x4: SIMDSquareMatrix {
  /// The type of a column.
  public typealias Column = simd_float4
  /// The type of the transpose.
  public typealias Transpose = simd_float4x4
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x4
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x4
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x4

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
}

/// A 2 × 2 matrix of double-precision numbers.
public struct simd_double2x2: SIMDSquareMatrix {
  /// The type of a column.
  public typealias Column = simd_double2
  /// The type of the transpose.
  public typealias Transpose = simd_double2x2
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x2
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x2
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x2

  /// The columns.
  public var columns: (simd_double2, simd_double2)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double2, simd_double2)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double2, _ c1: simd_double2) {
    columns = (c0, c1)
  }
}

/// A 3 × 3 matrix of double-precision numbers.
public struct simd_double3x3: SIMDSquareMatrix {
  /// The type of a column.
  public typealias Column = simd_double3
  /// The type of the transpose.
  public typealias Transpose = simd_double3x3
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x3
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x3
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x3

  /// The columns.
  public var columns: (simd_double3, simd_double3, simd_double3)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double3, simd_double3, simd_double3)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double3, _ c1: simd_double3, _ c2: simd_double3) {
    columns = (c0, c1, c2)
  }
}

/// A 4 × 4 matrix of double-precision numbers.
///
/// A transform keeps its translation in `columns.3`.
public struct simd_double4x4: SIMDSquareMatrix {
  /// The type of a column.
  public typealias Column = simd_double4
  /// The type of the transpose.
  public typealias Transpose = simd_double4x4
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x4
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x4
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x4

  /// The columns.
  public var columns: (simd_double4, simd_double4, simd_double4, simd_double4)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double4, simd_double4, simd_double4, simd_double4)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double4, _ c1: simd_double4, _ c2: simd_double4, _ c3: simd_double4) {
    columns = (c0, c1, c2, c3)
  }
}

// MARK: - Other names

/// A 2 × 2 matrix of single-precision numbers, by the older name.
public typealias matrix_float2x2 = simd_float2x2
/// A 2 × 2 matrix of single-precision numbers, by the name of Swift's overlay.
public typealias float2x2 = simd_float2x2
/// A 3 × 3 matrix of single-precision numbers, by the older name.
public typealias matrix_float3x3 = simd_float3x3
/// A 3 × 3 matrix of single-precision numbers, by the name of Swift's overlay.
public typealias float3x3 = simd_float3x3
/// A 4 × 4 matrix of single-precision numbers, by the older name.
public typealias matrix_float4x4 = simd_float4x4
/// A 4 × 4 matrix of single-precision numbers, by the name of Swift's overlay.
public typealias float4x4 = simd_float4x4
/// A 2 × 2 matrix of double-precision numbers, by the older name.
public typealias matrix_double2x2 = simd_double2x2
/// A 2 × 2 matrix of double-precision numbers, by the name of Swift's overlay.
public typealias double2x2 = simd_double2x2
/// A 3 × 3 matrix of double-precision numbers, by the older name.
public typealias matrix_double3x3 = simd_double3x3
/// A 3 × 3 matrix of double-precision numbers, by the name of Swift's overlay.
public typealias double3x3 = simd_double3x3
/// A 4 × 4 matrix of double-precision numbers, by the older name.
public typealias matrix_double4x4 = simd_double4x4
/// A 4 × 4 matrix of double-precision numbers, by the name of Swift's overlay.
public typealias double4x4 = simd_double4x4

// MARK: - Constants

/// The 2 × 2 identity matrix.
public let matrix_identity_float2x2 = simd_float2x2(1)
/// The 3 × 3 identity matrix.
public let matrix_identity_float3x3 = simd_float3x3(1)
/// The 4 × 4 identity matrix.
public let matrix_identity_float4x4 = simd_float4x4(1)
/// The 2 × 2 identity matrix.
public let matrix_identity_double2x2 = simd_double2x2(1)
/// The 3 × 3 identity matrix.
public let matrix_identity_double3x3 = simd_double3x3(1)
/// The 4 × 4 identity matrix.
public let matrix_identity_double4x4 = simd_double4x4(1)

// MARK: - Functions

/// A matrix from its columns.
public func simd_matrix(
  _ c0: simd_float3, _ c1: simd_float3, _ c2: simd_float3
) -> simd_float3x3 { simd_float3x3(c0, c1, c2) }

/// A matrix from its columns.
public func simd_matrix(
  _ c0: simd_float4, _ c1: simd_float4, _ c2: simd_float4, _ c3: simd_float4
) -> simd_float4x4 { simd_float4x4(c0, c1, c2, c3) }
