// SPDX-License-Identifier: Apache-2.0

/// Finds the members of a line that holds one JSON object, without copying.
///
/// Numbers stay text, so that a timestamp keeps every digit. A nested value is found as a whole.
struct FlatJSON {
  /// The kinds of values.
  enum Kind { case string, number, bool, null, nested }

  struct Member {
    /// The key without its quotes, escapes as they are written.
    var key: Range<Int>
    /// The value; a string without its quotes, escapes as they are written.
    var value: Range<Int>
    var kind: Kind
  }

  /// A fault and where it is.
  struct Fault: Error {
    var message: String
    var position: Int
  }

  /// The deepest nesting, that of a manifest.
  private static let deepest = 64

  private(set) var members: [Member] = []
  private var position = 0
  private var end = 0

  /// Finds the members of a line's object.
  mutating func parse(_ text: Span<UInt8>, _ line: Range<Int>) throws(Fault) {
    members.removeAll(keepingCapacity: true)
    (position, end) = (line.lowerBound, line.upperBound)
    skipBlanks(text)
    try expect("{", text)
    skipBlanks(text)
    if next(text) == UInt8(ascii: "}") {
      position += 1
    } else {
      while true {
        skipBlanks(text)
        let key = try string(text)
        skipBlanks(text)
        try expect(":", text)
        skipBlanks(text)
        let (value, kind) = try value(text)
        members.append(Member(key: key, value: value, kind: kind))
        skipBlanks(text)
        if next(text) == .comma {
          position += 1
          continue
        }
        try expect("}", text)
        break
      }
    }
    skipBlanks(text)
    if position < end { throw fault("there is text after the end of the object") }
  }

  private func next(_ text: Span<UInt8>) -> UInt8? { position < end ? text[position] : nil }

  private func fault(_ message: String) -> Fault { Fault(message: message, position: position) }

  private mutating func skipBlanks(_ text: Span<UInt8>) {
    while position < end, text[position].isBlank { position += 1 }
  }

  private mutating func expect(_ character: Unicode.Scalar, _ text: Span<UInt8>) throws(Fault) {
    guard next(text) == UInt8(ascii: character) else {
      throw fault(position == end ? "the line ends within the object" : "expected \"\(character)\"")
    }
    position += 1
  }

  private mutating func string(_ text: Span<UInt8>) throws(Fault) -> Range<Int> {
    guard next(text) == .quote else {
      throw fault(position == end ? "the line ends within the object" : "expected a string")
    }
    position += 1
    let start = position
    while let byte = next(text) {
      if byte == .quote {
        position += 1
        return start..<position - 1
      }
      if byte < .blank { throw fault("a string holds a control character") }
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    position = end
    throw fault("the line ends within a string")
  }

  private mutating func value(_ text: Span<UInt8>) throws(Fault) -> (Range<Int>, Kind) {
    let start = position
    switch next(text) {
    case .quote: return (try string(text), .string)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try skipNested(text)
      return (start..<position, .nested)
    case UInt8(ascii: "t"): return (try word("true", text), .bool)
    case UInt8(ascii: "f"): return (try word("false", text), .bool)
    case UInt8(ascii: "n"): return (try word("null", text), .null)
    case .some(let byte) where byte.isDigit || byte == .minus:
      while let byte = next(text), byte.isPartOfNumber { position += 1 }
      return (start..<position, .number)
    default: throw fault(position == end ? "the line ends within the object" : "expected a value")
    }
  }

  private mutating func word(
    _ word: StaticString, _ text: Span<UInt8>
  ) throws(Fault) -> Range<Int> {
    let start = position
    for letter in "\(word)".utf8 {
      guard next(text) == letter else {
        position = start
        throw fault("expected a value")
      }
      position += 1
    }
    return start..<position
  }

  /// Skips the object or array that begins here without parsing its contents.
  private mutating func skipNested(_ text: Span<UInt8>) throws(Fault) {
    var depth = 0
    while let byte = next(text) {
      switch byte {
      case .quote:
        _ = try string(text)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      if depth > Self.deepest { throw fault("values are nested too deeply") }
      position += 1
      if depth == 0 { return }
    }
    throw fault("the line ends within the object")
  }
}
