// SPDX-License-Identifier: Apache-2.0

/// A Jacobian by central differences, and its comparison with an analytic one.
public struct NumericJacobian: Sendable {
  /// The derivative of output `row` by input `column`, as `rows[row][column]`.
  public let rows: [[Double]]

  /// Differentiates a function numerically.
  ///
  /// The step for an input `x` is `cbrt(ulpOfOne) · max(1, |x|)`, about 6e-6, where truncation and
  /// rounding balance; near a singular set it is at most 1e-4 of the distance to it, since the
  /// truncation error, relative to the Jacobian, grows as (step / distance)².
  ///
  /// - Parameters:
  ///   - point: Where to differentiate.
  ///   - distanceToSingularity: How far the point is from where the function has no derivative.
  ///   - angles: The outputs that are angles and whose differences are therefore wrapped.
  ///   - function: The function; it always returns the same number of outputs.
  public init(
    at point: [Double], distanceToSingularity: Double = .infinity, angles: Set<Int> = [],
    of function: ([Double]) -> [Double]
  ) {
    var columns: [[Double]] = []
    for column in point.indices {
      let wanted = min(
        6.0554544523933395e-06 * max(1, abs(point[column])), 1e-4 * distanceToSingularity)
      var ahead = point
      var behind = point
      ahead[column] += wanted
      behind[column] -= wanted
      // The step that was made, rounding of the sums included.
      let step = ahead[column] - behind[column]
      let (upper, lower) = (function(ahead), function(behind))
      columns.append(
        upper.indices.map { row in
          let difference = upper[row] - lower[row]
          return (angles.contains(row) ? difference.remainder(dividingBy: 2 * .pi) : difference)
            / step
        })
    }
    let count = columns.first?.count ?? 0
    rows = (0..<count).map { row in columns.map { $0[row] } }
  }

  /// Compares an analytic Jacobian with this one.
  ///
  /// - Parameters:
  ///   - analytic: The analytic Jacobian, row by row.
  ///   - tolerance: The allowed difference, over one plus the row's length.
  /// - Returns: The entry that differs most among those that differ too much or are not finite,
  ///   described; `nil` when all agree.
  public func mismatch(with analytic: [[Double]], tolerance: Double = 1e-7) -> String? {
    guard analytic.count == rows.count else {
      return "\(analytic.count) analytic rows, \(rows.count) numeric ones"
    }
    var worst = 1.0
    var message: String?
    for (row, (ours, reference)) in zip(analytic, rows).enumerated() {
      guard ours.count == reference.count else {
        return "row \(row): \(ours.count) analytic columns, \(reference.count) numeric ones"
      }
      let length = reference.reduce(0) { $0 + $1 * $1 }.squareRoot()
      for (column, (a, n)) in zip(ours, reference).enumerated() {
        let excess =
          a.isFinite && n.isFinite ? abs(a - n) / (tolerance * (1 + length)) : Double.infinity
        if excess > worst {
          worst = excess
          message = "row \(row), column \(column): analytic \(a), numeric \(n)"
        }
      }
    }
    return message
  }
}
