// SPDX-License-Identifier: Apache-2.0
public import NearbyEnvironment

/// The data by which an accessory describes itself, in our own format.
///
/// 24 bytes: the letters `NIAC`, the version 1, the bits 0, then the 18 bytes of a `SessionToken`.
/// The data that a session generates for the accessory has the same format with the letters `NISC`:
/// it names the session that the accessory must answer. The data of real accessories is different.
public struct AccessoryData: Hashable, Sendable {
  /// Which of the two kinds of data it is.
  public enum Kind: String, Hashable, Sendable {
    /// From the accessory to the app.
    case accessory = "NIAC"
    /// From the app's session to the accessory.
    case shareable = "NISC"
  }

  /// Which of the two kinds of data it is.
  public var kind: Kind
  /// The session of its author.
  public var token: SessionToken

  private static let version: UInt8 = 1

  /// Makes accessory data.
  public init(kind: Kind, token: SessionToken) {
    self.kind = kind
    self.token = token
  }

  /// The encoded bytes.
  public var bytes: [UInt8] { Array(kind.rawValue.utf8) + [Self.version, 0] + token.bytes }

  /// Decodes accessory data.
  ///
  /// - Parameters:
  ///   - bytes: The encoded bytes, as in ``bytes``.
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
