// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyRecordings

/// Columns of text of minimal width: words aligned left, numbers right.
struct TextTable {
  private var rows: [[String]] = []
  private let left: Set<Int>

  /// Makes a table.
  ///
  /// - Parameters:
  ///   - header: The columns' titles.
  ///   - left: The columns that are aligned left; by default the first.
  init(header: [String], left: Set<Int> = [0]) {
    rows = [header]
    self.left = left
  }

  /// Adds a row with as many fields as the header has.
  mutating func add(_ row: [String]) { rows.append(row.map { $0.printable() }) }

  /// The table's lines.
  var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let fields = zip(row, widths).enumerated().map { index, field in
        let blanks = String(repeating: " ", count: field.1 - field.0.count)
        return left.contains(index) ? field.0 + blanks : blanks + field.0
      }
      var line = fields.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension Double {
  /// The number with a fixed count of decimals.
  func text(decimals: Int) -> String {
    guard isFinite, abs(self) < 1e12 else { return "\(self)" }
    let unit = pow(10, Double(decimals))
    let scaled = Int64((abs(self) * unit).rounded())
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int64(unit))
    let sign = self < 0 && scaled > 0 ? "-" : ""
    if decimals == 0 { return "\(sign)\(whole)" }
    let digits = "\(rest)"
    return "\(sign)\(whole)." + String(repeating: "0", count: decimals - digits.count) + digits
  }
}
