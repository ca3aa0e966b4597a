// SPDX-License-Identifier: Apache-2.0

/// A symmetric 3 × 3 matrix such as a covariance, stored as its upper triangle.
///
/// Memory layout: six doubles in the order `xx`, `xy`, `xz`, `yy`, `yz`, `zz`.
@frozen
public struct SymmetricMatrix3: Hashable, Sendable, Codable {
  /// Row 1, column 1.
  public var xx: Double
  /// Row 1, column 2.
  public var xy: Double
  /// Row 1, column 3.
  public var xz: Double
  /// Row 2, column 2.
  public var yy: Double
  /// Row 2, column 3.
  public var yz: Double
  /// Row 3, column 3.
  public var zz: Double

  /// The zero matrix.
  @inlinable
  public static var zero: SymmetricMatrix3 {
    SymmetricMatrix3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: 0)
  }

  /// Makes a matrix from its upper triangle.
  @inlinable
  public init(xx: Double, xy: Double, xz: Double, yy: Double, yz: Double, zz: Double) {
    self.xx = xx
    self.xy = xy
    self.xz = xz
    self.yy = yy
    self.yz = yz
    self.zz = zz
  }

  /// The outer product `scale · v vᵀ`.
  @inlinable
  public init(outer v: Vector3, scale: Double = 1) {
    self.init(
      xx: scale * v.x * v.x, xy: scale * v.x * v.y, xz: scale * v.x * v.z,
      yy: scale * v.y * v.y, yz: scale * v.y * v.z, zz: scale * v.z * v.z)
  }

  /// The sum of the diagonal.
  @inlinable
  public var trace: Double { xx + yy + zz }

  /// The product with a vector.
  @inlinable
  public func times(_ v: Vector3) -> Vector3 {
    Vector3(
      xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z,
      xz * v.x + yz * v.y + zz * v.z)
  }

  /// The quadratic form `vᵀ M v`: the variance along `v` when `v` has length one.
  @inlinable
  public func quadraticForm(_ v: Vector3) -> Double { v.dot(times(v)) }

  /// The determinant.
  @inlinable
  public var determinant: Double {
    xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
  }

  /// The inverse, or `nil` when the matrix is not positive definite within rounding.
  ///
  /// By cofactors; for a covariance of condition number κ the relative error is about 1e-16 κ.
  public var positiveDefiniteInverse: SymmetricMatrix3? {
    let minor = xx * yy - xy * xy
    let det = determinant
    guard xx > 0, minor > 0, det > 0, det.isFinite, (1 / det).isFinite else { return nil }
    return SymmetricMatrix3(
      xx: (yy * zz - yz * yz) / det, xy: (xz * yz - xy * zz) / det,
      xz: (xy * yz - xz * yy) / det, yy: (xx * zz - xz * xz) / det,
      yz: (xy * xz - xx * yz) / det, zz: minor / det)
  }

  /// The matrix in rotated coordinates, `R M Rᵀ`.
  public func rotated(by rotation: Rotation) -> SymmetricMatrix3 {
    // Rows of R are the columns of its inverse.
    let back = rotation.inverse
    let (r1, r2, r3) = (back.xAxis, back.yAxis, back.zAxis)
    let (m1, m2, m3) = (times(r1), times(r2), times(r3))
    return SymmetricMatrix3(
      xx: r1.dot(m1), xy: r1.dot(m2), xz: r1.dot(m3), yy: r2.dot(m2), yz: r2.dot(m3),
      zz: r3.dot(m3))
  }

  /// The element-wise sum.
  @inlinable
  public static func + (a: SymmetricMatrix3, b: SymmetricMatrix3) -> SymmetricMatrix3 {
    SymmetricMatrix3(
      xx: a.xx + b.xx, xy: a.xy + b.xy, xz: a.xz + b.xz, yy: a.yy + b.yy, yz: a.yz + b.yz,
      zz: a.zz + b.zz)
  }

  /// The matrix scaled by a number.
  @inlinable
  public static func * (scale: Double, a: SymmetricMatrix3) -> SymmetricMatrix3 {
    SymmetricMatrix3(
      xx: scale * a.xx, xy: scale * a.xy, xz: scale * a.xz, yy: scale * a.yy, yz: scale * a.yz,
      zz: scale * a.zz)
  }
}
