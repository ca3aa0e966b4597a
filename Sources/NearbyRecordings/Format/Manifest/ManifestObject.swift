// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A JSON object whose members are taken out one by one.
///
/// The members that remain are unknown keys.
struct ManifestObject {
  private var members: [String: LocatedJSON.Member] = [:]
  private var seen: [String: LocatedJSON] = [:]
  private var origin: LocatedJSON
  private let path: String
  private let file: String

  init(_ value: LocatedJSON, path: String, file: String) throws(RecordingError) {
    self.path = path
    self.file = file
    origin = value
    guard case .object(let list) = value.content else {
      throw RecordingError(
        .wrongType,
        "\(path.isEmpty ? "the manifest" : path) is \(value.typeName), not an object", file: file,
        line: value.line, column: value.column, remedy: "write an object, { … }")
    }
    for member in list {
      if members[member.key] != nil {
        throw RecordingError(
          .malformedManifest, "key \"\(member.key)\" appears twice", file: file,
          line: member.keyLine, column: member.keyColumn, remedy: "keep one of the two")
      }
      members[member.key] = member
    }
  }

  /// Checks the keys `format` and `version`.
  ///
  /// - Throws: When it is another format, with the remedy, or another version.
  mutating func checkFormat(
    _ format: String, version: Int, remedy: String
  ) throws(RecordingError) {
    let found = try requiredString("format")
    guard found == format else {
      var error = outOfRange("format", "is \"\(found)\", not \"\(format)\"", remedy: remedy)
      error.code = .unsupportedFormat
      throw error
    }
    guard let number = try number("version", in: -1e9...1e9) else { throw missing("version") }
    guard number == Double(version) else {
      var error = outOfRange(
        "version", "\(number.shortText) is not supported",
        remedy: "this library reads version \(version)")
      error.code = .unsupportedVersion
      throw error
    }
  }

  // MARK: - Values

  mutating func string(_ key: String) throws(RecordingError) -> String? {
    guard let value = take(key) else { return nil }
    guard case .string(let text) = value.content else {
      throw wrongType(key, value, expected: "a string")
    }
    return text
  }

  mutating func requiredString(_ key: String) throws(RecordingError) -> String {
    guard let text = try string(key) else { throw missing(key) }
    return text
  }

  mutating func bool(_ key: String) throws(RecordingError) -> Bool? {
    guard let value = take(key) else { return nil }
    guard case .bool(let flag) = value.content else {
      throw wrongType(key, value, expected: "true or false")
    }
    return flag
  }

  mutating func number(
    _ key: String, in interval: ClosedRange<Double>
  ) throws(RecordingError) -> Double? {
    guard let value = take(key) else { return nil }
    guard case .number(let number) = value.content else {
      throw wrongType(key, value, expected: "a number")
    }
    guard interval.contains(number) else {
      throw outOfRange(
        key, "\(number.shortText) is out of range",
        remedy:
          "must be \(interval.lowerBound.shortText) to \(interval.upperBound.shortText)")
    }
    return number
  }

  /// Reads a key under its name in the engine's settings as the one of this format, with a warning.
  mutating func rename(_ other: String, to key: String, _ warnings: inout RecordingWarnings) {
    guard members[key] == nil, let member = members.removeValue(forKey: other) else { return }
    members[key] = member
    warnings.add(
      RecordingWarning(
        .otherSpelling, "\(name(other)) is read as \(name(key))", file: file, line: member.keyLine,
        column: member.keyColumn))
  }

  /// An angle under its name with `Degrees`, or as the engine's settings have it, with `Radians`.
  mutating func degrees(
    _ key: String, in interval: ClosedRange<Double>, _ warnings: inout RecordingWarnings
  ) throws(RecordingError) -> Double? {
    guard members[key + "Degrees"] == nil, members[key + "Radians"] != nil else {
      return try number(key + "Degrees", in: interval)
    }
    rename(key + "Radians", to: key + "Degrees", &warnings)
    if let member = members[key + "Degrees"], case .number(let radians) = member.value.content {
      var converted = member
      converted.value.content = .number(radians.radiansAsDegrees)
      members[key + "Degrees"] = converted
    }
    return try number(key + "Degrees", in: interval)
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String
  ) throws(RecordingError) -> Choice? where Choice.RawValue == String {
    guard let text = try string(key) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let allowed = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw outOfRange(key, "\"\(text)\" is unknown", remedy: "must be one of \(allowed)")
    }
    return choice
  }

  mutating func vector(
    _ key: String, within limit: Double
  ) throws(RecordingError) -> Vector3? {
    guard let value = take(key) else { return nil }
    var numbers: [Double] = []
    if case .array(let elements) = value.content {
      for case .number(let number) in elements.map(\.content) { numbers.append(number) }
      if elements.count != 3 { numbers = [] }
    }
    guard numbers.count == 3 else {
      throw wrongType(key, value, expected: "an array of three numbers")
    }
    let vector = Vector3(numbers[0], numbers[1], numbers[2])
    guard vector.length < limit else {
      throw outOfRange(
        key, "is \(vector.length.shortText) m long", remedy: "must be below \(limit.shortText) m")
    }
    return vector
  }

  /// Rows of numbers, all as long as there are rows.
  mutating func squareMatrix(
    _ key: String, size: Int
  ) throws(RecordingError) -> [Double]? {
    guard let value = take(key) else { return nil }
    var numbers: [Double] = []
    if case .array(let rows) = value.content, rows.count == size {
      for case .array(let row) in rows.map(\.content) where row.count == size {
        for case .number(let number) in row.map(\.content) { numbers.append(number) }
      }
    }
    guard numbers.count == size * size else {
      throw wrongType(key, value, expected: "\(size) rows of \(size) numbers, five for each peer")
    }
    return numbers
  }

  /// Numbers of 64 bits, each as a string of hexadecimal digits.
  mutating func hexadecimals(_ key: String) throws(RecordingError) -> [UInt64]? {
    guard let value = take(key) else { return nil }
    let expected = "an array of strings of hexadecimal digits"
    guard case .array(let elements) = value.content else {
      throw wrongType(key, value, expected: expected)
    }
    var numbers: [UInt64] = []
    for element in elements {
      guard case .string(let digits) = element.content, let number = UInt64(digits, radix: 16)
      else { throw wrongType(key, element, expected: expected) }
      numbers.append(number)
    }
    return numbers
  }

  mutating func object(_ key: String) throws(RecordingError) -> ManifestObject? {
    guard let value = take(key) else { return nil }
    return try ManifestObject(value, path: path + key, file: file)
  }

  mutating func objects(_ key: String) throws(RecordingError) -> [ManifestObject]? {
    guard let value = take(key) else { return nil }
    guard case .array(let elements) = value.content else {
      throw wrongType(key, value, expected: "an array of objects")
    }
    var objects: [ManifestObject] = []
    for (index, element) in elements.enumerated() {
      objects.append(try ManifestObject(element, path: "\(path)\(key)[\(index)]", file: file))
    }
    return objects
  }

  /// Warns of every member that was not taken.
  func finish(_ warnings: inout RecordingWarnings) {
    let unknown = members.values.sorted {
      ($0.keyLine, $0.keyColumn) < ($1.keyLine, $1.keyColumn)
    }
    for member in unknown {
      warnings.add(
        RecordingWarning(
          .unknownKey, "unknown key \"\(name(member.key))\" is ignored", file: file,
          line: member.keyLine, column: member.keyColumn))
    }
  }

  private mutating func take(_ key: String) -> LocatedJSON? {
    guard let member = members.removeValue(forKey: key) else { return nil }
    seen[key] = member.value
    if case .null = member.value.content { return nil }
    return member.value
  }

  private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  // MARK: - Errors

  func missing(_ key: String) -> RecordingError {
    RecordingError(
      .missingValue, "\(name(key)) is missing", file: file, line: origin.line,
      column: origin.column, remedy: "add \"\(key)\"")
  }

  func outOfRange(_ key: String, _ problem: String, remedy: String) -> RecordingError {
    RecordingError(
      .valueOutOfRange, "\(name(key)) \(problem)", file: file, line: seen[key]?.line,
      column: seen[key]?.column, remedy: remedy)
  }

  private func wrongType(
    _ key: String, _ value: LocatedJSON, expected: String
  ) -> RecordingError {
    RecordingError(
      .wrongType, "\(name(key)) is \(value.typeName), not \(expected)", file: file,
      line: value.line, column: value.column, remedy: "write \(expected)")
  }
}
