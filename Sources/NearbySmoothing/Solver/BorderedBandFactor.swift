// SPDX-License-Identifier: Apache-2.0
internal import CLAPACKE
import Glibc

/// A bordered band matrix, factorised: solutions, the determinant, and those parts of the inverse that
/// somebody asks for.
///
/// Cholesky's factor of the band (LAPACK's `dpbtrf`), `W = A⁻¹ B`, and Cholesky's factor of the Schur
/// complement `S = C - Bᵀ W`. With n unknowns in the band of half bandwidth b and m in the border:
/// O(n (b² + b m + m²)).
struct BorderedBandFactor: Sendable {
  let bandCount: Int
  let halfBandwidth: Int
  let borderCount: Int
  /// The solution: the band's unknowns, then the border's.
  let solution: [Double]
  /// The logarithm of the matrix's determinant.
  let logDeterminant: Double

  /// The band's factor, as LAPACK stores bands.
  private let bandFactor: [Double]
  /// `A⁻¹ B`, column by column.
  private let reduced: [Double]
  /// The factor of the Schur complement, lower triangle.
  private let schurFactor: [Double]

  private static let lower = CChar(UInt8(ascii: "L"))

  /// Factorises a system and solves it.
  ///
  /// `nil` when the matrix is not positive definite within rounding.
  init?(_ system: BorderedBandSystem) {
    let (n, b, m) = (system.bandCount, system.halfBandwidth, system.borderCount)
    (bandCount, halfBandwidth, borderCount) = (n, b, m)
    var bandFactor = system.band
    // The columns of B and the right-hand side are solved for together.
    var columns = system.coupling + system.gradient[0..<n]
    if n > 0 {
      let isSolved = unsafe bandFactor.withUnsafeMutableBufferPointer { band in
        unsafe columns.withUnsafeMutableBufferPointer { columns in
          unsafe LAPACKE_dpbtrf(
            LAPACK_COL_MAJOR, Self.lower, Int32(n), Int32(b), band.baseAddress, Int32(b + 1)) == 0
            && LAPACKE_dpbtrs(
              LAPACK_COL_MAJOR, Self.lower, Int32(n), Int32(b), Int32(m + 1), band.baseAddress,
              Int32(b + 1), columns.baseAddress, Int32(n)) == 0
        }
      }
      guard isSolved else { return nil }
    }

    var schur = system.border
    var right = Array(system.gradient[n...])
    for row in 0..<m {
      // A peer is seen from some knots only: its columns of B are mostly zero.
      let seen = (0..<n).filter { system.coupling[row * n + $0] != 0 }
      let values = seen.map { system.coupling[row * n + $0] }
      for column in 0...row {
        schur[column * m + row] -= Self.dot(values, seen, columns, from: column * n)
      }
      right[row] -= Self.dot(values, seen, columns, from: m * n)
    }
    if m > 0 {
      let isSolved = unsafe schur.withUnsafeMutableBufferPointer { schur in
        unsafe right.withUnsafeMutableBufferPointer { right in
          unsafe LAPACKE_dpotrf(
            LAPACK_COL_MAJOR, Self.lower, Int32(m), schur.baseAddress, Int32(m)) == 0
            && LAPACKE_dpotrs(
              LAPACK_COL_MAJOR, Self.lower, Int32(m), 1, schur.baseAddress, Int32(m),
              right.baseAddress, Int32(m)) == 0
        }
      }
      guard isSolved else { return nil }
    }

    var solution = Array(columns[(m * n)...])
    for column in 0..<m {
      for row in 0..<n { solution[row] -= columns[column * n + row] * right[column] }
    }
    self.solution = solution + right
    guard self.solution.allSatisfy(\.isFinite) else { return nil }
    var logDeterminant = 0.0
    for column in 0..<n { logDeterminant += 2 * log(bandFactor[column * (b + 1)]) }
    for column in 0..<m { logDeterminant += 2 * log(schur[column * (m + 1)]) }
    self.logDeterminant = logDeterminant
    columns.removeLast(n)
    self.bandFactor = bandFactor
    reduced = columns
    schurFactor = schur
  }

  private static func dot(
    _ values: [Double], _ indices: [Int], _ columns: [Double], from start: Int
  ) -> Double {
    var sum = 0.0
    for (value, index) in zip(values, indices) { sum += value * columns[start + index] }
    return sum
  }

  // MARK: The inverse

  /// Those parts of the inverse that lie in the band, beside it and in the border.
  struct SelectedInverse: Sendable {
    fileprivate let halfBandwidth: Int
    fileprivate let bandCount: Int
    fileprivate let borderCount: Int
    /// `A⁻¹` within the band's pattern.
    fileprivate let band: [Double]
    fileprivate let reduced: [Double]
    /// `S⁻¹`, both triangles.
    fileprivate let border: [Double]

    /// An element between two unknowns of the border.
    func border(_ row: Int, _ column: Int) -> Double { border[row * borderCount + column] }

    /// An element between an unknown of the band and one of the border: `-(W S⁻¹)`.
    func coupling(_ row: Int, _ column: Int) -> Double {
      var sum = 0.0
      for index in 0..<borderCount {
        sum -= reduced[index * bandCount + row] * border[column * borderCount + index]
      }
      return sum
    }

    /// The elements between consecutive unknowns of the band, `(A⁻¹ + W S⁻¹ Wᵀ)`, row by row.
    ///
    /// - Parameters:
    ///   - first: The first of them.
    ///   - count: How many, one more than the half bandwidth at most.
    /// - Returns: `count * count` numbers, both triangles.
    func block(at first: Int, count: Int) -> [Double] {
      var block = [Double](repeating: 0, count: count * count)
      for row in 0..<count {
        let across = (0..<borderCount).map { coupling(first + row, $0) }
        for column in 0...row {
          var sum = band[(first + column) * (halfBandwidth + 1) + row - column]
          for index in 0..<borderCount {
            sum -= across[index] * reduced[index * bandCount + first + column]
          }
          block[row * count + column] = sum
          block[column * count + row] = sum
        }
      }
      return block
    }
  }

  /// Takes the inverse where it is asked for, never the whole of it.
  ///
  /// The band's part by the recursion of Takahashi, Fagan and Chin (1973), from the last column to the
  /// first, `Z = (Lᵀ)⁻¹ (L⁻¹ - …)`:
  ///
  ///     Z_ij = δ_ij / L_jj² - (1 / L_jj) Σ_{k > j} L_kj Z_ik,   i ≥ j
  ///
  /// O(n b²) for the band and O(m³) for the border.
  func selectedInverse() -> SelectedInverse {
    let (n, b, m) = (bandCount, halfBandwidth, borderCount)
    let stride = b + 1
    var inverse = [Double](repeating: 0, count: stride * n)
    for column in (0..<n).reversed() {
      let last = min(b, n - 1 - column)
      let diagonal = bandFactor[column * stride]
      // From the bottom up: the diagonal needs the rest of its column.
      for row in Swift.stride(from: last, through: 0, by: -1) {
        var sum = row == 0 ? 1 / diagonal : 0
        for k in 0..<last {
          let other = k + 1
          let (low, high) = (min(row, other), max(row, other))
          // Z between column + row and column + other, of which the lower index is the column; the
          // diagonal's own column holds Z of `other` from this same pass.
          let element =
            row == 0
            ? inverse[column * stride + other] : inverse[(column + low) * stride + high - low]
          sum -= bandFactor[column * stride + other] * element
        }
        inverse[column * stride + row] = sum / diagonal
      }
    }
    var border = schurFactor
    if m > 0 {
      let info = unsafe border.withUnsafeMutableBufferPointer { border in
        unsafe LAPACKE_dpotri(
          LAPACK_COL_MAJOR, Self.lower, Int32(m), border.baseAddress, Int32(m))
      }
      precondition(info == 0, "a factor with a positive diagonal has an inverse")
      for column in 0..<m {
        for row in column..<m { border[row * m + column] = border[column * m + row] }
      }
    }
    return SelectedInverse(
      halfBandwidth: b, bandCount: n, borderCount: m, band: inverse, reduced: reduced,
      border: border)
  }
}
