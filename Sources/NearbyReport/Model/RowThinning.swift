// SPDX-License-Identifier: Apache-2.0

/// Chooses rows of a long table so that a picture of the rest looks like one of the whole.
///
/// The rows are cut into equal stretches; of each stretch the rows stay in which a series has its least
/// and its greatest value, and of the whole the first, the last and those that are named. Cost: O(n s log n) for n rows and
/// s series.
package struct RowThinning {
  private let count: Int
  private let series: [[Double]]
  private let named: [Int]

  /// Takes the series whose extremes are to be kept, and rows that are to be kept whatever they hold.
  ///
  /// `nan` is no extreme.
  package init(count: Int, series: [[Double]], keeping named: [Int] = []) {
    self.count = count
    self.named = named
    self.series = series.filter { column in column.contains { !$0.isNaN } }
  }

  /// The rows of the finest cut that leaves at most so many of them; the coarsest when none does.
  ///
  /// - Parameter budget: How many rows may be left, at least two.
  /// - Returns: The rows, in order.
  package func rows(atMost budget: Int) -> [Int] {
    guard count > budget else { return Array(0..<count) }
    var (low, high) = (1, max(1, budget))
    var best = rows(stretches: low)
    while low < high {
      let middle = (low + high + 1) / 2
      let candidate = rows(stretches: middle)
      if candidate.count <= budget {
        (low, best) = (middle, candidate)
      } else {
        high = middle - 1
      }
    }
    return best
  }

  private func rows(stretches: Int) -> [Int] {
    var isKept = [Bool](repeating: false, count: count)
    isKept[0] = true
    isKept[count - 1] = true
    for row in named { isKept[row] = true }
    for stretch in 0..<stretches {
      let range = stretch * count / stretches..<(stretch + 1) * count / stretches
      guard let first = range.first else { continue }
      if series.isEmpty { isKept[first] = true }
      for column in series {
        var (least, greatest): (Int?, Int?)
        for row in range where !column[row].isNaN {
          if least.map({ column[row] < column[$0] }) ?? true { least = row }
          if greatest.map({ column[row] > column[$0] }) ?? true { greatest = row }
        }
        if let least { isKept[least] = true }
        if let greatest { isKept[greatest] = true }
      }
    }
    return isKept.indices.filter { isKept[$0] }
  }
}
