// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The one-sigma ellipse of a covariance in the plane, by its half axes.
///
/// For `P = [xx xy; xy yy]` the half axes are the roots of the eigenvalues
/// `(xx + yy)/2 ± √((xx - yy)²/4 + xy²)`, and the long one points along `½ atan2(2 xy, xx - yy)`.
/// A circle, for which that is undefined, points along x.
public struct CovarianceEllipse: Hashable, Sendable {
  /// The long half axis, in the root of the covariance's unit.
  public var major: Double
  /// The short half axis.
  public var minor: Double
  /// The direction of the long axis: radians from x towards y, (-π/2, π/2].
  public var angleRadians: Double

  /// Makes the ellipse of a covariance; eigenvalues that rounding made negative count as zero.
  public init(xx: Double, xy: Double, yy: Double) {
    let mean = (xx + yy) / 2
    let radius = hypot((xx - yy) / 2, xy)
    major = max(0, mean + radius).squareRoot()
    minor = max(0, mean - radius).squareRoot()
    angleRadians = radius > 0 ? atan2(2 * xy, xx - yy) / 2 : 0
  }
}
