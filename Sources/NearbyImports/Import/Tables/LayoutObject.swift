// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// An object of a layout's JSON text, whose values are taken by their keys.
struct LayoutObject {
  private let members: [LocatedJSON.Member]
  private let origin: LocatedJSON
  private let file: String

  /// Takes an object.
  ///
  /// - Parameters:
  ///   - value: The JSON value.
  ///   - file: The name of the file.
  ///   - keys: The keys that it may have; any when `nil`.
  /// - Throws: When it is no object, or has an unknown key or one twice.
  init(_ value: LocatedJSON, file: String, keys: [String]?) throws(RecordingError) {
    guard case .object(let members) = value.content else {
      throw Self.fault(value, file, "\(value.typeName) is not an object", "write { ... }")
    }
    var seen: Set<String> = []
    for member in members {
      if let keys, !keys.contains(member.key) {
        let likely = keys.likeliest(for: member.key).map { "did you mean \($0)? " } ?? ""
        throw RecordingError(
          .unknownKey, "there is no key \"\(member.key)\"", file: file, line: member.keyLine,
          column: member.keyColumn,
          remedy: "\(likely)known here: \(keys.joined(separator: ", "))")
      }
      guard seen.insert(member.key).inserted else {
        throw RecordingError(
          .duplicateKey, "\"\(member.key)\" appears twice", file: file, line: member.keyLine,
          column: member.keyColumn, remedy: "keep one of the two")
      }
    }
    (self.members, origin, self.file) = (members, value, file)
  }

  private subscript(_ key: String) -> LocatedJSON? {
    members.first { $0.key == key }?.value
  }

  func text(_ key: String) throws(RecordingError) -> String? {
    guard let value = self[key] else { return nil }
    guard case .string(let text) = value.content else { throw wrong(key, value, "a string") }
    return text
  }

  func flag(_ key: String) throws(RecordingError) -> Bool? {
    guard let value = self[key] else { return nil }
    guard case .bool(let flag) = value.content else { throw wrong(key, value, "true or false") }
    return flag
  }

  func whole(_ key: String) throws(RecordingError) -> Int? {
    guard let value = self[key] else { return nil }
    guard case .number(let number) = value.content, let whole = Int(exactly: number) else {
      throw wrong(key, value, "a whole number")
    }
    return whole
  }

  /// The name or the number of a column.
  func column(_ key: String) throws(RecordingError) -> String? {
    guard let value = self[key] else { return nil }
    return try column(value, key)
  }

  private func column(_ value: LocatedJSON, _ key: String) throws(RecordingError) -> String {
    switch value.content {
    case .string(let name) where !name.isEmpty: return name
    case .number(let number) where number >= 1 && Int(exactly: number) != nil:
      return "\(Int(number))"
    default: throw wrong(key, value, "a column: its name, or its number from 1")
    }
  }

  func object(_ key: String, keys: [String]?) throws(RecordingError) -> LayoutObject? {
    guard let value = self[key] else { return nil }
    return try LayoutObject(value, file: file, keys: keys)
  }

  func objects(_ key: String, keys: [String]) throws(RecordingError) -> [LayoutObject] {
    guard let value = self[key] else { return [] }
    guard case .array(let elements) = value.content else { throw wrong(key, value, "an array") }
    var objects: [LayoutObject] = []
    for element in elements {
      objects.append(try LayoutObject(element, file: file, keys: keys))
    }
    return objects
  }

  /// Texts that columns must hold: a text, a number or an array of them for each column.
  func filters(_ key: String) throws(RecordingError) -> [String: Set<String>] {
    guard let object = try object(key, keys: nil) else { return [:] }
    var filters: [String: Set<String>] = [:]
    for member in object.members {
      let elements: [LocatedJSON] =
        if case .array(let elements) = member.value.content { elements } else { [member.value] }
      for element in elements {
        switch element.content {
        case .string(let text): filters[member.key, default: []].insert(text)
        case .number(let number): filters[member.key, default: []].insert(number.shortText)
        default: throw wrong(member.key, element, "a text or a number")
        }
      }
    }
    return filters
  }

  /// A value of a sample: a column, or an object that says more.
  func value(_ key: String) throws(RecordingError) -> TableLayout.Value? {
    guard let json = self[key] else { return nil }
    guard case .object = json.content else {
      return TableLayout.Value(place: try place(json, key))
    }
    let object = try LayoutObject(json, file: file, keys: ["column", "text", "unit", "missing"])
    let place: TableLayout.Place
    if let text = try object.text("text") {
      place = .text(text)
    } else if let column = object["column"] {
      place = try self.place(column, key)
    } else {
      throw fault(key, "has neither column nor text", remedy: "write one of the two")
    }
    var value = TableLayout.Value(place: place, unit: try object.text("unit"))
    if let unit = value.unit, !TableLayout.allows(unit, for: key) {
      throw object.fault(
        "unit", "\"\(unit)\" is unknown for \(key)", remedy: "see 'nearby import csv --help'")
    }
    if let missing = object["missing"] {
      let elements: [LocatedJSON] =
        if case .array(let elements) = missing.content { elements } else { [missing] }
      for element in elements {
        guard case .number(let number) = element.content else {
          throw wrong("missing", element, "a number, or an array of numbers")
        }
        value.missing.append(number)
      }
    }
    return value
  }

  private func place(
    _ value: LocatedJSON, _ key: String
  ) throws(RecordingError) -> TableLayout.Place {
    let column = try column(value, key)
    guard column.hasPrefix("+") else { return .column(column) }
    guard let number = Int(column.dropFirst()), (1...10_000).contains(number) else {
      throw wrong(key, value, "a column of a group, as \"+1\"")
    }
    return .ofGroup(number)
  }

  // MARK: - Errors

  func fault(_ key: String, _ problem: String, remedy: String) -> RecordingError {
    Self.fault(self[key] ?? origin, file, "\(key) \(problem)", remedy)
  }

  private func wrong(_ key: String, _ value: LocatedJSON, _ expected: String) -> RecordingError {
    Self.fault(
      value, file, "\(key) is \(value.typeName), not \(expected)", "write \(expected)")
  }

  private static func fault(
    _ value: LocatedJSON, _ file: String, _ message: String, _ remedy: String
  ) -> RecordingError {
    RecordingError(
      .malformedField, message, file: file, line: value.line, column: value.column, remedy: remedy)
  }
}
