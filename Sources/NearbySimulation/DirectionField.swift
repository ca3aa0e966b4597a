// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// A random smooth function of direction, as a model of direction-dependent angle errors.
///
/// The sum of the sixteen real spherical harmonics of degrees 0 to 3, each with an independent normal
/// coefficient. The basis is scaled so that the function's standard deviation is the same in every
/// direction; two directions an angle γ apart correlate by `Σ w_l P_l(cos γ)` (P_l: Legendre), with
/// the shares w = 0.3, 0.3, 0.25, 0.15: by 0.5 at 44 degrees.
public struct DirectionField: Sendable {
  /// How many functions the basis has.
  public static let count = 16

  /// The coefficient of each function.
  public var coefficients: [Double]

  /// Draws a function with the given standard deviation in every direction.
  public init(sigma: Double, _ generator: inout SeededGenerator) {
    coefficients = (0..<Self.count).map { _ in generator.normal(sigma: sigma) }
  }

  /// The function's value in the direction of a vector that is not zero.
  public func value(at direction: Vector3) -> Double { value(Basis(at: direction)) }

  /// The function's value for given values of the basis functions.
  func value(_ basis: Basis) -> Double {
    var sum = 0.0
    for index in 0..<Self.count { sum += coefficients[index] * basis.values[index] }
    return sum
  }

  /// The basis functions in the direction of a vector; their squares sum to one.
  public static func basis(at direction: Vector3) -> [Double] {
    let basis = Basis(at: direction)
    return (0..<count).map { basis.values[$0] }
  }

  /// The basis functions in one direction, which two fields share for each sample.
  ///
  /// Performance: no array.
  struct Basis {
    let values: InlineArray<16, Double>

    init(at direction: Vector3) {
      let unit = direction.normalized
      let (x, y, z) = (unit.x, unit.y, unit.z)
      let constant = 0.3.squareRoot()
      let first = 0.3.squareRoot()
      let second = 0.25.squareRoot()
      let third = 0.15.squareRoot()
      values = [
        constant,
        first * x, first * y, first * z,
        second * 3.0.squareRoot() * x * y, second * 3.0.squareRoot() * y * z,
        second * 3.0.squareRoot() * z * x, second * 0.75.squareRoot() * (x * x - y * y),
        second * 0.5 * (3 * z * z - 1),
        third * 0.625.squareRoot() * y * (3 * x * x - y * y),
        third * 15.0.squareRoot() * x * y * z,
        third * 0.375.squareRoot() * y * (5 * z * z - 1), third * 0.5 * z * (5 * z * z - 3),
        third * 0.375.squareRoot() * x * (5 * z * z - 1),
        third * 3.75.squareRoot() * z * (x * x - y * y),
        third * 0.625.squareRoot() * x * (x * x - 3 * y * y),
      ]
    }
  }
}
