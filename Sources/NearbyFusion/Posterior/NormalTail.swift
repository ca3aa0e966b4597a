// SPDX-License-Identifier: Apache-2.0

/// The probabilities that a normal error exceeds √2 x standard deviations, to 1e-6: ½ erfc(x).
///
/// Beyond 4.2 standard deviations they are zero, or one, to 1.1e-5: most heights are that clear, and no
/// published direction depends on it. Else erf(x) = x p(x²)/q(x²), fitted here (minimax on [0, 3]).
///
/// Performance: no exponential, and two values cost as much as one.
@inline(__always)
func normalTails(beyond x: SIMD2<Double>) -> SIMD2<Double> {
  let u = x * x
  let u2 = u * u
  let p =
    (1.1283873081595988 + u * 0.15305008664711942)
    + u2 * (0.043463886296112757 + u * 0.00076540899591851525)
  let q =
    (1 + u * 0.46904397232827334) + u2 * (0.09465336859487008 + u * 0.0094174566801601936)
  return (0.5 - (0.5 * x) * p / q)
    .replacing(with: 0, where: x .> 3).replacing(with: 1, where: x .< -3)
}
