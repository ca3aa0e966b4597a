// SPDX-License-Identifier: Apache-2.0

/// Chooses rows of a long table so that a plot of them looks like a plot of the whole table.
///
/// The rows are divided into equal sections. The rows with the minimum and the maximum of each
/// series in each section are kept, and so are the first row, the last row and given rows. Cost:
/// O(n s log n) for n rows and s series.
package struct RowThinning {
  private let count: Int
  private let series: [[Double]]
  private let named: [Int]

  /// Makes a thinning from the series whose extremes are kept, and the rows that are always kept.
  ///
  /// `nan` does not count as an extreme.
  package init(count: Int, series: [[Double]], keeping named: [Int] = []) {
    self.count = count
    self.named = named
    self.series = series.filter { column in column.contains { !$0.isNaN } }
  }

  /// The rows of the finest division within the budget, or those of the coarsest division if none
  /// is.
  ///
  /// - Parameter budget: The largest number of rows, at least two.
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
