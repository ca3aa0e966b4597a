// SPDX-License-Identifier: Apache-2.0
public import NearbyEnvironment

/// The blob by which an accessory describes itself, in our own form.
///
/// 24 bytes: the letters `NIAC`, the version 1, the bits 0, then the 18 bytes of a `SessionToken`.
/// The blob that a session generates for the accessory is alike with the letters `NISC`: it names the
/// session that the accessory is to answer. The blobs of real accessories are neither.
public struct AccessoryData: Hashable, Sendable {
  /// Which of the two blobs it is.
  public enum Kind: String, Hashable, Sendable {
    /// From the accessory to the app.
    case accessory = "NIAC"
    /// From the app's session to the accessory.
    case shareable = "NISC"
  }

  /// Which of the two blobs it is.
  public var kind: Kind
  /// The session of whoever made it.
  public var token: SessionToken

  private static let version: UInt8 = 1

  /// Makes a blob.
  public init(kind: Kind, token: SessionToken) {
    self.kind = kind
    self.token = token
  }

  /// The blob's bytes.
  public var bytes: [UInt8] { Array(kind.rawValue.utf8) + [Self.version, 0] + token.bytes }

  /// Reads an accessory's blob.
  ///
  /// - Parameters:
  ///   - bytes: What ``bytes`` gave.
  ///   - kind: Which of the two it must be.
  /// - Throws: ``NIError/invalidConfiguration`` that says what is wrong.
  public init(bytes: [UInt8], kind: Kind = .accessory) throws(NIError) {
    let length = 6 + SessionToken.byteCount
    guard bytes.count == length else {
      throw NIError(
        .invalidConfiguration, detail: "accessory data has \(bytes.count) bytes, not \(length)")
    }
    guard Array(kind.rawValue.utf8) == Array(bytes[..<4]) else {
      throw NIError(
        .invalidConfiguration, detail: "accessory data does not begin with \(kind.rawValue)")
    }
    guard bytes[4] == Self.version else {
      throw NIError(
        .invalidConfiguration, detail: "accessory data of version \(bytes[4]), not \(Self.version)")
    }
    guard let token = SessionToken(bytes: bytes[6...]) else {
      throw NIError(.invalidConfiguration, detail: "accessory data lacks a token")
    }
    self.init(kind: kind, token: token)
  }
}
