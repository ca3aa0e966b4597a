// SPDX-License-Identifier: Apache-2.0

/// The values of a line of JSON, by their paths: `utime`, `raz[0]`, `pose.x`.
///
/// A number or a string is where it stands in the line, so that it is read like a field of a table.
struct JSONFields {
  /// A value.
  struct Field {
    var path: String
    /// Its bytes, without the quotes of a string.
    var range: Range<Int>
  }

  private let text: ArraySlice<UInt8>
  private var position: Int
  private(set) var fields: [Field] = []

  /// The deepest nesting that is read.
  private static let deepest = 16

  /// Finds the values of a line.
  ///
  /// - Parameter line: The line; ranges are its indices.
  /// - Returns: The values in their order; `nil` when the line is no object of JSON.
  static func parse(_ line: ArraySlice<UInt8>) -> [Field]? {
    var scan = JSONFields(line)
    scan.skipBlanks()
    guard scan.next == UInt8(ascii: "{"), scan.value("", depth: 0) else { return nil }
    scan.skipBlanks()
    return scan.next == nil ? scan.fields : nil
  }

  private init(_ line: ArraySlice<UInt8>) {
    text = line
    position = line.startIndex
  }

  private var next: UInt8? { position < text.endIndex ? text[position] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte.isBlank { position += 1 }
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Reads a value; `false` when it is malformed.
  private mutating func value(_ path: String, depth: Int) -> Bool {
    guard depth < Self.deepest else { return false }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return members(path, depth: depth)
    case UInt8(ascii: "["): return elements(path, depth: depth)
    case .quote:
      guard let range = string() else { return false }
      fields.append(Field(path: path, range: range))
      return true
    default:
      let start = position
      while let byte = next, !byte.isBlank,
        ![.comma, UInt8(ascii: "]"), UInt8(ascii: "}")].contains(byte)
      {
        position += 1
      }
      guard position > start else { return false }
      // Nothing measured is an empty field.
      let isNull = text[start..<position].elementsEqual("null".utf8)
      fields.append(Field(path: path, range: isNull ? start..<start : start..<position))
      return true
    }
  }

  private mutating func members(_ path: String, depth: Int) -> Bool {
    position += 1
    if skip("}") { return true }
    repeat {
      skipBlanks()
      guard next == .quote, let key = string(), skip(":") else { return false }
      let name = String(decoding: text[key], as: UTF8.self)
      guard value(path.isEmpty ? name : "\(path).\(name)", depth: depth + 1) else { return false }
    } while skip(",")
    return skip("}")
  }

  private mutating func elements(_ path: String, depth: Int) -> Bool {
    position += 1
    if skip("]") { return true }
    var index = 0
    repeat {
      guard value("\(path)[\(index)]", depth: depth + 1) else { return false }
      index += 1
    } while skip(",")
    return skip("]")
  }

  /// What a string holds; `nil` when it is not closed.
  private mutating func string() -> Range<Int>? {
    position += 1
    let start = position
    while let byte = next {
      if byte == .quote {
        position += 1
        return start..<(position - 1)
      }
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }
}
