// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// JSON in the one form in which this package writes it: sorted keys, indented, a line feed at the
/// end.
package enum CanonicalJSON {
  /// The text of a value; numbers that are infinite or none become `null`, as JSON has neither.
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

  /// No text of ours, so that it can be told from one.
  private static let noNumber = "\u{E000}no number\u{E000}"
}

extension Double {
  /// The number, or `nil` when it is infinite or none: JSON has neither.
  package var finite: Double? { isFinite ? self : nil }
}

extension RecordingInfo {
  /// The whole as JSON, keys sorted; what does not exist is left out.
  public func json() -> String { CanonicalJSON.text(of: self) }
}
