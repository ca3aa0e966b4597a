// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The chi-square distribution, which consistent normalised squared errors follow.
package struct ChiSquare: Sendable {
  /// The degrees of freedom.
  package let degreesOfFreedom: Int

  /// Makes the distribution of the sum of `degreesOfFreedom` squared standard normals, at least
  /// one.
  package init(degreesOfFreedom: Int) {
    precondition(degreesOfFreedom >= 1, "at least one degree of freedom")
    self.degreesOfFreedom = degreesOfFreedom
  }

  /// The probability of a value at or below `x`: the regularised incomplete gamma function P(k/2, x/2).
  ///
  /// By its series below k/2 + 1 and by its continued fraction (Lentz) above; relative error below
  /// 1e-12 for up to a million degrees of freedom.
  package func probability(below x: Double) -> Double {
    guard x > 0 else { return 0 }
    let a = Double(degreesOfFreedom) / 2
    let z = x / 2
    let front = exp(a * log(z) - z - Self.logGamma(a))
    if z < a + 1 {
      var term = 1 / a
      var sum = term
      var n = a
      while abs(term) > abs(sum) * 1e-16 {
        n += 1
        term *= z / n
        sum += term
      }
      return sum * front
    }
    var b = z + 1 - a
    var c = 1e300
    var d = 1 / b
    var fraction = d
    var i = 0.0
    while true {
      i += 1
      let an = -i * (i - a)
      b += 2
      d = 1 / (an * d + b)
      c = b + an / c
      fraction *= c * d
      if abs(c * d - 1) < 1e-15 { return 1 - front * fraction }
    }
  }

  /// The value that is not exceeded with the given probability, strictly between 0 and 1.
  package func quantile(_ probability: Double) -> Double {
    precondition(probability > 0 && probability < 1, "a probability strictly between 0 and 1")
    var low = 0.0
    var high = Double(degreesOfFreedom)
    while self.probability(below: high) < probability { high *= 2 }
    // Bisection reaches 1e-13 of the interval after 44 steps and always converges.
    while high - low > 1e-13 * high {
      let middle = (low + high) / 2
      if self.probability(below: middle) < probability { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  /// The two-sided band that holds the mean of `count` independent draws with the given probability.
  ///
  /// - Parameters:
  ///   - count: How many draws the mean is over.
  ///   - probability: How probable the band is.
  /// - Returns: The band; it narrows about the degrees of freedom as the count grows.
  package func meanBand(count: Int, probability: Double) -> ClosedRange<Double> {
    let sum = ChiSquare(degreesOfFreedom: degreesOfFreedom * count)
    let tail = (1 - probability) / 2
    return sum.quantile(tail) / Double(count)...sum.quantile(1 - tail) / Double(count)
  }

  /// The logarithm of the gamma function of a positive number, by Stirling's series from 10 upwards.
  private static func logGamma(_ x: Double) -> Double {
    var shift = 0.0
    var y = x
    while y < 10 {
      shift += log(y)
      y += 1
    }
    let inverse = 1 / y
    let square = inverse * inverse
    let series =
      inverse
      * (1.0 / 12 - square
        * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))))
    return (y - 0.5) * log(y) - y + 0.5 * log(2 * Double.pi) + series - shift
  }
}
