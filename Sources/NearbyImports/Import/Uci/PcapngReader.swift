// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Reads the packets of one link type in a pcapng file, one after the other.
///
/// It supports sections of either byte order, interfaces of any time resolution, and enhanced
/// packets. Blocks of other kinds and packets of other link types are skipped.
struct PcapngReader: ~Copyable {
  /// The first bytes of every such file, which are the same in both byte orders.
  static let magic: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]

  /// How many packets of other link types were skipped.
  private(set) var foreignPackets = 0

  fileprivate struct Interface {
    var linkType: UInt16
    /// The exponent of the ticks per second, which are a power of ten or of two.
    var exponent = 6
    var isPowerOfTwo = false
    var offsetSeconds: Int64 = 0
  }

  private enum Block {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let enhancedPacket: UInt32 = 6
  }

  private var reader: BinaryReader
  private let linkType: UInt16
  private var interfaces: [Interface] = []
  private var isLittleEndian = true

  init(_ reader: consuming BinaryReader, linkType: UInt16) {
    self.reader = reader
    self.linkType = linkType
  }

  /// The next packet and when it was captured; `nil` after the last.
  mutating func next() throws(RecordingError) -> (data: ByteCursor, time: Timestamp)? {
    while reader.bytesLeft > 0 {
      let start = reader.position
      var head = try reader.take(8, "a block")
      head.isLittleEndian = isLittleEndian
      let type = try head.take(UInt32.self, "a block")
      if type == Block.section { try readByteOrder() }
      head = ByteCursor(Array(head.bytes[4...]), file: reader.file, origin: start + 4)
      head.isLittleEndian = isLittleEndian
      let length = Int(try head.take(UInt32.self, "a block's length"))
      guard length >= 12, length % 4 == 0, length <= reader.bytesLeft + 8 else {
        throw reader.error("a block of \(length) bytes is impossible,", at: start)
      }
      let packet: (ByteCursor, Timestamp)?
      switch type {
      case Block.section:
        try reader.skip(length - 12, "a section header")
        interfaces = []
        packet = nil
      case Block.interface:
        try addInterface(try body(length))
        packet = nil
      case Block.enhancedPacket: packet = try enhancedPacket(try body(length))
      default:
        try reader.skip(length - 12, "a block")
        packet = nil
      }
      var tail = try reader.take(4, "a block's end")
      tail.isLittleEndian = isLittleEndian
      guard try tail.take(UInt32.self, "a block's end") == UInt32(length) else {
        throw reader.error("a block ends with another length than it began,", at: start)
      }
      if let packet { return packet }
    }
    return nil
  }

  private mutating func body(_ length: Int) throws(RecordingError) -> ByteCursor {
    var body = try reader.take(length - 12, "a block")
    body.isLittleEndian = isLittleEndian
    return body
  }

  /// The byte order of the section whose first eight bytes were taken.
  private mutating func readByteOrder() throws(RecordingError) {
    switch Array(try reader.peek(4)) {
    case [0x4D, 0x3C, 0x2B, 0x1A]: isLittleEndian = true
    case [0x1A, 0x2B, 0x3C, 0x4D]: isLittleEndian = false
    default: throw reader.error("there is no byte-order mark of pcapng", at: reader.position)
    }
  }

  private mutating func addInterface(_ body: ByteCursor) throws(RecordingError) {
    var body = body
    var interface = Interface(linkType: try body.take(UInt16.self, "an interface"))
    try body.skip(6, "an interface")
    while body.count >= 4 {
      let code = try body.take(UInt16.self, "an option")
      let length = Int(try body.take(UInt16.self, "an option"))
      if code == 0 { break }
      var value = try body.take(length, "an option")
      if code == 9 {
        let resolution = try value.take(UInt8.self, "a time resolution")
        interface.exponent = Int(resolution & 0x7F)
        interface.isPowerOfTwo = resolution & 0x80 != 0
        guard interface.exponent <= (interface.isPowerOfTwo ? 63 : 19) else {
          throw body.error("a time resolution of 1e-\(interface.exponent) s is impossible,")
        }
      } else if code == 14 {
        interface.offsetSeconds = try value.take(Int64.self, "a time offset")
      }
      try body.skip(min(-length & 3, body.count), "an option")
    }
    interfaces.append(interface)
  }

  private mutating func enhancedPacket(
    _ body: ByteCursor
  ) throws(RecordingError) -> (ByteCursor, Timestamp)? {
    var body = body
    let index = Int(try body.take(UInt32.self, "a packet"))
    guard interfaces.indices.contains(index) else {
      throw body.error("a packet names interface \(index), which there is not,")
    }
    let high = try body.take(UInt32.self, "a packet")
    let low = try body.take(UInt32.self, "a packet")
    let captured = Int(try body.take(UInt32.self, "a packet"))
    _ = try body.take(UInt32.self, "a packet")
    guard interfaces[index].linkType == linkType else {
      foreignPackets += 1
      return nil
    }
    guard let time = interfaces[index].timestamp(UInt64(high) << 32 | UInt64(low)) else {
      throw body.error("a packet's time is beyond 4.6e9 s")
    }
    var data = try body.take(captured, "a packet")
    // The captured data are little-endian in sections of either byte order.
    data.isLittleEndian = true
    return (data, time)
  }
}

extension PcapngReader.Interface {
  /// The timestamp of a number of ticks; `nil` beyond ±4.6e9 s.
  fileprivate func timestamp(_ ticks: UInt64) -> Timestamp? {
    let seconds: UInt64
    let nanoseconds: UInt64
    if isPowerOfTwo {
      seconds = ticks >> UInt64(exponent)
      let rest = ticks & (1 << UInt64(exponent) &- 1)
      let product = rest.multipliedFullWidth(by: 1_000_000_000)
      // Below 1e9: the high part is below 1e9 / 2^(64 - exponent).
      nanoseconds =
        exponent == 0
        ? 0 : product.high << UInt64(64 - exponent) | product.low >> UInt64(exponent)
    } else {
      let unit = wholePowersOfTen[exponent]
      seconds = ticks / unit
      let rest = ticks % unit
      nanoseconds =
        exponent <= 9
        ? rest * wholePowersOfTen[9 - exponent] : rest / wholePowersOfTen[exponent - 9]
    }
    guard seconds < 4_600_000_000, offsetSeconds.magnitude < 4_600_000_000 else { return nil }
    let total = Int64(seconds) + offsetSeconds
    guard total.magnitude < 4_600_000_000 else { return nil }
    return Timestamp(nanoseconds: total * 1_000_000_000 + Int64(nanoseconds))
  }
}
