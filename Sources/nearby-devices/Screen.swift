// SPDX-License-Identifier: Apache-2.0

/// What is shown of a list on a screen of any size.
struct Screen {
  private static let title = "Nearby devices"

  /// How many lines of the list are above the screen.
  private(set) var offset = 0

  /// Moves the list by pages.
  mutating func turn(pages: Int, of count: Int, rows: Int, columns: Int) {
    offset += pages * Self.listRows(count, rows: rows, columns: columns)
    limit(count, rows: rows, columns: columns)
  }

  private mutating func limit(_ count: Int, rows: Int, columns: Int) {
    offset = max(0, min(offset, count - Self.listRows(count, rows: rows, columns: columns)))
  }

  /// The lines, no more than there are rows and none wider than the screen.
  mutating func lines(_ list: [String], rows: Int, columns: Int) -> [String] {
    limit(list.count, rows: rows, columns: columns)
    let shown = Self.listRows(list.count, rows: rows, columns: columns)
    let last = min(list.count, offset + shown)
    var title = Self.title
    if shown < list.count { title += "  \(offset + 1)-\(last) of \(list.count)  n p: scroll" }
    var lines = [title] + list[offset..<last]
    let help = Self.help(columns)
    if lines.count + help.count < rows { lines += [""] + help }
    return lines.prefix(rows).map { Self.cut($0, to: columns) }
  }

  /// How many lines of the list fit beside the title and the help.
  private static func listRows(_ count: Int, rows: Int, columns: Int) -> Int {
    let besides = 2 + help(columns).count
    // On a very low screen the list is more useful than the help.
    return max(1, min(count, rows - besides >= 3 ? rows - besides : rows - 1))
  }

  /// The keys, in as many lines as they need.
  private static func help(_ columns: Int) -> [String] {
    var lines: [String] = []
    for part in Steering.helpParts {
      if let last = lines.last, last.count + 3 + part.count <= columns {
        lines[lines.count - 1] = last + "   " + part
      } else {
        lines.append(part)
      }
    }
    return lines
  }

  private static func cut(_ line: String, to columns: Int) -> String {
    line.count <= columns ? line : line.prefix(max(0, columns - 1)) + "…"
  }
}
