// SPDX-License-Identifier: Apache-2.0

/// A JSON value with its line and column.
///
/// Foundation's decoder does not say on which line a file went wrong; people who write
/// `recording.json` by hand need to know.
package struct LocatedJSON {
  package enum Content {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([LocatedJSON])
    case object([Member])
  }

  package struct Member {
    package var key: String
    package var keyLine: Int
    package var keyColumn: Int
    package var value: LocatedJSON
  }

  package var content: Content
  package var line: Int
  package var column: Int

  /// The type of the value, for a message.
  package var typeName: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// Reads a whole text (RFC 8259; a byte order mark is skipped).
  ///
  /// - Parameters:
  ///   - bytes: The text in UTF-8.
  ///   - file: The file's name, for errors.
  /// - Returns: The document's value.
  /// - Throws: The first fault, with its place.
  package static func parse(_ bytes: [UInt8], file: String) throws(RecordingError) -> LocatedJSON {
    var parser = Parser(bytes: bytes, file: file)
    return try parser.parseDocument()
  }
}

extension LocatedJSON {
  private struct Parser {
    let bytes: [UInt8]
    let file: String
    var position = 0
    var line = 1
    var lineStart = 0

    /// The deepest nesting.
    ///
    /// The limit keeps a hostile file from exhausting the stack.
    static let deepest = 64

    init(bytes: [UInt8], file: String) {
      self.bytes = bytes
      self.file = file
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
        position = 3
        lineStart = 3
      }
    }

    var column: Int { position - lineStart + 1 }
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    func failure(_ message: String) -> RecordingError {
      RecordingError(
        .malformedManifest, message, file: file, line: line, column: column,
        remedy: "the file must be JSON (RFC 8259)")
    }

    mutating func parseDocument() throws(RecordingError) -> LocatedJSON {
      skipBlanks()
      if next == nil { throw failure("the file is empty") }
      let value = try parseValue(depth: 0)
      skipBlanks()
      if next != nil { throw failure("there is text after the end of the object") }
      return value
    }

    mutating func skipBlanks() {
      while let byte = next, byte == .blank || byte == .tab || byte == .lf || byte == .cr {
        position += 1
        if byte == .lf {
          line += 1
          lineStart = position
        }
      }
    }

    mutating func skip(_ byte: UInt8) -> Bool {
      guard next == byte else { return false }
      position += 1
      return true
    }

    mutating func parseValue(depth: Int) throws(RecordingError) -> LocatedJSON {
      if depth > Self.deepest { throw failure("values are nested too deeply") }
      let (line, column) = (line, column)
      let content: Content
      switch next {
      case UInt8(ascii: "{"): content = .object(try parseMembers(depth: depth))
      case UInt8(ascii: "["): content = .array(try parseElements(depth: depth))
      case .quote: content = .string(try parseString())
      case UInt8(ascii: "t"): content = try parseWord("true", .bool(true))
      case UInt8(ascii: "f"): content = try parseWord("false", .bool(false))
      case UInt8(ascii: "n"): content = try parseWord("null", .null)
      case nil: throw failure("the file ends in the middle of a value")
      default: content = .number(try parseNumber())
      }
      return LocatedJSON(content: content, line: line, column: column)
    }

    mutating func parseMembers(depth: Int) throws(RecordingError) -> [Member] {
      position += 1
      var members: [Member] = []
      skipBlanks()
      if skip(UInt8(ascii: "}")) { return members }
      while true {
        skipBlanks()
        guard next == .quote else { throw failure("expected a key in double quotes") }
        let (keyLine, keyColumn) = (line, column)
        let key = try parseString()
        skipBlanks()
        guard skip(UInt8(ascii: ":")) else { throw failure("expected \":\" after key \"\(key)\"") }
        skipBlanks()
        let value = try parseValue(depth: depth + 1)
        members.append(Member(key: key, keyLine: keyLine, keyColumn: keyColumn, value: value))
        skipBlanks()
        if skip(UInt8(ascii: "}")) { return members }
        guard skip(.comma) else { throw failure("expected \",\" or \"}\"") }
      }
    }

    mutating func parseElements(depth: Int) throws(RecordingError) -> [LocatedJSON] {
      position += 1
      var elements: [LocatedJSON] = []
      skipBlanks()
      if skip(UInt8(ascii: "]")) { return elements }
      while true {
        skipBlanks()
        elements.append(try parseValue(depth: depth + 1))
        skipBlanks()
        if skip(UInt8(ascii: "]")) { return elements }
        guard skip(.comma) else { throw failure("expected \",\" or \"]\"") }
      }
    }

    mutating func parseWord(
      _ word: String, _ content: Content
    ) throws(RecordingError) -> Content {
      guard bytes[position...].starts(with: word.utf8) else {
        throw failure("expected a JSON value")
      }
      position += word.utf8.count
      return content
    }

    mutating func parseNumber() throws(RecordingError) -> Double {
      let start = position
      while let byte = next, byte.isPartOfNumber { position += 1 }
      let text = bytes[start..<position]
      let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
      // Swift's parser also accepts numbers that JSON forbids: without digits before or after the
      // point, or with a plus.
      let isPlain =
        digits.first.map(\.isDigit) == true && text.last.map(\.isDigit) == true
        && !zip(digits, digits.dropFirst()).contains { $0 == .point && !$1.isDigit }
        && !(digits.count > 1 && digits.first == .zero && digits.dropFirst().first?.isDigit == true)
      guard isPlain, let value = Double(String(decoding: text, as: UTF8.self)) else {
        position = start
        throw failure("expected a JSON value")
      }
      return value
    }

    mutating func parseString() throws(RecordingError) -> String {
      position += 1
      var text: [UInt8] = []
      while let byte = next {
        switch byte {
        case .quote:
          position += 1
          return String(decoding: text, as: UTF8.self)
        case UInt8(ascii: "\\"):
          position += 1
          text.append(contentsOf: String(try parseEscape()).utf8)
        case 0..<0x20:
          throw failure("a string runs over the end of its line or holds a control character")
        default:
          text.append(byte)
          position += 1
        }
      }
      throw failure("the file ends in the middle of a string")
    }

    mutating func parseEscape() throws(RecordingError) -> Unicode.Scalar {
      guard let byte = next else { throw failure("the file ends in the middle of a string") }
      position += 1
      switch byte {
      case .quote, UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
      case UInt8(ascii: "b"): return "\u{8}"
      case UInt8(ascii: "f"): return "\u{C}"
      case UInt8(ascii: "n"): return "\n"
      case UInt8(ascii: "r"): return "\r"
      case UInt8(ascii: "t"): return "\t"
      case UInt8(ascii: "u"):
        let unit = try parseHexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // A high surrogate; its low half must follow.
        guard unit < 0xDC00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")),
          case let low = try parseHexUnit(), (0xDC00...0xDFFF).contains(low),
          let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw failure("half of a surrogate pair in a string") }
        return scalar
      default:
        position -= 1
        throw failure("unknown escape in a string")
      }
    }

    mutating func parseHexUnit() throws(RecordingError) -> UInt32 {
      let digits = bytes[position...].prefix(4)
      guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
      else { throw failure("expected four hexadecimal digits") }
      position += 4
      return unit
    }
  }
}
