// SPDX-License-Identifier: Apache-2.0
import CZlib
import NearbyRecordings

/// Reads the messages of an MCAP file in the order of the file.
///
/// One chunk is in memory at a time.
///
/// Chunks may be plain, LZ4 or zstd; their checksums are compared where they are not zero. Records
/// of unknown kinds are skipped. A file without its end was cut off, which is an error.
struct McapReader: ~Copyable {
  static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

  struct Schema: Sendable {
    var name: String
    var encoding: String
    var text: [UInt8]
  }

  struct Channel: Sendable {
    var id: UInt16
    var schema: UInt16
    var topic: String
    var encoding: String
  }

  struct Message: Sendable {
    var channel: Channel
    /// When it was recorded, nanoseconds.
    var logTime: UInt64
    var data: ByteCursor
  }

  /// The largest accepted chunk, bytes.
  ///
  /// A larger one is damaged or hostile.
  private static let largestChunk: UInt64 = 1 << 29

  /// The largest compression ratio of each format: zstd's shortest block has 4 bytes and becomes
  /// 128 KiB, LZ4's longest runs take one byte for 255.
  private static let largestRatio = ["": 1, "lz4": 255, "zstd": (128 << 10) / 4]

  private(set) var schemas: [UInt16: Schema] = [:]
  private var channels: [UInt16: Channel] = [:]
  private var file: BinaryReader
  /// The unread part of the chunk.
  private var chunk: ByteCursor?
  private var isAtEnd = false

  init(path: String) throws(RecordingError) {
    var file = try BinaryReader(path: path)
    guard Array(try file.peek(Self.magic.count)) == Self.magic else {
      throw RecordingError(
        .unsupportedFormat, "it does not begin as an MCAP file does", file: path,
        remedy: "give a file of MCAP version 0")
    }
    try file.skip(Self.magic.count, "the magic")
    self.file = file
  }

  /// The next message; `nil` after the last.
  mutating func next() throws(RecordingError) -> Message? {
    while true {
      if var records = chunk {
        guard records.count > 0 else {
          chunk = nil
          continue
        }
        let opcode = try records.take(UInt8.self, "a record")
        let length = try records.take(UInt64.self, "a record")
        let record = try records.take(length, "a record")
        chunk = records
        if let message = try read(opcode, record) { return message }
      } else {
        guard !isAtEnd else { return nil }
        var head = try file.take(9, "a record")
        let opcode = try head.take(UInt8.self, "a record")
        let length = try head.take(UInt64.self, "a record")
        switch opcode {
        case McapOpcode.dataEnd, McapOpcode.footer:
          isAtEnd = true
        case McapOpcode.schema, McapOpcode.channel, McapOpcode.message, McapOpcode.chunk:
          let record = try file.take(Int(clamping: length), "a record")
          if opcode == McapOpcode.chunk {
            chunk = try unpacked(record)
          } else if let message = try read(opcode, record) {
            return message
          }
        case 0: throw file.error("there is a record of kind 0", at: head.origin)
        default: try file.skip(Int(clamping: length), "a record")
        }
      }
    }
  }

  private mutating func read(
    _ opcode: UInt8, _ record: ByteCursor
  ) throws(RecordingError) -> Message? {
    var record = record
    switch opcode {
    case McapOpcode.schema:
      let id = try record.take(UInt16.self, "a schema")
      let name = try record.takeString("a schema's name")
      let encoding = try record.takeString("a schema's encoding")
      let length = try record.take(UInt32.self, "a schema's text")
      let text = Array(try record.take(Int(length), "a schema's text").rest)
      schemas[id] = Schema(name: name, encoding: encoding, text: text)
    case McapOpcode.channel:
      let id = try record.take(UInt16.self, "a channel")
      let schema = try record.take(UInt16.self, "a channel")
      let topic = try record.takeString("a channel's topic")
      let encoding = try record.takeString("a channel's encoding")
      channels[id] = Channel(id: id, schema: schema, topic: topic, encoding: encoding)
    case McapOpcode.message:
      let id = try record.take(UInt16.self, "a message")
      _ = try record.take(UInt32.self, "a message")
      let logTime = try record.take(UInt64.self, "a message")
      _ = try record.take(UInt64.self, "a message")
      guard let channel = channels[id] else {
        throw record.error("a message is of channel \(id), which there is not,")
      }
      return Message(channel: channel, logTime: logTime, data: record)
    default: break
    }
    return nil
  }

  /// The records of a chunk.
  private func unpacked(_ record: ByteCursor) throws(RecordingError) -> ByteCursor {
    var record = record
    try record.skip(16, "a chunk")
    let size = try record.take(UInt64.self, "a chunk")
    let checksum = try record.take(UInt32.self, "a chunk")
    let compression = try record.takeString("a chunk's compression")
    let length = try record.take(UInt64.self, "a chunk")
    let origin = record.origin + record.position
    let packed = Array(try record.take(length, "a chunk's records").rest)
    guard let ratio = Self.largestRatio[compression] else {
      throw record.error(
        "chunks packed by \"\(compression)\" cannot be read,", code: .unsupportedFormat,
        remedy: "use zstd, lz4 or none, as in 'mcap compress'")
    }
    // Checked before allocating, since a few bytes may claim any size.
    guard size <= min(Self.largestChunk, UInt64(packed.count) * UInt64(ratio)) else {
      throw record.error("a chunk of \(packed.count) bytes cannot become \(size),")
    }
    let bytes: [UInt8]? =
      switch compression {
      case "lz4": Unpacking.lz4(packed, size: Int(size))
      case "zstd": Unpacking.zstd(packed, size: Int(size))
      default: packed.count == Int(size) ? packed : nil
      }
    guard let bytes else { throw record.error("a chunk cannot be unpacked,") }
    if checksum != 0 {
      let sum = unsafe bytes.withUnsafeBufferPointer { unsafe crc32_z(0, $0.baseAddress, $0.count) }
      guard UInt32(truncatingIfNeeded: sum) == checksum else {
        throw record.error("a chunk's checksum is wrong,")
      }
    }
    return ByteCursor(
      bytes, file: record.file, origin: compression.isEmpty ? origin : record.origin)
  }
}
