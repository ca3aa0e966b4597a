// SPDX-License-Identifier: Apache-2.0
internal import CLAPACKE

/// The inverse of a symmetric positive definite matrix by LAPACK's Cholesky factorisation.
///
/// - Parameters:
///   - matrix: The matrix, `order * order` numbers; only one triangle is read.
///   - order: The number of rows.
/// - Returns: The inverse, both triangles; `nil` when the matrix is not positive definite.
public func positiveDefiniteInverse(of matrix: [Double], order: Int) -> [Double]? {
  precondition(order > 0 && matrix.count == order * order, "a square matrix of the given order")
  let n = Int32(order)
  let upper = CChar(UInt8(ascii: "U"))
  var result = matrix
  let isInverted = unsafe result.withUnsafeMutableBufferPointer { buffer in
    unsafe LAPACKE_dpotrf(LAPACK_COL_MAJOR, upper, n, buffer.baseAddress, n) == 0
      && LAPACKE_dpotri(LAPACK_COL_MAJOR, upper, n, buffer.baseAddress, n) == 0
  }
  guard isInverted else { return nil }
  for column in 0..<order {
    for row in 0..<column { result[row * order + column] = result[column * order + row] }
  }
  return result
}
