// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment

/// The random name of one session, which the app sends to the peer.
///
/// Archives with `NSKeyedArchiver` and encodes with any `Encoder`; two copies of one token are equal and
/// hash alike. It lives as long as its session.
public final class NIDiscoveryToken: NSObject, NSCopying, NSSecureCoding, Codable, Sendable {
  let token: SessionToken

  static let key = "token"

  init(_ token: SessionToken) {
    self.token = token
    super.init()
  }

  /// The token of no peer, for configurations without a peer.
  static let noPeer = NIDiscoveryToken(SessionToken(high: 0, low: 0, capabilities: []))

  /// The capabilities of the device that made the token.
  public var deviceCapabilities: any NIDeviceCapability {
    DeviceCapabilityReport(token.capabilities)
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the token's bytes.
  public func encode(with coder: NSCoder) {
    coder.encode(Data(token.bytes) as NSData, forKey: Self.key)
  }

  /// Reads a token; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.key),
      let token = SessionToken(bytes: Data(referencing: data))
    else { return nil }
    self.token = token
    super.init()
  }

  /// Reads the token's hexadecimal digits.
  public required init(from decoder: any Decoder) throws {
    token = try SessionToken(from: decoder)
    super.init()
  }

  /// Writes the token's hexadecimal digits.
  public func encode(to encoder: any Encoder) throws { try token.encode(to: encoder) }

  /// The token itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether another object is a token of the same session.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NIDiscoveryToken)?.token == token
  }

  /// The same for equal tokens.
  public override var hash: Int { token.hashValue }

  /// The first digits.
  public override var description: String {
    let digits = String(token.high, radix: 16)
    let filled = String(repeating: "0", count: 16 - digits.count) + digits
    return "<NIDiscoveryToken: \(filled.prefix(8))>"
  }
}
