// SPDX-License-Identifier: Apache-2.0
public import NearbyEnvironment

/// The data that a session generates for its accessory, in our own format.
///
/// 24 bytes: the letters `NISC`, the version 1, the bits 0, then the 18 bytes of the session's token, which the
/// accessory must answer. To an app it is opaque, as on a phone, where it holds a radio's parameters that are not
/// public.
public struct ShareableConfigurationData: Hashable, Sendable {
  /// The session that generated it.
  public var token: SessionToken

  private static let letters = Array("NISC".utf8)
  private static let version: UInt8 = 1

  /// Makes the data of a session.
  public init(token: SessionToken) { self.token = token }

  /// The encoded bytes.
  public var bytes: [UInt8] { Self.letters + [Self.version, 0] + token.bytes }

  /// Decodes the data.
  ///
  /// - Parameter bytes: The encoded bytes, as in ``bytes``.
  /// - Throws: ``NIError/invalidConfiguration`` that says what is wrong.
  public init(bytes: [UInt8]) throws(NIError) {
    func refuse(_ problem: String) -> NIError {
      NIError(.invalidConfiguration, detail: "shareable data \(problem)")
    }
    let length = 6 + SessionToken.byteCount
    guard bytes.count == length else { throw refuse("has \(bytes.count) bytes, not \(length)") }
    guard Array(bytes[..<4]) == Self.letters else { throw refuse("does not begin with NISC") }
    guard bytes[4] == Self.version else {
      throw refuse("is of version \(bytes[4]), not \(Self.version)")
    }
    guard let token = SessionToken(bytes: bytes[6...]) else { throw refuse("lacks a token") }
    self.init(token: token)
  }
}
