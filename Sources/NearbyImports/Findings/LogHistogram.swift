// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Counts of positive numbers in bins that widen by 2 %: quantiles to 1 % in constant memory.
struct LogHistogram: Hashable, Sendable {
  private static let widening = log(1.02)

  /// How many numbers there are.
  private(set) var count = 0
  /// How many numbers are zero or negative.
  private var notPositive = 0
  /// The bins in use, at most some 72 000 for all doubles; bin `n` is 1.02ⁿ to 1 %.
  private var bins: [Int: Int] = [:]

  /// Adds a number; zero and negative numbers are all taken as zero.
  mutating func add(_ number: Double) {
    guard number.isFinite else { return }
    count += 1
    if number > 0 {
      bins[Int((log(number) / Self.widening).rounded()), default: 0] += 1
    } else {
      notPositive += 1
    }
  }

  /// Adds the numbers of another histogram.
  mutating func merge(_ other: LogHistogram) {
    count += other.count
    notPositive += other.notPositive
    bins.merge(other.bins, uniquingKeysWith: +)
  }

  /// The middle of the bin below which a share of the numbers is; `nil` when there is nothing.
  func quantile(_ share: Double) -> Double? {
    guard count > 0 else { return nil }
    var below = notPositive
    if Double(below) >= share * Double(count), below > 0 { return 0 }
    for (bin, count) in bins.sorted(by: { $0.key < $1.key }) {
      below += count
      if Double(below) >= share * Double(self.count) { return exp(Double(bin) * Self.widening) }
    }
    return nil
  }

  /// The middle of the bin that holds the median; `nil` when there is nothing.
  var median: Double? { quantile(0.5) }
}
