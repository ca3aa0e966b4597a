// SPDX-License-Identifier: Apache-2.0
internal import NearbyEnvironment

/// The data by which an accessory describes itself to an app, as in Apple's accessory protocol.
///
/// | bytes | field |
/// | --- | --- |
/// | 0, 1 | major version, 1 |
/// | 2, 3 | minor version |
/// | 4 | preferred update rate: 0 automatic, 10 infrequent, 20 user interactive |
/// | 5 to 14 | reserved |
/// | 15 | the number of bytes that follow |
/// | 16 on | the radio's configuration, ``RadioConfiguration`` |
///
/// Numbers have their least significant byte first. Zeros may follow. The accessories of two makers of radio chips
/// send 37 bytes in all, the radio's configuration being of version 1; one of version 2 has 32 bytes of its own.
public struct AccessoryConfigurationData: Hashable, Sendable {
  /// How often the accessory would like to be measured.
  public enum UpdateRate: UInt8, Hashable, Sendable, CaseIterable {
    /// As the phone likes.
    case automatic = 0
    /// Seldom, to save energy.
    case infrequent = 10
    /// Often, for a person who acts on it.
    case userInteractive = 20
  }

  /// The version of the protocol; the major one is 1.
  public var version: (major: UInt16, minor: UInt16) { (Self.majorVersion, minorVersion) }
  private var minorVersion: UInt16 = 0
  /// How often the accessory would like to be measured.
  public var updateRate: UpdateRate
  /// The radio's configuration.
  public var radio: RadioConfiguration

  /// Makes the data of an accessory.
  ///
  /// - Parameters:
  ///   - radio: The radio's configuration.
  ///   - updateRate: How often the accessory would like to be measured.
  public init(radio: RadioConfiguration, updateRate: UpdateRate = .userInteractive) {
    self.radio = radio
    self.updateRate = updateRate
  }

  private static let headerCount = 16
  private static let majorVersion: UInt16 = 1

  /// The bytes that the accessory sends.
  public var bytes: [UInt8] {
    let header =
      Self.majorVersion.littleEndianBytes + minorVersion.littleEndianBytes + [updateRate.rawValue]
    return header + [UInt8](repeating: 0, count: 10) + [UInt8(radio.bytes.count)] + radio.bytes
  }

  /// Reads the data of an accessory.
  ///
  /// - Parameter bytes: The bytes that it sent.
  /// - Throws: ``NIError/invalidConfiguration`` that says what is wrong.
  public init(bytes: [UInt8]) throws(NIError) {
    func refuse(_ problem: String) -> NIError {
      NIError(.invalidConfiguration, detail: "accessory data \(problem)")
    }
    guard bytes.count > Self.headerCount else {
      throw refuse("has \(bytes.count) bytes, and needs more than \(Self.headerCount)")
    }
    let major = UInt16(littleEndian: bytes[0..<2])
    guard major == Self.majorVersion else {
      throw refuse("of version \(major), not \(Self.majorVersion)")
    }
    guard let updateRate = UpdateRate(rawValue: bytes[4]) else {
      throw refuse("asks for the update rate \(bytes[4]), not 0, 10 or 20")
    }
    let end = Self.headerCount + Int(bytes[15])
    guard end <= bytes.count, bytes[end...].allSatisfy({ $0 == 0 }) else {
      throw refuse(
        "announces \(bytes[15]) bytes of the radio's configuration, and \(bytes.count - Self.headerCount) follow"
      )
    }
    guard let radio = RadioConfiguration(bytes: Array(bytes[Self.headerCount..<end])) else {
      throw refuse("has a radio's configuration of \(bytes[15]) bytes, which needs at least 21")
    }
    self.init(radio: radio, updateRate: updateRate)
    minorVersion = UInt16(littleEndian: bytes[2..<4])
  }

  /// The name under which the accessory's session is known: two radios of one configuration have one name.
  var token: SessionToken {
    // Fowler, Noll and Vo's hash, twice from different starts.
    func hash(_ start: UInt64) -> UInt64 {
      radio.bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
    return SessionToken(
      high: hash(0xCBF2_9CE4_8422_2325), low: hash(0x9AE1_6A3B_2F90_404F),
      capabilities: .preciseDistance)
  }

  /// The configuration of a FiRa radio.
  ///
  /// | bytes | field |
  /// | --- | --- |
  /// | 0 to 3 | major and minor version |
  /// | 4 to 7 | the maker |
  /// | 8 to 11 | the chip's model |
  /// | 12 to 15 | the version of its software |
  /// | 16 | its role in ranging: 0 answers, 1 begins |
  /// | 17, 18 | its address on the air |
  /// | 19, 20 | the largest drift of its clock, parts in a million |
  /// | 21 on | what later versions add |
  public struct RadioConfiguration: Hashable, Sendable {
    /// All bytes.
    public let bytes: [UInt8]

    private static let leastCount = 21

    /// Reads a configuration; `nil` when there are fewer than 21 bytes.
    ///
    /// - Parameter bytes: The bytes.
    public init?(bytes: [UInt8]) {
      guard (Self.leastCount...255).contains(bytes.count) else { return nil }
      self.bytes = bytes
    }

    /// Makes a configuration of version 1.1.
    ///
    /// - Parameters:
    ///   - maker: The maker.
    ///   - model: The chip's model.
    ///   - address: Its address on the air.
    public init(maker: UInt32, model: UInt32, address: UInt16) {
      let version: [UInt8] = [1, 0, 1, 0]
      let software: [UInt8] = [0, 0, 1, 0]
      bytes =
        version + maker.littleEndianBytes + model.littleEndianBytes + software + [1]
        + address.littleEndianBytes + [100, 0]
    }

    /// The radio's address on the air.
    public var address: UInt16 { UInt16(littleEndian: bytes[17..<19]) }
  }

  /// Whether two accessories describe themselves alike.
  public static func == (a: AccessoryConfigurationData, b: AccessoryConfigurationData) -> Bool {
    a.bytes == b.bytes
  }

  /// Feeds the bytes to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension FixedWidthInteger {
  /// The number's bytes, the least significant first.
  fileprivate var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }

  /// The number of some bytes, the least significant first.
  fileprivate init(littleEndian bytes: ArraySlice<UInt8>) {
    self = bytes.reversed().reduce(0) { $0 << 8 | Self($1) }
  }
}
