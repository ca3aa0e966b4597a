// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// A capture of the FiRa UWB command interface (UCI).
public struct UciCapture: Hashable, Sendable {
  /// The container format of a capture.
  public enum Container: String, Hashable, Sendable, CaseIterable {
    /// pcapng with link type 293, as Android's Pica writes it: packets with capture times.
    case pcapng
    /// Packets one after the other, without times.
    case raw
    /// Text: one packet per line in hexadecimal digits, after the time in seconds if it is known.
    case hex
  }

  /// The container format; detected from the first bytes when `nil`.
  public var container: Container?

  /// Makes a description of a capture.
  public init(container: Container? = nil) { self.container = container }
}

/// Reads a capture in pieces, each of which begins with a packet.
struct UciPackets: ~Copyable {
  /// One packet or several, without a gap.
  struct Piece {
    var data: ByteCursor
    /// When it was captured, if the capture says so.
    var time: Timestamp?
    /// The line, in text; 0 elsewhere.
    var line = 0
  }

  private static let linkType: UInt16 = 293

  private var pcapng: PcapngReader?
  private var raw: BinaryReader?
  private var hex: DelimitedReader?

  /// Opens a capture.
  static func open(path: String, _ capture: UciCapture) throws(RecordingError) -> UciPackets {
    var reader = try BinaryReader(path: path)
    let start = Array(try reader.peek(512))
    switch capture.container ?? container(of: start) {
    case .pcapng:
      return UciPackets(pcapng: PcapngReader(reader, linkType: linkType), raw: nil, hex: nil)
    case .raw: return UciPackets(pcapng: nil, raw: reader, hex: nil)
    case .hex:
      let lines = try DelimitedReader(path: path, delimiter: nil)
      return UciPackets(pcapng: nil, raw: nil, hex: lines)
    }
  }

  private init(
    pcapng: consuming PcapngReader?, raw: consuming BinaryReader?, hex: consuming DelimitedReader?
  ) {
    self.pcapng = pcapng
    self.raw = raw
    self.hex = hex
  }

  /// How many packets of other link types were skipped.
  var foreignPackets: Int {
    switch pcapng {
    case .some(let pcapng): pcapng.foreignPackets
    case nil: 0
    }
  }

  mutating func next() throws(RecordingError) -> Piece? {
    if let packet = try pcapng?.next() { return Piece(data: packet.data, time: packet.time) }
    if raw != nil { return try nextRaw() }
    if hex != nil { return try nextLine() }
    return nil
  }

  private static func container(of start: [UInt8]) -> UciCapture.Container {
    if start.starts(with: PcapngReader.magic) { return .pcapng }
    let isText = start.allSatisfy {
      (0x20..<0x7F).contains($0) || $0 == .tab || $0 == .lf || $0 == .cr
    }
    return isText ? .hex : .raw
  }

  private mutating func nextRaw() throws(RecordingError) -> Piece? {
    guard let head = try raw?.peek(UciHeader.size), !head.isEmpty else { return nil }
    let length = head.count == UciHeader.size ? UciHeader(Array(head)).length : 0
    return try (raw?.take(UciHeader.size + length, "a packet")).map { Piece(data: $0) }
  }

  private mutating func nextLine() throws(RecordingError) -> Piece? {
    guard let isLine = try hex?.next(), isLine else { return nil }
    return try hex?.uciPiece()
  }
}

extension DelimitedReader {
  /// The packets of a line of hexadecimal digits.
  ///
  /// A first field with a decimal point is the time in seconds.
  fileprivate func uciPiece() throws(RecordingError) -> UciPackets.Piece {
    var time: Timestamp?
    var first = 0
    if text(0).utf8.contains(.point) {
      time = try timestamp(0, .seconds)
      first = 1
    }
    var bytes: [UInt8] = []
    var upper: UInt8?
    guard count > first else {
      throw lineError(
        .malformedField, "there is no packet behind the time",
        remedy: "write bytes as two hexadecimal digits each")
    }
    for place in field(first).lowerBound..<field(count - 1).upperBound {
      let letter = lines.buffer[place]
      if letter.isBlank || letter == UInt8(ascii: ":") { continue }
      guard let digit = Character(Unicode.Scalar(letter)).hexDigitValue else {
        throw error(
          .malformedField, first, "the packet", "holds what is no hexadecimal digit",
          remedy: "write bytes as two hexadecimal digits each")
      }
      if let high = upper {
        bytes.append(high << 4 | UInt8(digit))
        upper = nil
      } else {
        upper = UInt8(digit)
      }
    }
    guard upper == nil, !bytes.isEmpty else {
      throw error(
        .malformedField, first, "the packet", "is empty or ends within a byte",
        remedy: "write bytes as two hexadecimal digits each")
    }
    return UciPackets.Piece(
      data: ByteCursor(bytes, file: lines.file), time: time, line: lines.line)
  }
}

/// The four bytes before every packet.
struct UciHeader {
  static let size = 4

  /// 0 data, 1 command, 2 response, 3 notification.
  let messageType: UInt8
  /// Whether the message continues in the next packet of its kind.
  let isFragment: Bool
  let group: UInt8
  let opcode: UInt8
  /// How many bytes follow.
  let length: Int

  init(_ bytes: [UInt8]) {
    messageType = bytes[0] >> 5
    isFragment = bytes[0] & 0x10 != 0
    group = bytes[0] & 0x0F
    opcode = bytes[1] & 0x3F
    // Data packets have a length of 16 bits.
    length = messageType == 0 ? Int(bytes[2]) | Int(bytes[3]) << 8 : Int(bytes[3])
  }
}
