// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension NSKeyedUnarchiver {
  /// Reads a discovery token from an archive; what is no such archive throws.
  ///
  /// An app reads tokens from what strangers send. Foundation's generic method ends the program on Linux
  /// when the archive holds an object of another class, where Apple's throws; for tokens Swift prefers
  /// this one. It looks at the names of the archive's classes first.
  ///
  /// - Parameters:
  ///   - cls: `NIDiscoveryToken.self`.
  ///   - data: What `NSKeyedArchiver.archivedData(withRootObject:requiringSecureCoding:)` gave.
  /// - Returns: The token.
  /// - Throws: A `CocoaError` when the data is no archive or holds something else.
  public static func unarchivedObject(
    ofClass cls: NIDiscoveryToken.Type, from data: Data
  ) throws -> NIDiscoveryToken? {
    guard try NIDiscoveryToken.isOnly(in: data),
      let token = try unarchivedObject(ofClasses: [cls, NSData.self], from: data)
        as? NIDiscoveryToken
    else {
      throw CocoaError(
        .coderReadCorrupt, userInfo: [NSDebugDescriptionErrorKey: "the archive holds no token"])
    }
    return token
  }
}

extension NIDiscoveryToken {
  /// Whether an archive names no class but those of tokens.
  fileprivate static func isOnly(in data: Data) throws -> Bool {
    let archive = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
    let objects = (archive as? [String: Any])?["$objects"] as? [Any] ?? []
    let names = objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String }
    let allowed = [NSStringFromClass(NIDiscoveryToken.self), "NSData", "NSMutableData"]
    return names.allSatisfy(allowed.contains)
  }
}
