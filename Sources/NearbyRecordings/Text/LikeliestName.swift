// SPDX-License-Identifier: Apache-2.0

extension [String] {
  /// The name that was likely meant by a misspelt one; `nil` when none is near.
  package func likeliest(for name: String) -> String? {
    let nearest = self.min { $0.editDistance(to: name) < $1.editDistance(to: name) }
    guard let nearest, nearest.editDistance(to: name) <= 1 + nearest.count / 3 else { return nil }
    return nearest
  }
}

extension String {
  /// The Levenshtein distance to another text, ignoring case.
  fileprivate func editDistance(to other: String) -> Int {
    let (from, to) = (Array(lowercased()), Array(other.lowercased()))
    var row = Array(0...to.count)
    for (i, letter) in from.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, otherLetter) in to.enumerated() {
        let change = diagonal + (letter == otherLetter ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = Swift.min(change, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[to.count]
  }
}
