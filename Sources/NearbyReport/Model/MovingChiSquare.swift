// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation

/// The mean of the last normalised squares, each over its degrees of freedom, and where it belongs.
///
/// The sum of the last squares is χ² with the sum of their degrees of freedom, as far as they are
/// independent; both are divided by that sum.
package struct MovingChiSquare {
  /// A mean and its 95 % band.
  package struct Mean: Hashable {
    package var mean: Double
    package var low: Double
    package var high: Double
  }

  /// Over how many squares the mean is taken.
  static let window = 50
  /// Below this many there is no mean yet.
  static let fewest = 10

  private var last: [(square: Double, degreesOfFreedom: Int)] = []
  private var next = 0
  private var bands: [Int: ClosedRange<Double>] = [:]

  /// Begins with nothing.
  package init() {}

  /// Takes in the next square and gives the mean up to it.
  package mutating func add(_ square: Double, degreesOfFreedom: Int) -> Mean? {
    if last.count < Self.window {
      last.append((square, degreesOfFreedom))
    } else {
      last[next] = (square, degreesOfFreedom)
      next = (next + 1) % Self.window
    }
    guard last.count >= Self.fewest else { return nil }
    // Summed anew: a running sum would keep the rounding of what has left it.
    let sum = last.reduce(0) { $0 + $1.square }
    let total = last.reduce(0) { $0 + $1.degreesOfFreedom }
    let band = band(total)
    return Mean(mean: sum / Double(total), low: band.lowerBound, high: band.upperBound)
  }

  private mutating func band(_ degreesOfFreedom: Int) -> ClosedRange<Double> {
    if let band = bands[degreesOfFreedom] { return band }
    let n = Double(degreesOfFreedom)
    let whole = ChiSquare(degreesOfFreedom: degreesOfFreedom).meanBand(count: 1, probability: 0.95)
    let band = whole.lowerBound / n...whole.upperBound / n
    bands[degreesOfFreedom] = band
    return band
  }
}
