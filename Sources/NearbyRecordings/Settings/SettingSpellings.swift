// SPDX-License-Identifier: Apache-2.0

/// The settings of a text with one spelling for each.
struct SettingSpellings {
  /// The text with the keys of the table.
  private(set) var text: LocatedJSON
  /// What was spelt otherwise, a sentence for each.
  private(set) var notices: [String] = []

  /// Rewrites other spellings.
  ///
  /// - Parameters:
  ///   - text: The settings, in sections.
  ///   - file: The name for errors.
  /// - Throws: When a setting is there in two spellings, or one that is converted is no number.
  init(_ text: LocatedJSON, file: String) throws(RecordingError) {
    self.text = text
    guard case .object(let sections) = text.content else { return }
    var kept: [LocatedJSON.Member] = []
    var moved: [(key: String, member: LocatedJSON.Member)] = []
    for section in sections {
      guard case .object(let members) = section.value.content else {
        kept.append(section)
        continue
      }
      var rest: [LocatedJSON.Member] = []
      for member in members {
        let path = "\(section.key).\(member.key)"
        guard let known = Setting.keys[path] else {
          rest.append(member)
          continue
        }
        var converted = member
        converted.value = try Self.converted(member.value, by: known.factor, path, file)
        moved.append((known.key, converted))
        notices.append("\(file): \(path) is read as \(known.key); write that")
      }
      // A section that had nothing but other spellings may be none of the engine's.
      guard rest.count == members.count || !rest.isEmpty else { continue }
      var left = section
      left.value.content = .object(rest)
      kept.append(left)
    }
    for (key, member) in moved { try Self.insert(member, key, into: &kept, file) }
    self.text.content = .object(kept)
  }

  private static func converted(
    _ value: LocatedJSON, by factor: Double, _ path: String, _ file: String
  ) throws(RecordingError) -> LocatedJSON {
    guard factor != 1 else { return value }
    guard case .number(let number) = value.content else {
      throw RecordingError(
        .wrongType, "\(path) is \(value.typeName), not a number", file: file, line: value.line,
        column: value.column, remedy: "write a number")
    }
    var value = value
    value.content = .number(number * factor)
    return value
  }

  private static func insert(
    _ member: LocatedJSON.Member, _ key: String, into sections: inout [LocatedJSON.Member],
    _ file: String
  ) throws(RecordingError) {
    let parts = key.split(separator: ".").map(String.init)
    guard let first = parts.first, let last = parts.last else { return }
    var member = member
    member.key = last
    guard let index = sections.firstIndex(where: { $0.key == first }),
      case .object(var members) = sections[index].value.content
    else {
      var section = member
      section.key = first
      section.value.content = .object([member])
      sections.append(section)
      return
    }
    if members.contains(where: { $0.key == last }) {
      throw RecordingError(
        .duplicateKey, "\(key) is there in two spellings", file: file, line: member.keyLine,
        column: member.keyColumn, remedy: "keep one of the two")
    }
    members.append(member)
    sections[index].value.content = .object(members)
  }
}
