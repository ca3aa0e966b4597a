// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Columns of text, as wide as they need to be: the first set left, the others right.
struct TextTable {
  private var rows: [[String]] = []

  /// Makes a table.
  ///
  /// - Parameter header: The columns' titles.
  init(header: [String]) { rows = [header] }

  /// Adds a row with as many fields as the header has.
  mutating func add(_ row: [String]) { rows.append(row) }

  /// The table's lines.
  var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let fields = zip(row, widths).enumerated().map { index, field in
        let blanks = String(repeating: " ", count: field.1 - field.0.count)
        return index == 0 ? field.0 + blanks : blanks + field.0
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
