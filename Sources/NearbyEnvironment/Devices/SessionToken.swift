// SPDX-License-Identifier: Apache-2.0

/// The random name of one session, which a discovery token holds.
///
/// It names a session, not a device, and is invalid after that session's end. Equality compares
/// only the 128 random bits.
public struct SessionToken: Sendable {
  /// The first half of the random bits.
  public let high: UInt64
  /// The second half.
  public let low: UInt64
  /// The capabilities of the device that made it.
  public let capabilities: DeviceCapabilities

  /// Makes a token from its parts.
  public init(high: UInt64, low: UInt64, capabilities: DeviceCapabilities) {
    self.high = high
    self.low = low
    self.capabilities = capabilities
  }

  /// Draws a token from the system's random numbers.
  ///
  /// - Parameter capabilities: The capabilities of the device.
  /// - Returns: A new token.
  public static func random(on capabilities: DeviceCapabilities) -> SessionToken {
    SessionToken(
      high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max),
      capabilities: capabilities)
  }
}

extension SessionToken: Hashable {
  /// Whether two tokens name the same session.
  public static func == (a: SessionToken, b: SessionToken) -> Bool {
    a.high == b.high && a.low == b.low
  }

  /// Feeds the random bits to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }
}

// MARK: - Bytes

extension SessionToken {
  /// How many bytes a token takes.
  public static let byteCount = 18
  /// The version of the form in bytes.
  private static let version: UInt8 = 1

  /// The token in bytes: version 1, capabilities, then the two halves, most significant byte first.
  public var bytes: [UInt8] {
    [Self.version, capabilities.rawValue] + Self.bytes(high) + Self.bytes(low)
  }

  /// Reads a token; `nil` when there are not 18 bytes or the version is another.
  ///
  /// - Parameter bytes: The bytes that ``bytes`` returned.
  public init?(bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount, bytes[0] == Self.version else { return nil }
    self.init(
      high: Self.number(bytes[2..<10]), low: Self.number(bytes[10..<18]),
      capabilities: DeviceCapabilities(rawValue: bytes[1]))
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension SessionToken: Codable {
  /// Reads the token from its bytes in hexadecimal digits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = Array(try container.decode(String.self).utf8)
    let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1])
    }
    guard text.count == 2 * Self.byteCount, digits.count == text.count,
      let token = SessionToken(bytes: bytes)
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a token is 36 hexadecimal digits that begin with 01")
    }
    self = token
  }

  /// Writes the token's bytes in hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    let digits = Array("0123456789abcdef")
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    var container = encoder.singleValueContainer()
    try container.encode(String(text))
  }
}
