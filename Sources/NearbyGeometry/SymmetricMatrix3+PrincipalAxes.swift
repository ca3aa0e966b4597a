// SPDX-License-Identifier: Apache-2.0

extension SymmetricMatrix3 {
  /// A unit eigenvector, and its eigenvalue.
  public struct PrincipalAxis: Hashable, Sendable {
    /// The unit vector; its sign means nothing.
    public var direction: Vector3
    /// The eigenvalue: of a covariance, the variance along the direction.
    public var variance: Double
  }

  /// The eigenvectors `M v = λ v`, the smallest eigenvalue first; they are orthogonal.
  ///
  /// By Jacobi's rotations (Golub and Van Loan, section 8.5), which are exact to rounding for equal
  /// eigenvalues, too. About a thousand operations.
  public var principalAxes: InlineArray<3, PrincipalAxis> {
    var matrix: InlineArray<3, InlineArray<3, Double>> = [
      [xx, xy, xz], [xy, yy, yz], [xz, yz, zz],
    ]
    var vectors: InlineArray<3, Vector3> = [
      Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1),
    ]
    for _ in 0..<Self.mostSweeps {
      let off = xyOff(matrix)
      guard off > 0, off.isFinite else { break }
      Self.rotate(&matrix, &vectors, 0, 1)
      Self.rotate(&matrix, &vectors, 0, 2)
      Self.rotate(&matrix, &vectors, 1, 2)
    }
    var axes: InlineArray<3, PrincipalAxis> = InlineArray { index in
      PrincipalAxis(direction: vectors[index], variance: matrix[index][index])
    }
    if axes[1].variance < axes[0].variance { axes.swapAt(0, 1) }
    if axes[2].variance < axes[1].variance { axes.swapAt(1, 2) }
    if axes[1].variance < axes[0].variance { axes.swapAt(0, 1) }
    return axes
  }

  private static let mostSweeps = 12

  /// What is off the diagonal and not negligible beside it.
  private func xyOff(_ m: InlineArray<3, InlineArray<3, Double>>) -> Double {
    let off = m[0][1].magnitude + m[0][2].magnitude + m[1][2].magnitude
    let scale = m[0][0].magnitude + m[1][1].magnitude + m[2][2].magnitude
    return off > 1e-17 * scale ? off : 0
  }

  /// Turns two axes so that the element between them vanishes.
  private static func rotate(
    _ m: inout InlineArray<3, InlineArray<3, Double>>, _ vectors: inout InlineArray<3, Vector3>,
    _ p: Int, _ q: Int
  ) {
    let off = m[p][q]
    guard off != 0 else { return }
    let theta = (m[q][q] - m[p][p]) / (2 * off)
    let t = (theta < 0 ? -1 : 1) / (theta.magnitude + (theta * theta + 1).squareRoot())
    let c = 1 / (t * t + 1).squareRoot()
    let s = t * c
    let r = 3 - p - q
    m[p][p] -= t * off
    m[q][q] += t * off
    (m[p][q], m[q][p]) = (0, 0)
    let (a, b) = (m[r][p], m[r][q])
    (m[r][p], m[p][r]) = (c * a - s * b, c * a - s * b)
    (m[r][q], m[q][r]) = (s * a + c * b, s * a + c * b)
    (vectors[p], vectors[q]) = (
      c * vectors[p] - s * vectors[q], s * vectors[p] + c * vectors[q]
    )
  }
}
