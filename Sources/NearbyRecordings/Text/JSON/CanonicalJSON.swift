// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// The form in which this package writes JSON: sorted keys, indented, a line feed at the end.
package enum CanonicalJSON {
  /// The text of a value.
  ///
  /// Infinite numbers and NaN become `null`, since JSON has neither.
  package static func text(of value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: noNumber, negativeInfinity: noNumber, nan: noNumber)
    do {
      let text = String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
      return text.replacing("\"\(noNumber)\"", with: "null")
    } catch {
      preconditionFailure("values of our own types can always be written: \(error)")
    }
  }

  /// Does not occur in any of our texts.
  private static let noNumber = "\u{E000}no number\u{E000}"
}

extension Double {
  /// The number, or `nil` when it is infinite or NaN, since JSON has neither.
  package var finite: Double? { isFinite ? self : nil }
}
