// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation

/// The mean of the last normalised squares over their degrees of freedom, with its expected band.
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

  /// The number of squares in the mean.
  static let window = 50
  /// The smallest number of squares for which there is a mean.
  static let fewest = 10

  private var last: [(square: Double, degreesOfFreedom: Int)] = []
  private var next = 0
  private var bands: [Int: ClosedRange<Double>] = [:]

  /// Makes an empty mean.
  package init() {}

  /// Adds the next square and returns the mean up to it.
  package mutating func add(_ square: Double, degreesOfFreedom: Int) -> Mean? {
    if last.count < Self.window {
      last.append((square, degreesOfFreedom))
    } else {
      last[next] = (square, degreesOfFreedom)
      next = (next + 1) % Self.window
    }
    guard last.count >= Self.fewest else { return nil }
    // Summed anew, because a running sum would accumulate the rounding of removed terms.
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
