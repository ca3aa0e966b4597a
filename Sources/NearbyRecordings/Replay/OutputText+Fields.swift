// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// Appends the fields of the tables that a run writes, and the rows of trajectories.
extension OutputText {
  static let significantDigits = 10

  /// Appends a name, in quotes where they are needed (RFC 4180).
  package mutating func append(name: String) {
    let start = count
    append(name)
    var needsQuotes = false
    withSpan { text in
      let name = text.extracting(start...)
      guard let last = name.indices.last else { return }
      needsQuotes = name[0] == .blank || name[last] == .blank
      for place in name.indices where name[place] == .comma || name[place] == .quote {
        needsQuotes = true
      }
    }
    guard needsQuotes else { return }
    truncate(to: start)
    append("\"\(name.replacing("\"", with: "\"\""))\"")
  }

  /// Appends a comma and a number, or only the comma if there is none.
  package mutating func appendField(_ number: Double?) {
    append(byte: .comma)
    // An infinite standard deviation means that it is not available.
    guard let number, number.isFinite else { return }
    append(number, significantDigits: Self.significantDigits)
  }

  /// Appends three fields.
  package mutating func appendField(_ vector: Vector3?) {
    appendField(vector?.x)
    appendField(vector?.y)
    appendField(vector?.z)
  }

  /// Appends six fields, the upper triangle row by row.
  package mutating func appendField(_ matrix: SymmetricMatrix3?) {
    appendField(matrix?.xx)
    appendField(matrix?.xy)
    appendField(matrix?.xz)
    appendField(matrix?.yy)
    appendField(matrix?.yz)
    appendField(matrix?.zz)
  }

  /// Appends a row of a trajectory in the TUM format.
  package mutating func appendTum(_ time: Timestamp, _ pose: RigidTransform) {
    append(time, decimals: 9)
    let (place, rotation) = (pose.translation, pose.rotation)
    for value in [place.x, place.y, place.z] {
      append(byte: .blank)
      append(value, decimals: 9)
    }
    for value in [rotation.x, rotation.y, rotation.z, rotation.w] {
      append(byte: .blank)
      append(value, decimals: 12)
    }
    append(byte: .lf)
  }
}
