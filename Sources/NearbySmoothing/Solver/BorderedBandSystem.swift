// SPDX-License-Identifier: Apache-2.0

/// Normal equations whose matrix is a band with a dense border.
///
///     ⎡ A   B ⎤ ⎡ x ⎤   ⎡ a ⎤
///     ⎣ Bᵀ  C ⎦ ⎣ y ⎦ = ⎣ c ⎦
///
/// `A` is symmetric with `halfBandwidth` diagonals below the main one: what hangs together along the
/// path. `C` is dense: what everything hangs on. Memory O(n (halfBandwidth + m)), with n unknowns in
/// the band and m in the border.
struct BorderedBandSystem: Sendable {
  let bandCount: Int
  let halfBandwidth: Int
  let borderCount: Int

  /// The lower triangle of `A` as LAPACK stores bands: column by column, the diagonal first.
  private(set) var band: [Double]
  /// `B`, column by column.
  private(set) var coupling: [Double]
  /// The lower triangle of `C`, column by column.
  private(set) var border: [Double]
  /// The right-hand side: `a`, then `c`.
  private(set) var gradient: [Double]

  /// Makes equations in which nothing is known.
  init(bandCount: Int, halfBandwidth: Int, borderCount: Int) {
    self.bandCount = bandCount
    self.halfBandwidth = halfBandwidth
    self.borderCount = borderCount
    band = [Double](repeating: 0, count: (halfBandwidth + 1) * bandCount)
    coupling = [Double](repeating: 0, count: bandCount * borderCount)
    border = [Double](repeating: 0, count: borderCount * borderCount)
    gradient = [Double](repeating: 0, count: bandCount + borderCount)
  }

  /// One row of a Jacobian: up to twelve entries in the band and in the border.
  struct Row {
    private(set) var bandCount = 0
    private(set) var borderCount = 0
    private(set) var bandIndex: InlineArray<12, Int> = InlineArray(repeating: 0)
    private(set) var bandValue: InlineArray<12, Double> = InlineArray(repeating: 0)
    private(set) var borderIndex: InlineArray<12, Int> = InlineArray(repeating: 0)
    private(set) var borderValue: InlineArray<12, Double> = InlineArray(repeating: 0)

    /// Sets the derivative by an unknown of the band; indices ascend.
    mutating func appendBand(_ index: Int, _ value: Double) {
      bandIndex[bandCount] = index
      bandValue[bandCount] = value
      bandCount += 1
    }

    /// Sets the derivative by an unknown of the border; indices ascend.
    mutating func appendBorder(_ index: Int, _ value: Double) {
      borderIndex[borderCount] = index
      borderValue[borderCount] = value
      borderCount += 1
    }
  }

  /// Adds a scalar measurement: `weight · hᵀ h` to the matrix, `weight · innovation · hᵀ` to the
  /// right-hand side.
  mutating func add(_ row: Row, innovation: Double, weight: Double) {
    for i in 0..<row.bandCount {
      let (index, scaled) = (row.bandIndex[i], weight * row.bandValue[i])
      gradient[index] += scaled * innovation
      for j in 0...i {
        let column = row.bandIndex[j]
        band[column * (halfBandwidth + 1) + index - column] += scaled * row.bandValue[j]
      }
      for j in 0..<row.borderCount {
        coupling[row.borderIndex[j] * bandCount + index] += scaled * row.borderValue[j]
      }
    }
    for i in 0..<row.borderCount {
      let (index, scaled) = (row.borderIndex[i], weight * row.borderValue[i])
      gradient[bandCount + index] += scaled * innovation
      for j in 0...i {
        border[row.borderIndex[j] * borderCount + index] += scaled * row.borderValue[j]
      }
    }
  }

  /// Takes unknowns out: their steps become zero, and they tell nothing about others.
  mutating func hold(band heldBand: [Bool], border heldBorder: [Bool]) {
    let stride = halfBandwidth + 1
    for column in 0..<bandCount {
      let last = min(halfBandwidth, bandCount - 1 - column)
      for below in 0...last where heldBand[column] || heldBand[column + below] {
        band[column * stride + below] = below == 0 ? 1 : 0
      }
      if heldBand[column] { gradient[column] = 0 }
    }
    for column in 0..<borderCount {
      for row in 0..<bandCount where heldBorder[column] || heldBand[row] {
        coupling[column * bandCount + row] = 0
      }
      for row in column..<borderCount where heldBorder[column] || heldBorder[row] {
        border[column * borderCount + row] = row == column ? 1 : 0
      }
      if heldBorder[column] { gradient[bandCount + column] = 0 }
    }
  }

  /// Multiplies the diagonal by `1 + damping` (Levenberg and Marquardt).
  mutating func damp(_ damping: Double) {
    for column in 0..<bandCount { band[column * (halfBandwidth + 1)] *= 1 + damping }
    for column in 0..<borderCount { border[column * (borderCount + 1)] *= 1 + damping }
  }
}
