// SPDX-License-Identifier: Apache-2.0

/// Maximises a smooth function of a few numbers within intervals, by BFGS with finite differences.
struct Maximizer {
  var function: ([Double]) -> Double
  var intervals: [ClosedRange<Double>]
  var mostIterations = 25
  /// Whether a gradient is that of forward differences: half the work, and the maximum is missed by half a step.
  var differencesAreForward = false
  /// Called with each better point: what is computed around a point may follow it there.
  var follow: ([Double]) -> Void = { _ in }

  private static let step = 0.02
  private static let longestStep = 1.0
  private static let tolerance = 0.01

  /// Climbs from a start.
  ///
  /// - Parameter start: The start.
  /// - Returns: The best point, and its value.
  func maximum(from start: [Double]) -> (point: [Double], value: Double) {
    var point = clamped(start)
    var value = function(point)
    var gradient = gradient(at: point, value)
    let count = point.count
    var inverse = Self.identity(count, 0.02)
    for _ in 0..<mostIterations {
      var direction = Self.product(inverse, gradient)
      let longest = direction.map(abs).max() ?? 0
      guard longest > 1e-4 else { break }
      if longest > Self.longestStep {
        direction = direction.map { $0 * Self.longestStep / longest }
      }
      var length = 1.0
      var next = point
      var nextValue = -Double.infinity
      while length > 1e-3 {
        next = clamped(zip(point, direction).map { $0 + length * $1 })
        nextValue = function(next)
        if nextValue > value { break }
        length *= 0.35
      }
      guard nextValue > value else { break }
      follow(next)
      let nextGradient = self.gradient(at: next, nextValue)
      Self.update(
        &inverse, zip(next, point).map { $0 - $1 }, zip(gradient, nextGradient).map { $0 - $1 })
      let gain = nextValue - value
      (point, value, gradient) = (next, nextValue, nextGradient)
      if gain < Self.tolerance { break }
    }
    return (point, value)
  }

  /// The second derivatives at a maximum, with the opposite sign.
  ///
  /// Each number is moved to where the function has lost about a half, or by ``widest``.
  ///
  /// - Parameter point: The maximum.
  /// - Returns: A matrix.
  func curvature(at point: [Double]) -> [[Double]] {
    let count = point.count
    func moved(_ moves: [(Int, Double)]) -> Double {
      var other = point
      for (index, by) in moves { other[index] += by }
      return function(other)
    }
    let center = function(point)
    let narrow = 0.1
    let widths = (0..<count).map { index in
      let second =
        -(moved([(index, narrow)]) - 2 * center + moved([(index, -narrow)])) / (narrow * narrow)
      return min(Self.widest, 1 / max(second, 1e-6).squareRoot())
    }
    var result = Array(repeating: Array(repeating: 0.0, count: count), count: count)
    for a in 0..<count {
      let wa = widths[a]
      result[a][a] = -(moved([(a, wa)]) - 2 * center + moved([(a, -wa)])) / (wa * wa)
      for b in 0..<a {
        let wb = widths[b]
        let cross =
          -(moved([(a, wa), (b, wb)]) + moved([(a, -wa), (b, -wb)])
          - moved([(a, wa), (b, -wb)]) - moved([(a, -wa), (b, wb)])) / (4 * wa * wb)
        result[a][b] = cross
        result[b][a] = cross
      }
    }
    return result
  }

  /// How far the function is followed at most.
  private static let widest = 0.3

  private func clamped(_ point: [Double]) -> [Double] {
    zip(point, intervals).map { min(max($0, $1.lowerBound), $1.upperBound) }
  }

  private func gradient(at point: [Double], _ value: Double) -> [Double] {
    point.indices.map { index in
      var other = point
      other[index] += Self.step
      let above = function(other)
      guard !differencesAreForward else { return (above - value) / Self.step }
      other[index] -= 2 * Self.step
      return (above - function(other)) / (2 * Self.step)
    }
  }

  private static func identity(_ count: Int, _ scale: Double) -> [[Double]] {
    (0..<count).map { row in (0..<count).map { $0 == row ? scale : 0 } }
  }

  private static func product(_ matrix: [[Double]], _ vector: [Double]) -> [Double] {
    matrix.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
  }

  /// The BFGS update of the inverse of the curvature.
  private static func update(
    _ inverse: inout [[Double]], _ moved: [Double], _ change: [Double]
  ) {
    let inner = zip(moved, change).reduce(0) { $0 + $1.0 * $1.1 }
    guard inner > 1e-9 else { return }
    let image = product(inverse, change)
    let square = zip(image, change).reduce(0) { $0 + $1.0 * $1.1 }
    for a in moved.indices {
      for b in moved.indices {
        inverse[a][b] +=
          (inner + square) * moved[a] * moved[b] / (inner * inner)
          - (image[a] * moved[b] + moved[a] * image[b]) / inner
      }
    }
  }
}
