// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
  /// The text with line ends and all characters escaped that a terminal would interpret.
  ///
  /// Names and values come from files. Control characters would move the cursor, colour the screen or
  /// split a message; characters that turn the direction of writing would show another text.
  ///
  /// - Parameters:
  ///   - limit: The length in characters beyond which the text loses its middle; `nil` for no
  ///     limit.
  ///   - keepsLines: Whether line ends and tabs stay as they are.
  /// - Returns: The text.
  package func printable(limit: Int? = nil, keepsLines: Bool = false) -> String {
    var text = String(self)
    if let limit, text.utf8.count > limit, text.count > limit {
      let half = (limit - 1) / 2
      text = "\(text.prefix(half))…\(text.suffix(half))"
    }
    guard text.unicodeScalars.contains(where: { $0.needsEscape(keepsLines) }) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if scalar.needsEscape(keepsLines) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.Scalar {
  fileprivate func needsEscape(_ keepsLines: Bool) -> Bool {
    if isASCII {
      return value < 0x20 && !(keepsLines && (value == 0x0A || value == 0x09)) || value == 0x7F
    }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
      return true
    default: return false
    }
  }
}
