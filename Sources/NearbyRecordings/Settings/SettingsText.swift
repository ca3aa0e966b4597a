// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Applies settings of any kind, as JSON text with any of their keys, to existing settings.
///
/// Such text is written by hand. An unknown key is therefore an error, which names its location and
/// the known keys. Settings are any `Codable` value that encodes all its keys.
package enum SettingsText {
  /// Applies the settings of a JSON text.
  ///
  /// - Parameters:
  ///   - json: The text in UTF-8.
  ///   - file: The name for errors.
  ///   - base: The settings that hold where the text says nothing.
  ///   - format: What the settings are called, and what they are chosen from.
  /// - Returns: The settings together.
  /// - Throws: The first fault, with its place.
  package static func apply<Settings: Codable>(
    json: [UInt8], file: String, over base: Settings, as format: Format
  ) throws(RecordingError) -> Settings {
    let text = try LocatedJSON.parse(json, file: file)
    return try apply(text, file: file, over: base, format)
  }

  /// Applies one setting, such as `radio.rangeNoise=0.2`.
  ///
  /// The value is JSON; a word needs no quotes, and an interval may be written `2...5`.
  ///
  /// - Parameters:
  ///   - assignment: The setting's path, `=`, and its value.
  ///   - base: The settings that hold otherwise.
  ///   - format: What the settings are called, and what they are chosen from.
  /// - Returns: The settings together.
  /// - Throws: The error in the assignment, which is also the error's file.
  package static func apply<Settings: Codable>(
    assignment: String, over base: Settings, as format: Format
  ) throws(RecordingError) -> Settings {
    guard let sign = assignment.firstIndex(of: "="), sign != assignment.startIndex else {
      throw RecordingError(
        .malformedField, "it sets nothing", file: assignment,
        remedy: "write key=value, such as radio.rangeNoise=0.2")
    }
    let value = nested(
      String(assignment[..<sign]), value(String(assignment[assignment.index(after: sign)...])))
    do {
      return try apply(value, file: assignment, over: base, format)
    } catch {
      var error = error
      (error.line, error.column) = (nil, nil)
      throw error
    }
  }

  /// The name of the settings in messages, and the allowed words of some of them.
  package struct Format: Sendable {
    /// The settings as a whole, such as `the configuration`.
    package var name: String
    /// The allowed words, by the path of a setting that is one of them.
    package var choices: [String: [String]]

    /// Makes a format.
    package init(name: String, choices: [String: [String]] = [:]) {
      self.name = name
      self.choices = choices
    }
  }

  /// The location of a setting in a text; `nil` when the text does not set it.
  package static func place(of setting: String, in json: [UInt8]) -> (line: Int, column: Int)? {
    (try? LocatedJSON.parse(json, file: "")).flatMap { place(of: setting, in: $0) }
  }

  /// The location of a setting in a value; `nil` when the value does not set it.
  static func place(of setting: String, in text: LocatedJSON) -> (line: Int, column: Int)? {
    text.value(at: setting).map { ($0.line, $0.column) }
  }

  /// Parses a value as it is typed on a command line.
  private static func value(_ text: String) -> LocatedJSON {
    if let json = try? LocatedJSON.parse(Array(text.utf8), file: "") { return json }
    let ends = text.components(separatedBy: "...").map {
      try? LocatedJSON.parse(Array($0.utf8), file: "")
    }
    if ends.count == 2, let lower = ends[0], let upper = ends[1] {
      return LocatedJSON(content: .array([lower, upper]), line: 1, column: 1)
    }
    return LocatedJSON(content: .string(text), line: 1, column: 1)
  }

  /// Applies the settings of a JSON value.
  static func apply<Settings: Codable>(
    _ text: LocatedJSON, file: String, over base: Settings, _ format: Format
  ) throws(RecordingError) -> Settings {
    let tree = try LocatedJSON.parse(Array(CanonicalJSON.text(of: base).utf8), file: file)
    let merge = Merge(file: file, format: format)
    if let settings: Settings = decoded(try merge.merged(tree, with: text, path: "")) {
      return settings
    }
    // The value has the right type but is not allowed. Applying each value alone finds it, because
    // the decoder's error, its location included, differs between versions of Foundation.
    let leaves = text.leaves(path: "")
    for leaf in leaves {
      let alone = try merge.merged(tree, with: nested(leaf.path, leaf.value), path: "")
      let settings: Settings? = decoded(alone)
      if settings == nil { throw merge.cannotBe(leaf.path, leaf.value) }
    }
    throw merge.cannotBe(format.name, text)
  }

  private static func decoded<Settings: Decodable>(_ tree: LocatedJSON) -> Settings? {
    try? JSONDecoder().decode(Settings.self, from: JSONEncoder().encode(tree))
  }

  /// An object with one setting.
  private static func nested(_ path: String, _ value: LocatedJSON) -> LocatedJSON {
    path.split(separator: ".", omittingEmptySubsequences: false).reversed().reduce(value) {
      let member = LocatedJSON.Member(
        key: String($1), keyLine: value.line, keyColumn: value.column, value: $0)
      return LocatedJSON(content: .object([member]), line: value.line, column: value.column)
    }
  }
}

/// Merges one tree of settings into another.
private struct Merge {
  let file: String
  let format: SettingsText.Format

  func merged(
    _ base: LocatedJSON, with text: LocatedJSON, path: String
  ) throws(RecordingError) -> LocatedJSON {
    switch (base.content, text.content) {
    case (.bool, .bool), (.number, .number): return text
    case (.array(let elements), .array(let others)) where elements.count == others.count:
      var both: [LocatedJSON] = []
      for (element, other) in zip(elements, others) {
        both.append(try merged(element, with: other, path: path))
      }
      return LocatedJSON(content: .array(both), line: text.line, column: text.column)
    case (.string, .string(let word)):
      try check(word, text, path: path)
      return text
    case (.array(let elements), .number) where elements.count == 2:
      // A number stands for the interval that holds only itself.
      return LocatedJSON(content: .array([text, text]), line: text.line, column: text.column)
    case (.object(var settings), .object(let members)):
      var seen: Set<String> = []
      for member in members {
        let memberPath = path.isEmpty ? member.key : "\(path).\(member.key)"
        guard let index = settings.firstIndex(where: { $0.key == member.key }) else {
          throw unknownKey(member, path: memberPath, known: settings.map(\.key).sorted())
        }
        guard seen.insert(member.key).inserted else {
          throw RecordingError(
            .duplicateKey, "\(memberPath) appears twice", file: file, line: member.keyLine,
            column: member.keyColumn, remedy: "keep one of the two")
        }
        settings[index].value = try merged(
          settings[index].value, with: member.value, path: memberPath)
      }
      return LocatedJSON(content: .object(settings), line: text.line, column: text.column)
    default: break
    }
    var kind = text.typeName
    if case .number(let number) = text.content { kind = number.shortText }
    if case .array(let elements) = text.content { kind = "an array of \(elements.count)" }
    let expected = if case .array = base.content { "[lower, upper]" } else { base.typeName }
    throw RecordingError(
      .wrongType, "\(path.isEmpty ? format.name : path) is \(kind), not \(expected)", file: file,
      line: text.line, column: text.column, remedy: "write \(expected)")
  }

  private func check(_ word: String, _ text: LocatedJSON, path: String) throws(RecordingError) {
    guard let choices = format.choices[path], !choices.contains(word) else { return }
    throw RecordingError(
      .valueOutOfRange, "\(path) cannot be \(word)", file: file, line: text.line,
      column: text.column,
      remedy: Self.hint(for: word, among: choices, label: "it can be"))
  }

  private func unknownKey(
    _ member: LocatedJSON.Member, path: String, known: [String]
  ) -> RecordingError {
    RecordingError(
      .unknownKey, "there is no setting \(path)", file: file, line: member.keyLine,
      column: member.keyColumn,
      remedy: Self.hint(for: member.key, among: known, label: "known here"))
  }

  /// The error of a value that has the right type but is not allowed.
  func cannotBe(_ path: String, _ value: LocatedJSON) -> RecordingError {
    guard case .number(let number) = value.content else {
      return RecordingError(
        .valueOutOfRange, "\(path) has a value that it cannot have", file: file, line: value.line,
        column: value.column,
        remedy: "write a value like the one there; an interval is [lower, upper]")
    }
    return RecordingError(
      .wrongType, "\(path) is \(number.shortText), not a whole number", file: file,
      line: value.line, column: value.column, remedy: "write a whole number")
  }

  /// The likely intended name, and all known names.
  private static func hint(for name: String, among known: [String], label: String) -> String {
    let guess = known.likeliest(for: name).map { "did you mean \($0)? " } ?? ""
    return "\(guess)\(label): \(known.joined(separator: ", "))"
  }
}

extension LocatedJSON: Encodable {
  /// Writes the value as it was read; whole numbers stay whole.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch content {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .number(let number):
      if let whole = Int(exactly: number) {
        try container.encode(whole)
      } else {
        try container.encode(number)
      }
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let members):
      let pairs = members.map { ($0.key, $0.value) }
      try container.encode(Dictionary(pairs, uniquingKeysWith: { $1 }))
    }
  }

  /// The values that are not objects, with their paths.
  func leaves(path: String) -> [(path: String, value: LocatedJSON)] {
    guard case .object(let members) = content else { return [(path, self)] }
    return members.flatMap {
      $0.value.leaves(path: path.isEmpty ? $0.key : "\(path).\($0.key)")
    }
  }

  /// The value at a path of keys joined by points, if there is one.
  func value(at path: String) -> LocatedJSON? {
    var value = self
    for key in path.split(separator: ".") {
      guard case .object(let members) = value.content,
        let member = members.first(where: { $0.key == key })
      else { return nil }
      value = member.value
    }
    return value
  }
}
