// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// A message type of ROS 2, parsed from its definition, with the types that it contains.
///
/// The text is that of `.msg` files: the type itself, then for each type it needs a line of `=`, a line
/// `MSG: package/Type`, and its text.
struct RosSchema: Sendable {
  enum Primitive: Sendable {
    case bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64
    case string, wideString
  }

  enum Element: Sendable {
    case primitive(Primitive)
    /// By its name in ``types``.
    case message(String)
  }

  enum Count: Sendable {
    case one
    case fixed(Int)
    case sequence
  }

  struct Field: Sendable {
    var name: String
    var element: Element
    var count: Count
  }

  /// An error in a definition.
  struct Fault: Error {
    var message: String
  }

  let root: String
  private(set) var types: [String: [Field]] = [:]

  private static let primitives: [String: Primitive] = [
    "bool": .bool, "byte": .uint8, "char": .uint8, "int8": .int8, "uint8": .uint8, "int16": .int16,
    "uint16": .uint16, "int32": .int32, "uint32": .uint32, "int64": .int64, "uint64": .uint64,
    "float32": .float32, "float64": .float64, "string": .string, "wstring": .wideString,
  ]

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - name: The type's name, `package/msg/Type`.
  /// - Throws: When a line is no field, or a type is missing.
  init(_ text: String, name: String) throws(Fault) {
    root = Self.plain(name)
    var current = root
    var fields: [Field] = []
    // Most messages need this type, and some writers omit its definition.
    types["builtin_interfaces/Time"] = Self.time(.int32)
    types["builtin_interfaces/Duration"] = Self.time(.int32)
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
      if words.isEmpty { continue }
      if line.hasPrefix("====") { continue }
      if words[0] == "MSG:" {
        guard words.count == 2 else { throw Fault(message: "a type has no name") }
        types[current] = fields
        fields = []
        current = Self.plain(String(words[1]))
        continue
      }
      guard words.count >= 2 else { throw Fault(message: "\"\(line)\" is no field") }
      // Skips constants such as `uint8 KIND=1`. The bound of a type, `string<=16`, is in the first
      // word.
      if words[1].contains("=") || words.count > 2 && words[2].hasPrefix("=") { continue }
      fields.append(try Self.field(String(words[0]), String(words[1]), in: current))
    }
    types[current] = fields
    for (type, fields) in types {
      for case .message(let name) in fields.map(\.element) where types[name] == nil {
        throw Fault(message: "\(type) needs the type \(name), which is not there")
      }
    }
  }

  private static func time(_ seconds: Primitive) -> [Field] {
    [
      Field(name: "sec", element: .primitive(seconds), count: .one),
      Field(name: "nanosec", element: .primitive(.uint32), count: .one),
    ]
  }

  /// A type's name without the folder of its file.
  private static func plain(_ name: String) -> String { name.replacing("/msg/", with: "/") }

  private static func field(
    _ type: String, _ name: String, in owner: String
  ) throws(Fault) -> Field {
    var type = Substring(type)
    var count = Count.one
    if type.hasSuffix("]"), let bracket = type.lastIndex(of: "[") {
      let inside = type[type.index(after: bracket)...].dropLast()
      type = type[..<bracket]
      if inside.isEmpty || inside.hasPrefix("<=") {
        count = .sequence
      } else if let number = Int(inside), number >= 0 {
        count = .fixed(number)
      } else {
        throw Fault(message: "\"[\(inside)]\" is no size of an array")
      }
    }
    // The bound of a string does not change its encoding.
    if let bound = type.firstIndex(of: "<") { type = type[..<bound] }
    if let primitive = primitives[String(type)] {
      return Field(name: name, element: .primitive(primitive), count: count)
    }
    let element: String
    switch type {
    case "time", "builtin_interfaces/msg/Time": element = "builtin_interfaces/Time"
    case "duration": element = "builtin_interfaces/Duration"
    case "Header": element = "std_msgs/Header"
    default:
      let package = owner.split(separator: "/").first.map(String.init) ?? ""
      element = type.contains("/") ? plain(String(type)) : "\(package)/\(type)"
    }
    return Field(name: name, element: .message(element), count: count)
  }
}
