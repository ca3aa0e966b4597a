// SPDX-License-Identifier: Apache-2.0

/// The mean and the standard deviation of the added values.
struct RunningMoments {
  private(set) var count = 0.0
  private var sum = 0.0
  private var squares = 0.0

  mutating func add(_ value: Double) {
    count += 1
    sum += value
    squares += value * value
  }

  var mean: Double { sum / count }
  var deviation: Double { (squares / count - mean * mean).squareRoot() }
}
