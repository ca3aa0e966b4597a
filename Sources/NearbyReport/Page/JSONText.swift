// SPDX-License-Identifier: Apache-2.0
package import NearbyRecordings

/// Writes JSON without blanks that is safe inside a `<script>` element.
///
/// Foundation's encoder prints numbers with up to 17 digits; here each has the decimals that it needs.
package struct JSONText {
  package private(set) var text = OutputText()
  private var isFirst = true

  /// Makes an empty text.
  package init() {}

  /// Writes an object, whose members the function writes.
  package mutating func object(_ body: (inout JSONText) -> Void) {
    separate()
    nest("{", "}", body)
  }

  /// Writes an array, whose elements the function writes one by one.
  package mutating func array<Element>(
    _ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void
  ) {
    separate()
    nest("[", "]") { json in
      for element in elements { body(&json, element) }
    }
  }

  /// Writes the key of the value that follows.
  package mutating func key(_ name: String) {
    value(name)
    text.append(":")
    isFirst = true
  }

  /// Writes a string.
  package mutating func value(_ string: String) {
    separate()
    text.append("\"")
    text.append(Self.escaped(string))
    text.append("\"")
  }

  /// Writes a number, or `null` for a missing one.
  package mutating func value(_ number: Double?, decimals: Int = 0) {
    separate()
    guard let number, number.isFinite else { return text.append("null") }
    text.append(number, decimals: decimals)
  }

  /// Writes a member of an object that is a string.
  package mutating func member(_ name: String, _ string: String) {
    key(name)
    value(string)
  }

  /// Writes a member of an object that is a number.
  package mutating func member(_ name: String, _ number: Double?, decimals: Int = 0) {
    key(name)
    value(number, decimals: decimals)
  }

  /// Writes a member of an object that is true or false.
  package mutating func member(_ name: String, _ flag: Bool) {
    key(name)
    separate()
    text.append(flag ? "true" : "false")
  }

  /// Writes a member of an object that is an array, whose elements the function writes one by one.
  package mutating func array<Element>(
    _ name: String, _ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void
  ) {
    key(name)
    array(elements, body)
  }

  /// Writes a table as an object of columns, whose numbers go to `numbers`; empty columns are left out.
  mutating func table<Column: ReportColumn>(
    _ name: String, _ table: ReportTable<Column>, into numbers: inout ReportNumbers
  ) {
    key(name)
    separate()
    text.append("{")
    isFirst = true
    for column in Column.allCases {
      guard let encoding = column.encoding, table[column].contains(where: { !$0.isNaN }) else {
        continue
      }
      let place = numbers.append(table[column], encoding)
      key("\(column)")
      object { json in
        json.member("type", place.type)
        json.member("at", Double(place.offset))
        json.member("count", Double(table.count))
        if let (first, step) = place.scale {
          json.member("offset", first, decimals: 9)
          json.member("step", step, decimals: 12)
        }
      }
    }
    text.append("}")
    isFirst = false
  }

  private mutating func nest(
    _ opening: String, _ closing: String, _ body: (inout JSONText) -> Void
  ) {
    text.append(opening)
    isFirst = true
    body(&self)
    text.append(closing)
    isFirst = false
  }

  private mutating func separate() {
    if !isFirst { text.append(",") }
    isFirst = false
  }

  /// A string's content with everything escaped that JSON or a `<script>` element would misread.
  ///
  /// `<` could end a script (`</script>`) or change its parsing (`<!--`). U+2028 and U+2029 are
  /// line ends in older versions of JavaScript.
  package static func escaped(_ string: String) -> String {
    var result = ""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..."\u{1F}", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
