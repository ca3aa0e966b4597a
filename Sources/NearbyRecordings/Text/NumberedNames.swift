// SPDX-License-Identifier: Apache-2.0

extension [String] {
  /// The names in the order of the numbers in them: `part2` comes before `part10`.
  package var sortedByNumbers: [String] {
    map { (name: $0, pieces: NamePiece.all(of: $0)) }
      .sorted { one, other in
        one.pieces == other.pieces
          ? one.name < other.name : one.pieces.lexicographicallyPrecedes(other.pieces)
      }
      .map(\.name)
  }
}

/// A number in a name, or a single other character.
private enum NamePiece: Comparable {
  // The digits without zeros before them, after their count: more digits are a larger number.
  case number(count: Int, digits: String)
  case other(Unicode.Scalar)

  static func all(of name: String) -> [NamePiece] {
    var pieces: [NamePiece] = []
    var rest = name.unicodeScalars[...]
    while let first = rest.first {
      let digits = rest.prefix { ("0"..."9").contains($0) }
      rest = rest.dropFirst(max(digits.count, 1))
      let number = String(digits.drop { $0 == "0" })
      pieces.append(
        digits.isEmpty ? .other(first) : .number(count: number.utf8.count, digits: number))
    }
    return pieces
  }
}
