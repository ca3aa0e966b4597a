// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The stored properties of a value that a JSON text of it lacks, nested ones included.
///
/// - Parameters:
///   - json: The text.
///   - value: The value of which it was made.
/// - Returns: The paths of the properties; also of those that are `nil`, since nothing can be said of them.
/// - Throws: When the text is not JSON.
public func propertiesLost(in json: String, of value: Any) throws -> [String] {
  let object = try JSONSerialization.jsonObject(
    with: Data(json.utf8), options: .fragmentsAllowed)
  return lost(value, in: object, path: "")
}

/// The keys under which files have properties of another name.
private let keys = ["positionInWorld": "position", "covarianceInWorld": "covariance"]

private func lost(_ value: Any, in json: Any, path: String) -> [String] {
  let mirror = Mirror(reflecting: value)
  switch mirror.displayStyle {
  case .optional:
    guard let some = mirror.children.first?.value else { return ["\(path) is nil"] }
    return lost(some, in: json, path: path)
  case .collection:
    guard let elements = json as? [Any] else { return ["\(path) is no array"] }
    return zip(mirror.children, elements).flatMap { lost($0.value, in: $1, path: "\(path)[]") }
  case .struct:
    // A struct that is written as a text or a number, such as a digest.
    guard let members = json as? [String: Any] else { return [] }
    return mirror.children.flatMap { child -> [String] in
      let (property, value) = unwrapped(child)
      let name = members[property] == nil ? keys[property] ?? property : property
      let inner = path.isEmpty ? name : "\(path).\(name)"
      guard let member = members[name] else { return [inner] }
      return lost(value, in: member, path: inner)
    }
  default: return []
  }
}

/// A property's name and value, without its wrapper.
private func unwrapped(_ child: Mirror.Child) -> (name: String, value: Any) {
  let label = child.label ?? ""
  guard label.hasPrefix("_"), let inner = Mirror(reflecting: child.value).children.first else {
    return (label, child.value)
  }
  return (String(label.dropFirst()), inner.value)
}
