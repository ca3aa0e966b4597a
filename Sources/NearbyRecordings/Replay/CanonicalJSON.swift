// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// JSON in the one form in which this package writes it: sorted keys, indented, a line feed at the
/// end.
package enum CanonicalJSON {
  /// The text of a value whose numbers are all finite.
  package static func text(of value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    } catch {
      preconditionFailure("a value without infinities can always be written: \(error)")
    }
  }
}

extension Double {
  /// The number, or `nil` when it is infinite or none: JSON has neither.
  package var finite: Double? { isFinite ? self : nil }
}

extension RecordingInfo {
  /// The whole as JSON, keys sorted; what does not exist is left out.
  public func json() -> String { CanonicalJSON.text(of: self) }
}
