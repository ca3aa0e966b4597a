// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment

extension NSKeyedUnarchiver {
  /// Reads a discovery token from an archive, and throws for any other data.
  ///
  /// An app reads tokens from untrusted data. For an object of another class, and for some damaged
  /// property lists, Apple's generic method throws, while Foundation's on Linux ends the program.
  /// For tokens Swift's overload resolution prefers this method, which parses the binary form of an
  /// archive itself.
  ///
  /// - Parameters:
  ///   - cls: `NIDiscoveryToken.self`.
  ///   - data: The result of `NSKeyedArchiver.archivedData(withRootObject:requiringSecureCoding:)`.
  /// - Returns: The token, never `nil`.
  /// - Throws: `CocoaError.coderReadCorrupt` when the data is no archive or holds something else.
  public static func unarchivedObject(
    ofClass cls: NIDiscoveryToken.Type, from data: Data
  ) throws -> NIDiscoveryToken? {
    guard let archive = BinaryPropertyList(Array(data)), let token = archive.token else {
      throw CocoaError(
        .coderReadCorrupt,
        userInfo: [NSDebugDescriptionErrorKey: "the data is no archive of a discovery token"])
    }
    return NIDiscoveryToken(token)
  }
}

extension BinaryPropertyList {
  /// The token that is the root of a keyed archive.
  fileprivate var token: SessionToken? {
    guard let content = entry("$top", of: top), let root = entry("root", of: content),
      let objects = entry("$objects", of: top), let object = referred(by: root, in: objects),
      let kind = entry("$class", of: object).flatMap({ referred(by: $0, in: objects) }),
      let name = entry("$classname", of: kind).flatMap(text),
      name == NSStringFromClass(NIDiscoveryToken.self),
      let bytes = entry(NIDiscoveryToken.key, of: object).flatMap({ referred(by: $0, in: objects) })
    else { return nil }
    return self.bytes(bytes).flatMap { SessionToken(bytes: $0) }
  }

  /// The object to which an archive's reference refers.
  private func referred(by reference: Object, in objects: Object) -> Object? {
    identifier(reference).flatMap { element($0, of: objects) }
  }
}
