// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyFusion

/// The engine's settings as a JSON file: some of them or all, by the names of
/// `FusionConfiguration`.
///
/// ```json
/// { "ranging": { "rangeSigma": 0.2 }, "odometry": { "isPlanar": true } }
/// ```
///
/// Unlike a recording, which other tools may have written, such a file is written by hand for this
/// engine alone: a key that does not exist is a mistake, and an error.
public enum ConfigurationFile {
  /// The name under which a run writes the settings that were in force.
  public static let fileName = "configuration.json"

  /// All settings as JSON; read as a configuration file, they give the same configuration.
  public static func json(of configuration: FusionConfiguration) -> String {
    CanonicalJSON.text(of: configuration)
  }

  /// Reads a file and puts what it sets in the place of what was there.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - base: The settings that hold where the file says nothing.
  /// - Returns: The settings together, valid.
  /// - Throws: The first fault, with its place.
  public static func read(
    path: String, over base: FusionConfiguration
  ) throws(RecordingError) -> FusionConfiguration {
    try apply(json: FileBytes.read(path: path), file: path, over: base)
  }

  /// Puts what a JSON text sets in the place of what was there.
  ///
  /// - Parameters:
  ///   - json: The text in UTF-8.
  ///   - file: The name for errors.
  ///   - base: The settings that hold where the text says nothing.
  /// - Returns: The settings together, valid.
  /// - Throws: The first fault, with its place.
  public static func apply(
    json: [UInt8], file: String, over base: FusionConfiguration
  ) throws(RecordingError) -> FusionConfiguration {
    let text = try LocatedJSON.parse(json, file: file)
    let settings = try Setting(of: base).merged(with: text, path: "", file: file)
    let configuration = settings.configuration()
    do {
      try configuration.validate()
    } catch {
      let place = text.value(at: error.setting)
      throw RecordingError(
        .valueOutOfRange, error.description, file: file, line: place?.line, column: place?.column,
        remedy: "choose a value in that interval")
    }
    return configuration
  }
}

// MARK: - Settings as a tree

/// A setting, or a group of them by name.
private enum Setting: Encodable {
  case flag(Bool)
  case whole(Int)
  case number(Double)
  case group([String: Setting])

  /// The tree of a configuration, or of a part of it.
  init(of value: Any) {
    switch value {
    case let flag as Bool: self = .flag(flag)
    case let whole as Int: self = .whole(whole)
    case let number as Double: self = .number(number)
    default:
      let members = Mirror(reflecting: value).children.compactMap { child in
        child.label.map { ($0, Setting(of: child.value)) }
      }
      self = .group(Dictionary(uniqueKeysWithValues: members))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .flag(let flag): try container.encode(flag)
    case .whole(let whole): try container.encode(whole)
    case .number(let number): try container.encode(number)
    case .group(let settings): try container.encode(settings)
    }
  }

  /// The configuration of a tree.
  func configuration() -> FusionConfiguration {
    do {
      return try JSONDecoder().decode(FusionConfiguration.self, from: JSONEncoder().encode(self))
    } catch {
      preconditionFailure("a tree of the same shape is always a configuration: \(error)")
    }
  }

  /// The tree with what a text sets put in.
  func merged(
    with text: LocatedJSON, path: String, file: String
  ) throws(RecordingError) -> Setting {
    switch (self, text.content) {
    case (.flag, .bool(let flag)): return .flag(flag)
    case (.number, .number(let number)): return .number(number)
    case (.whole, .number(let number)):
      guard let whole = Int(exactly: number) else { break }
      return .whole(whole)
    case (.group(var settings), .object(let members)):
      var seen: Set<String> = []
      for member in members {
        let memberPath = path.isEmpty ? member.key : "\(path).\(member.key)"
        guard let setting = settings[member.key] else {
          throw Self.unknownKey(member, path: memberPath, known: settings.keys.sorted(), file: file)
        }
        guard seen.insert(member.key).inserted else {
          throw RecordingError(
            .duplicateKey, "\(memberPath) appears twice", file: file, line: member.keyLine,
            column: member.keyColumn, remedy: "keep one of the two")
        }
        settings[member.key] = try setting.merged(with: member.value, path: memberPath, file: file)
      }
      return .group(settings)
    default: break
    }
    var kind = text.typeName
    if case .number(let number) = text.content { kind = number.shortText }
    throw RecordingError(
      .wrongType, "\(path.isEmpty ? "the configuration" : path) is \(kind), not \(typeName)",
      file: file, line: text.line, column: text.column, remedy: "write \(typeName)")
  }

  private var typeName: String {
    switch self {
    case .flag: "true or false"
    case .whole: "a whole number"
    case .number: "a number"
    case .group: "an object"
    }
  }

  private static func unknownKey(
    _ member: LocatedJSON.Member, path: String, known: [String], file: String
  ) -> RecordingError {
    let hint = known.likeliest(for: member.key).map { "did you mean \($0)? " } ?? ""
    return RecordingError(
      .unknownKey, "there is no setting \(path)", file: file, line: member.keyLine,
      column: member.keyColumn, remedy: "\(hint)known here: \(known.joined(separator: ", "))")
  }
}

extension LocatedJSON {
  /// The value under a path of keys joined by points, if the text has it.
  fileprivate func value(at path: String) -> LocatedJSON? {
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
