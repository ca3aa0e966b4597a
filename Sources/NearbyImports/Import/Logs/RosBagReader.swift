// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Reads the messages of a bag of ROS 1, version 2.0, in the order of the file.
///
/// One chunk is in memory at a time; chunks may be plain, bzip2 or LZ4. The index at the end is not
/// needed, so that a bag that was not closed can be read up to where it was cut.
final class RosBagReader: LogSource {
  static let magic = Array("#ROSBAG V2.0\n".utf8)

  private enum Opcode {
    static let message: UInt8 = 2
    static let chunk: UInt8 = 5
    static let connection: UInt8 = 7
  }

  private struct Connection {
    var topic: String
    var type: String
    var definition: String
  }

  /// The largest accepted chunk, bytes.
  ///
  /// A larger one is damaged or hostile.
  private static let largestChunk = 1 << 29

  private var connections: [UInt32: Connection] = [:]
  private var file: BinaryReader
  /// The unread part of the chunk.
  private var chunk: ByteCursor?

  init(path: String) throws(RecordingError) {
    var file = try BinaryReader(path: path)
    guard Array(try file.peek(Self.magic.count)) == Self.magic else {
      throw RecordingError(
        .unsupportedFormat, "it does not begin as a bag of ROS 1 does", file: path,
        remedy: "give a bag of version 2.0; 'rosbag fix' mends older ones")
    }
    try file.skip(Self.magic.count, "the magic")
    self.file = file
  }

  func definition(of message: LogMessage) -> String? {
    connections[UInt32(truncatingIfNeeded: message.definition)]?.definition
  }

  func next() throws(RecordingError) -> LogMessage? {
    while true {
      if var records = chunk {
        guard records.count > 0 else {
          chunk = nil
          continue
        }
        let header = try Self.takePiece(&records, "a record's header")
        let data = try Self.takePiece(&records, "a record's data")
        chunk = records
        if let message = try read(try Header(header), data) { return message }
      } else {
        guard file.bytesLeft > 0 else { return nil }
        let header = try takePiece("a record's header")
        let fields = try Header(header)
        let data = try takePiece("a record's data")
        if fields.opcode == Opcode.chunk {
          chunk = try unpacked(data, fields)
        } else if let message = try read(fields, data) {
          return message
        }
      }
    }
  }

  private func takePiece(_ what: String) throws(RecordingError) -> ByteCursor {
    var head = try file.take(4, what)
    return try file.take(Int(try head.take(UInt32.self, what)), what)
  }

  private static func takePiece(
    _ records: inout ByteCursor, _ what: String
  ) throws(RecordingError) -> ByteCursor {
    let length = try records.take(UInt32.self, what)
    return try records.take(Int(length), what)
  }

  private func read(_ header: Header, _ data: ByteCursor) throws(RecordingError) -> LogMessage? {
    switch header.opcode {
    case Opcode.connection:
      let id = try header.number(UInt32.self, "conn")
      let fields = try Header(data)
      connections[id] = Connection(
        topic: try header.text("topic"), type: try fields.text("type"),
        definition: try fields.text("message_definition"))
      return nil
    case Opcode.message:
      let id = try header.number(UInt32.self, "conn")
      guard let connection = connections[id] else {
        throw data.error("a message is of connection \(id), which there is not,")
      }
      let seconds = try header.number(UInt32.self, "time")
      let rest = try header.number(UInt32.self, "time", after: 4)
      return LogMessage(
        topic: connection.topic, type: connection.type,
        logTime: UInt64(seconds) * 1_000_000_000 + UInt64(rest), encoding: .ros1,
        definition: Int(id), data: data)
    default: return nil
    }
  }

  private func unpacked(
    _ data: ByteCursor, _ header: Header
  ) throws(RecordingError) -> ByteCursor {
    let compression = try header.text("compression")
    let size = Int(try header.number(UInt32.self, "size"))
    let packed = Array(data.rest)
    guard ["none", "bz2", "lz4"].contains(compression) else {
      throw data.error(
        "chunks packed by \"\(compression)\" cannot be read,", code: .unsupportedFormat,
        remedy: "unpack it by 'rosbag decompress'")
    }
    // LZ4's longest runs take one byte for 255.
    let largest = compression == "lz4" ? 255 * packed.count : Self.largestChunk
    guard size <= min(Self.largestChunk, largest) else {
      throw data.error("a chunk of \(packed.count) bytes cannot become \(size),")
    }
    let bytes: [UInt8]? =
      switch compression {
      case "bz2": Unpacking.bzip2(packed, size: size)
      case "lz4": Unpacking.lz4(packed, size: size)
      default: packed.count == size ? packed : nil
      }
    guard let bytes else { throw data.error("a chunk cannot be unpacked,") }
    return ByteCursor(
      bytes, file: data.file,
      origin: compression == "none" ? data.origin + data.position : data.origin)
  }

  /// The fields of a record's header: `name=value`, each after its length.
  private struct Header {
    private var fields: [String: ByteCursor] = [:]
    private let origin: ByteCursor

    init(_ bytes: ByteCursor) throws(RecordingError) {
      origin = bytes
      var bytes = bytes
      while bytes.count > 0 {
        let length = try bytes.take(UInt32.self, "a field of a header")
        var field = try bytes.take(Int(length), "a field of a header")
        guard let equals = field.rest.firstIndex(of: UInt8(ascii: "=")) else {
          throw field.error("a field of a header has no \"=\",")
        }
        let name = try field.take(equals - field.position, "a field's name")
        try field.skip(1, "a field's name")
        fields[String(decoding: name.rest, as: UTF8.self)] = field
      }
    }

    var opcode: UInt8 { fields["op"]?.rest.first ?? 0 }

    func text(_ name: String) throws(RecordingError) -> String {
      String(decoding: try field(name).rest, as: UTF8.self)
    }

    func number<Number: FixedWidthInteger>(
      _ type: Number.Type, _ name: String, after bytes: Int = 0
    ) throws(RecordingError) -> Number {
      var field = try field(name)
      try field.skip(bytes, name)
      return try field.take(type, name)
    }

    private func field(_ name: String) throws(RecordingError) -> ByteCursor {
      guard let field = fields[name] else {
        throw origin.error("a record's header has no \(name),")
      }
      return field
    }
  }
}
