// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Round numbers for scales: 1, 2 or 5 times a power of ten.
package enum NiceNumbers {
  /// The smallest round number that is not below a positive number.
  package static func atLeast(_ number: Double) -> Double {
    let power = pow(10, floor(log10(number)))
    // The tolerance covers rounding, so that 0.2 does not count as more than 2 · 0.1.
    for factor in [1.0, 2, 5] where factor * power >= number * (1 - 1e-9) { return factor * power }
    return 10 * power
  }

  /// About `count` multiples of a round number in an interval.
  package static func ticks(_ range: ClosedRange<Double>, about count: Int) -> [Double] {
    let length = range.upperBound - range.lowerBound
    guard length > 0, length.isFinite else { return [range.lowerBound] }
    let step = atLeast(length / Double(max(1, count)))
    let first = Int((range.lowerBound / step - 1e-9).rounded(.up))
    let last = Int((range.upperBound / step + 1e-9).rounded(.down))
    // Divides by the inverse of the step if that is an integer: 3 / 10 is 0.3, 3 · 0.1 is not.
    let inverse = (1 / step).rounded()
    return first > last
      ? [] : (first...last).map { step < 1 ? Double($0) / inverse : Double($0) * step }
  }
}
