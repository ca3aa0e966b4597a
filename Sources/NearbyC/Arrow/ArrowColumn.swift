// SPDX-License-Identifier: Apache-2.0

/// A column of a table that is being filled.
final class ArrowColumn {
  /// The kinds of values.
  enum Kind {
    case float64, int64, int32, boolean
    /// Texts of which each is kept once: a dictionary of 32-bit indices.
    case words

    /// The kind in Arrow's letters.
    var format: String {
      switch self {
      case .float64: "g"
      case .int64: "l"
      case .int32, .words: "i"
      case .boolean: "b"
      }
    }
  }

  let name: String
  let kind: Kind
  /// The unit of the numbers, if they have one.
  let unit: String?
  // Performance: one function at a time fills a column, so accesses need no check while it runs.
  @safe @exclusivity(unchecked) private(set) var count = 0
  @safe @exclusivity(unchecked) private(set) var nullCount = 0
  /// The words, in the order of their indices.
  var words: [String]
  private var indexOfWord: [String: Int32] = [:]
  @safe @exclusivity(unchecked) private var values = ColumnStorage()
  @safe @exclusivity(unchecked) private var validity = ColumnStorage()

  init(_ name: String, _ kind: Kind, unit: String? = nil, words: [String] = []) {
    self.name = name
    self.kind = kind
    self.unit = unit
    self.words = words
    for (index, word) in words.enumerated() { indexOfWord[word] = Int32(index) }
  }

  /// Appends a number; one that is missing or not finite becomes null.
  @inline(__always)
  func append(_ value: Double?) {
    let isThere = value?.isFinite ?? false
    values.append(isThere ? value ?? .nan : .nan)
    appendValidity(isThere)
  }

  @inline(__always)
  func append(_ value: Int64) {
    values.append(value)
    appendValidity(true)
  }

  /// Appends a 32-bit number, or the index of a word.
  @inline(__always)
  func append(index: Int) {
    values.append(Int32(truncatingIfNeeded: index))
    appendValidity(true)
  }

  /// Appends a word, or null.
  func append(word: String?) {
    guard let word else {
      values.append(Int32(0))
      return appendValidity(false)
    }
    if let index = indexOfWord[word] { return append(index: Int(index)) }
    indexOfWord[word] = Int32(truncatingIfNeeded: words.count)
    words.append(word)
    append(index: words.count - 1)
  }

  func append(_ flag: Bool?) {
    values.append(bit: flag ?? false, at: count)
    appendValidity(flag != nil)
  }

  /// The bitmap begins with the first null.
  @inline(__always)
  private func appendValidity(_ isThere: Bool) {
    if nullCount > 0 {
      validity.append(bit: isThere, at: count)
    } else if !isThere {
      for index in 0..<count { validity.append(bit: true, at: index) }
      validity.append(bit: false, at: count)
    }
    if !isThere { nullCount += 1 }
    count += 1
  }

  /// Gives the memory away: the bitmap, if there is one, and the values.
  func take() -> [UnsafeMutableRawPointer?] {
    unsafe [nullCount > 0 ? validity.take() : nil, values.take()]
  }
}
