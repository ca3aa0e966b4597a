// SPDX-License-Identifier: Apache-2.0

// The types differ only in their columns; ``SIMDMatrix`` has their operations.

/// A matrix with two columns of three single-precision numbers.
public struct simd_float2x3: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_float3
  /// The type of a row.
  public typealias Row = simd_float2
  /// The type of the transpose.
  public typealias Transpose = simd_float3x2
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x3
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x3
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x3

  /// The columns.
  public var columns: (simd_float3, simd_float3)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float3, simd_float3)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float3, _ c1: simd_float3) { columns = (c0, c1) }
}

/// A matrix with two columns of four single-precision numbers.
public struct simd_float2x4: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_float4
  /// The type of a row.
  public typealias Row = simd_float2
  /// The type of the transpose.
  public typealias Transpose = simd_float4x2
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x4
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x4
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x4

  /// The columns.
  public var columns: (simd_float4, simd_float4)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float4, simd_float4)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float4, _ c1: simd_float4) { columns = (c0, c1) }
}

/// A matrix with three columns of two single-precision numbers.
public struct simd_float3x2: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_float2
  /// The type of a row.
  public typealias Row = simd_float3
  /// The type of the transpose.
  public typealias Transpose = simd_float2x3
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x2
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x2
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x2

  /// The columns.
  public var columns: (simd_float2, simd_float2, simd_float2)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float2, simd_float2, simd_float2)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float2, _ c1: simd_float2, _ c2: simd_float2) { columns = (c0, c1, c2) }
}

/// A matrix with three columns of four single-precision numbers.
public struct simd_float3x4: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_float4
  /// The type of a row.
  public typealias Row = simd_float3
  /// The type of the transpose.
  public typealias Transpose = simd_float4x3
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x4
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x4
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x4

  /// The columns.
  public var columns: (simd_float4, simd_float4, simd_float4)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float4, simd_float4, simd_float4)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float4, _ c1: simd_float4, _ c2: simd_float4) { columns = (c0, c1, c2) }
}

/// A matrix with four columns of two single-precision numbers.
public struct simd_float4x2: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_float2
  /// The type of a row.
  public typealias Row = simd_float4
  /// The type of the transpose.
  public typealias Transpose = simd_float2x4
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x2
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x2
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x2

  /// The columns.
  public var columns: (simd_float2, simd_float2, simd_float2, simd_float2)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float2, simd_float2, simd_float2, simd_float2)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float2, _ c1: simd_float2, _ c2: simd_float2, _ c3: simd_float2) {
    columns = (c0, c1, c2, c3)
  }
}

/// A matrix with four columns of three single-precision numbers.
public struct simd_float4x3: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_float3
  /// The type of a row.
  public typealias Row = simd_float4
  /// The type of the transpose.
  public typealias Transpose = simd_float3x4
  /// The type with two such columns.
  public typealias TwoColumns = simd_float2x3
  /// The type with three such columns.
  public typealias ThreeColumns = simd_float3x3
  /// The type with four such columns.
  public typealias FourColumns = simd_float4x3

  /// The columns.
  public var columns: (simd_float3, simd_float3, simd_float3, simd_float3)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_float3, simd_float3, simd_float3, simd_float3)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_float3, _ c1: simd_float3, _ c2: simd_float3, _ c3: simd_float3) {
    columns = (c0, c1, c2, c3)
  }
}

/// A matrix with two columns of three double-precision numbers.
public struct simd_double2x3: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_double3
  /// The type of a row.
  public typealias Row = simd_double2
  /// The type of the transpose.
  public typealias Transpose = simd_double3x2
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x3
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x3
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x3

  /// The columns.
  public var columns: (simd_double3, simd_double3)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double3, simd_double3)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double3, _ c1: simd_double3) { columns = (c0, c1) }
}

/// A matrix with two columns of four double-precision numbers.
public struct simd_double2x4: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_double4
  /// The type of a row.
  public typealias Row = simd_double2
  /// The type of the transpose.
  public typealias Transpose = simd_double4x2
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x4
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x4
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x4

  /// The columns.
  public var columns: (simd_double4, simd_double4)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double4, simd_double4)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double4, _ c1: simd_double4) { columns = (c0, c1) }
}

/// A matrix with three columns of two double-precision numbers.
public struct simd_double3x2: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_double2
  /// The type of a row.
  public typealias Row = simd_double3
  /// The type of the transpose.
  public typealias Transpose = simd_double2x3
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x2
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x2
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x2

  /// The columns.
  public var columns: (simd_double2, simd_double2, simd_double2)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double2, simd_double2, simd_double2)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double2, _ c1: simd_double2, _ c2: simd_double2) { columns = (c0, c1, c2) }
}

/// A matrix with three columns of four double-precision numbers.
public struct simd_double3x4: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_double4
  /// The type of a row.
  public typealias Row = simd_double3
  /// The type of the transpose.
  public typealias Transpose = simd_double4x3
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x4
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x4
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x4

  /// The columns.
  public var columns: (simd_double4, simd_double4, simd_double4)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double4, simd_double4, simd_double4)) { self.columns = columns }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double4, _ c1: simd_double4, _ c2: simd_double4) { columns = (c0, c1, c2) }
}

/// A matrix with four columns of two double-precision numbers.
public struct simd_double4x2: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_double2
  /// The type of a row.
  public typealias Row = simd_double4
  /// The type of the transpose.
  public typealias Transpose = simd_double2x4
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x2
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x2
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x2

  /// The columns.
  public var columns: (simd_double2, simd_double2, simd_double2, simd_double2)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double2, simd_double2, simd_double2, simd_double2)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double2, _ c1: simd_double2, _ c2: simd_double2, _ c3: simd_double2) {
    columns = (c0, c1, c2, c3)
  }
}

/// A matrix with four columns of three double-precision numbers.
public struct simd_double4x3: SIMDMatrix {
  /// The type of a column.
  public typealias Column = simd_double3
  /// The type of a row.
  public typealias Row = simd_double4
  /// The type of the transpose.
  public typealias Transpose = simd_double3x4
  /// The type with two such columns.
  public typealias TwoColumns = simd_double2x3
  /// The type with three such columns.
  public typealias ThreeColumns = simd_double3x3
  /// The type with four such columns.
  public typealias FourColumns = simd_double4x3

  /// The columns.
  public var columns: (simd_double3, simd_double3, simd_double3, simd_double3)

  /// Makes the zero matrix.
  public init() { columns = (.zero, .zero, .zero, .zero) }

  /// Makes a matrix from its columns.
  public init(columns: (simd_double3, simd_double3, simd_double3, simd_double3)) {
    self.columns = columns
  }

  /// Makes a matrix from its columns.
  public init(_ c0: simd_double3, _ c1: simd_double3, _ c2: simd_double3, _ c3: simd_double3) {
    columns = (c0, c1, c2, c3)
  }
}

// MARK: - Other names

/// The matrix with two columns of three single-precision numbers, by the older name.
public typealias matrix_float2x3 = simd_float2x3
/// The matrix with two columns of three single-precision numbers, by the name of Swift's overlay.
public typealias float2x3 = simd_float2x3
/// The matrix with two columns of four single-precision numbers, by the older name.
public typealias matrix_float2x4 = simd_float2x4
/// The matrix with two columns of four single-precision numbers, by the name of Swift's overlay.
public typealias float2x4 = simd_float2x4
/// The matrix with three columns of two single-precision numbers, by the older name.
public typealias matrix_float3x2 = simd_float3x2
/// The matrix with three columns of two single-precision numbers, by the name of Swift's overlay.
public typealias float3x2 = simd_float3x2
/// The matrix with three columns of four single-precision numbers, by the older name.
public typealias matrix_float3x4 = simd_float3x4
/// The matrix with three columns of four single-precision numbers, by the name of Swift's overlay.
public typealias float3x4 = simd_float3x4
/// The matrix with four columns of two single-precision numbers, by the older name.
public typealias matrix_float4x2 = simd_float4x2
/// The matrix with four columns of two single-precision numbers, by the name of Swift's overlay.
public typealias float4x2 = simd_float4x2
/// The matrix with four columns of three single-precision numbers, by the older name.
public typealias matrix_float4x3 = simd_float4x3
/// The matrix with four columns of three single-precision numbers, by the name of Swift's overlay.
public typealias float4x3 = simd_float4x3
/// The matrix with two columns of three double-precision numbers, by the older name.
public typealias matrix_double2x3 = simd_double2x3
/// The matrix with two columns of three double-precision numbers, by the name of Swift's overlay.
public typealias double2x3 = simd_double2x3
/// The matrix with two columns of four double-precision numbers, by the older name.
public typealias matrix_double2x4 = simd_double2x4
/// The matrix with two columns of four double-precision numbers, by the name of Swift's overlay.
public typealias double2x4 = simd_double2x4
/// The matrix with three columns of two double-precision numbers, by the older name.
public typealias matrix_double3x2 = simd_double3x2
/// The matrix with three columns of two double-precision numbers, by the name of Swift's overlay.
public typealias double3x2 = simd_double3x2
/// The matrix with three columns of four double-precision numbers, by the older name.
public typealias matrix_double3x4 = simd_double3x4
/// The matrix with three columns of four double-precision numbers, by the name of Swift's overlay.
public typealias double3x4 = simd_double3x4
/// The matrix with four columns of two double-precision numbers, by the older name.
public typealias matrix_double4x2 = simd_double4x2
/// The matrix with four columns of two double-precision numbers, by the name of Swift's overlay.
public typealias double4x2 = simd_double4x2
/// The matrix with four columns of three double-precision numbers, by the older name.
public typealias matrix_double4x3 = simd_double4x3
/// The matrix with four columns of three double-precision numbers, by the name of Swift's overlay.
public typealias double4x3 = simd_double4x3
