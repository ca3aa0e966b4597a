// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry

/// The fields of the tables that a run writes.
extension OutputText {
  private static let significantDigits = 10

  /// Appends a name, in quotes where it would not read back without (RFC 4180).
  mutating func append(peer: String) {
    let name = peer.utf8
    let isPlain =
      !name.contains { $0 == .comma || $0 == .quote } && name.first != .blank && name.last != .blank
    append(isPlain ? peer : "\"\(peer.replacing("\"", with: "\"\""))\"")
  }

  /// Appends a comma and a number; nothing after the comma where there is none.
  mutating func appendField(_ number: Double?) {
    append(byte: .comma)
    // An infinite standard deviation is one that is not available.
    guard let number, number.isFinite else { return }
    append(number, significantDigits: Self.significantDigits)
  }

  /// Appends three fields.
  mutating func appendField(_ vector: Vector3?) {
    appendField(vector?.x)
    appendField(vector?.y)
    appendField(vector?.z)
  }

  /// Appends six fields, the upper triangle row by row.
  mutating func appendField(_ matrix: SymmetricMatrix3?) {
    appendField(matrix?.xx)
    appendField(matrix?.xy)
    appendField(matrix?.xz)
    appendField(matrix?.yy)
    appendField(matrix?.yz)
    appendField(matrix?.zz)
  }
}
