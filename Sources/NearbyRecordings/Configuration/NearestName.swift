// SPDX-License-Identifier: Apache-2.0

/// What somebody may have meant who wrote a name that does not exist.
package enum NearestName {
  /// What to say about it: the nearest name, if it is near, and all there are.
  ///
  /// - Parameters:
  ///   - name: What was written.
  ///   - known: The names that exist.
  ///   - label: What to say before their list.
  /// - Returns: `did you mean find-behind? known: find, …`.
  package static func hint(for name: String, among known: [String], label: String) -> String {
    let nearest = known.min { distance($0, name) < distance($1, name) }
    var hint = ""
    if let nearest, distance(nearest, name) <= 1 + nearest.count / 3 {
      hint = "did you mean \(nearest)? "
    }
    return "\(hint)\(label): \(known.joined(separator: ", "))"
  }

  /// How many letters must be put in, taken out or changed to make one text of the other
  /// (Levenshtein), capitals aside.
  private static func distance(_ one: String, _ other: String) -> Int {
    let (from, to) = (Array(one.lowercased()), Array(other.lowercased()))
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
