// SPDX-License-Identifier: Apache-2.0
import CZlib
import CZstd
import NearbyRecordings

/// Writes an MCAP file of version 0: chunks packed by zstd, with checksums and an index.
///
/// One chunk is in memory at a time. Schemas and channels are written in front of the chunk that is being
/// collected, and once more in the summary. The file appears whole or not at all.
struct McapWriter: ~Copyable {
  /// The size at which a chunk is packed, bytes.
  private static let chunkSize = 1 << 20
  private static let compression = "zstd"
  private static let compressionLevel: CInt = 3

  /// What the index says of a chunk.
  private struct IndexedChunk {
    var times: ClosedRange<UInt64>
    var start: UInt64
    var length: UInt64
    /// Where the message index of each channel is in the file, in the order of the channels.
    var indices: [(channel: UInt16, start: UInt64)]
    var indexLength: UInt64
    var packedSize: UInt64
    var size: UInt64
  }

  private var file: AtomicFile
  /// How many bytes have been written.
  private var position: UInt64 = 0
  private var checksum: UInt = 0
  private var schemas: [[UInt8]] = []
  private var channels: [[UInt8]] = []
  /// How many messages each channel has; also the sequence number of its next one.
  private var messageCounts: [UInt64] = []
  private var chunks: [IndexedChunk] = []
  private var times: ClosedRange<UInt64>?

  /// The records of the chunk that is being collected.
  private var records = ByteList()
  private var chunkTimes: ClosedRange<UInt64>?
  /// For each channel the times and offsets of its messages in the chunk.
  private var offsets: [[(time: UInt64, offset: UInt64)]] = []

  /// Starts a file; its folder must exist.
  ///
  /// - Parameters:
  ///   - path: The path of the finished file.
  ///   - library: The name of the program that writes it.
  /// - Returns: The writer, behind the header.
  /// - Throws: When the file cannot be written.
  static func open(path: String, library: String) throws(RecordingError) -> McapWriter {
    var writer = McapWriter(try AtomicFile(path: path))
    try writer.write(McapReader.magic)
    var header = ByteList()
    header.append(text: "")
    header.append(text: library)
    try writer.write(McapOpcode.header, header.bytes)
    return writer
  }

  private init(_ file: consuming AtomicFile) { self.file = file }

  /// How many messages there are.
  var messageCount: Int { messageCounts.reduce(0) { $0 + Int($1) } }
  /// How many channels there are.
  var channelCount: Int { channels.count }

  /// Adds a JSON schema.
  ///
  /// - Returns: Its number, for channels.
  mutating func addSchema(name: String, text: String) throws(RecordingError) -> UInt16 {
    // Zero means that there is no schema.
    let number = UInt16(schemas.count + 1)
    var schema = ByteList()
    schema.append(number)
    schema.append(text: name)
    schema.append(text: "jsonschema")
    schema.append(text: text)
    schemas.append(schema.bytes)
    try write(McapOpcode.schema, schema.bytes)
    return number
  }

  /// Adds a channel of JSON messages.
  ///
  /// - Returns: Its number, for messages.
  mutating func addChannel(
    topic: String, schema: UInt16, metadata: KeyValuePairs<String, String> = [:]
  ) throws(RecordingError) -> UInt16 {
    guard channels.count < UInt16.max else {
      throw RecordingError(
        .tooManyPeers, "an MCAP file has at most \(UInt16.max) topics", file: file.path,
        remedy: "export fewer peers")
    }
    let number = UInt16(channels.count)
    var channel = ByteList()
    channel.append(number)
    channel.append(schema)
    channel.append(text: topic)
    channel.append(text: "json")
    var pairs = ByteList()
    for (key, value) in metadata {
      pairs.append(text: key)
      pairs.append(text: value)
    }
    channel.append(bytes: pairs.bytes)
    channels.append(channel.bytes)
    messageCounts.append(0)
    offsets.append([])
    try write(McapOpcode.channel, channel.bytes)
    return number
  }

  /// Adds a message.
  ///
  /// - Parameters:
  ///   - text: The JSON.
  ///   - channel: The channel's number.
  ///   - time: Nanoseconds.
  /// - Throws: When the file cannot be written, or the text has a number that is not finite.
  mutating func add(
    _ text: OutputText, to channel: UInt16, at time: UInt64
  ) throws(RecordingError) {
    try text.checkIsFinite(for: file.path)
    let data = text.bytes
    let index = Int(channel)
    offsets[index].append((time, UInt64(records.bytes.count)))
    records.append(McapOpcode.message)
    records.append(UInt64(2 + 4 + 8 + 8 + data.count))
    records.append(channel)
    records.append(UInt32(truncatingIfNeeded: messageCounts[index]))
    records.append(time)
    records.append(time)
    records.append(raw: data)
    messageCounts[index] += 1
    chunkTimes = Self.range(chunkTimes, time)
    times = Self.range(times, time)
    if records.bytes.count >= Self.chunkSize { try writeChunk() }
  }

  /// Writes the last chunk, the index and the end, and lets the file appear.
  consuming func commit() throws(RecordingError) {
    try writeChunk()
    var end = ByteList()
    end.append(UInt32(truncatingIfNeeded: checksum))
    try write(McapOpcode.dataEnd, end.bytes)
    try writeSummary()
    try write(McapReader.magic)
    try file.commit()
  }

  private static func range(_ range: ClosedRange<UInt64>?, _ time: UInt64) -> ClosedRange<UInt64> {
    guard let range else { return time...time }
    return min(range.lowerBound, time)...max(range.upperBound, time)
  }

  // MARK: Chunks

  private mutating func writeChunk() throws(RecordingError) {
    guard let chunkTimes else { return }
    let packed = try pack(records.bytes)
    var chunk = ByteList()
    chunk.append(chunkTimes.lowerBound)
    chunk.append(chunkTimes.upperBound)
    chunk.append(UInt64(records.bytes.count))
    chunk.append(UInt32(truncatingIfNeeded: Self.checksum(of: records.bytes)))
    chunk.append(text: Self.compression)
    chunk.append(UInt64(packed.count))
    chunk.append(raw: packed)
    let start = position
    try write(McapOpcode.chunk, chunk.bytes)
    let indexStart = position
    var indices: [(channel: UInt16, start: UInt64)] = []
    for channel in offsets.indices where !offsets[channel].isEmpty {
      indices.append((UInt16(channel), position))
      var entries = ByteList()
      for (time, offset) in offsets[channel] {
        entries.append(time)
        entries.append(offset)
      }
      var index = ByteList()
      index.append(UInt16(channel))
      index.append(bytes: entries.bytes)
      try write(McapOpcode.messageIndex, index.bytes)
      offsets[channel].removeAll(keepingCapacity: true)
    }
    chunks.append(
      IndexedChunk(
        times: chunkTimes, start: start, length: indexStart - start, indices: indices,
        indexLength: position - indexStart, packedSize: UInt64(packed.count),
        size: UInt64(records.bytes.count)))
    records.removeAll()
    self.chunkTimes = nil
  }

  private func pack(_ bytes: [UInt8]) throws(RecordingError) -> [UInt8] {
    var packed = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let size = unsafe bytes.withUnsafeBytes { source in
      unsafe packed.withUnsafeMutableBytes { target in
        unsafe ZSTD_compress(
          target.baseAddress, target.count, source.baseAddress, source.count,
          Self.compressionLevel)
      }
    }
    guard ZSTD_isError(size) == 0 else {
      throw RecordingError(
        .unwritableFile, "a chunk cannot be packed", file: file.path,
        remedy: "check that memory is left")
    }
    packed.removeLast(packed.count - size)
    return packed
  }

  // MARK: The summary

  private mutating func writeSummary() throws(RecordingError) {
    let start = position
    // The footer's checksum is that of the summary, the footer's beginning included.
    checksum = 0
    var groups: [(opcode: UInt8, start: UInt64, length: UInt64)] = []
    func note(_ opcode: UInt8, from start: UInt64, to end: UInt64) {
      if end > start { groups.append((opcode, start, end - start)) }
    }
    for schema in schemas { try write(McapOpcode.schema, schema) }
    note(McapOpcode.schema, from: start, to: position)
    var groupStart = position
    for channel in channels { try write(McapOpcode.channel, channel) }
    note(McapOpcode.channel, from: groupStart, to: position)
    groupStart = position
    try write(McapOpcode.statistics, statistics)
    note(McapOpcode.statistics, from: groupStart, to: position)
    groupStart = position
    for chunk in chunks { try write(McapOpcode.chunkIndex, Self.index(of: chunk)) }
    note(McapOpcode.chunkIndex, from: groupStart, to: position)
    let offsetStart = position
    for group in groups {
      var offset = ByteList()
      offset.append(group.opcode)
      offset.append(group.start)
      offset.append(group.length)
      try write(McapOpcode.summaryOffset, offset.bytes)
    }
    var footer = ByteList()
    footer.append(McapOpcode.footer)
    footer.append(UInt64(8 + 8 + 4))
    footer.append(start)
    footer.append(offsetStart)
    try write(footer.bytes)
    var end = ByteList()
    end.append(UInt32(truncatingIfNeeded: checksum))
    try write(end.bytes)
  }

  private var statistics: [UInt8] {
    var bytes = ByteList()
    bytes.append(UInt64(messageCount))
    bytes.append(UInt16(schemas.count))
    bytes.append(UInt32(channels.count))
    bytes.append(UInt32(0))  // attachments
    bytes.append(UInt32(0))  // metadata
    bytes.append(UInt32(chunks.count))
    bytes.append(times?.lowerBound ?? 0)
    bytes.append(times?.upperBound ?? 0)
    var counts = ByteList()
    for (channel, count) in messageCounts.enumerated() where count > 0 {
      counts.append(UInt16(channel))
      counts.append(count)
    }
    bytes.append(bytes: counts.bytes)
    return bytes.bytes
  }

  private static func index(of chunk: IndexedChunk) -> [UInt8] {
    var bytes = ByteList()
    bytes.append(chunk.times.lowerBound)
    bytes.append(chunk.times.upperBound)
    bytes.append(chunk.start)
    bytes.append(chunk.length)
    var starts = ByteList()
    for (channel, start) in chunk.indices {
      starts.append(channel)
      starts.append(start)
    }
    bytes.append(bytes: starts.bytes)
    bytes.append(chunk.indexLength)
    bytes.append(text: compression)
    bytes.append(chunk.packedSize)
    bytes.append(chunk.size)
    return bytes.bytes
  }

  // MARK: Bytes

  private mutating func write(_ opcode: UInt8, _ content: [UInt8]) throws(RecordingError) {
    var record = ByteList()
    record.append(opcode)
    record.append(UInt64(content.count))
    record.append(raw: content)
    try write(record.bytes)
  }

  private mutating func write(_ bytes: [UInt8]) throws(RecordingError) {
    try file.write(bytes)
    position += UInt64(bytes.count)
    checksum = Self.checksum(of: bytes, after: checksum)
  }

  private static func checksum(of bytes: [UInt8], after sum: UInt = 0) -> UInt {
    unsafe bytes.withUnsafeBufferPointer { unsafe crc32_z(sum, $0.baseAddress, $0.count) }
  }
}

/// Bytes to which numbers are appended, the lowest byte first.
private struct ByteList {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ number: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  mutating func append(raw other: [UInt8]) { bytes.append(contentsOf: other) }

  /// Appends the length, in four bytes, and the bytes.
  mutating func append(bytes other: [UInt8]) {
    append(UInt32(other.count))
    append(raw: other)
  }

  /// Appends the length, in four bytes, and the text in UTF-8.
  mutating func append(text: String) { append(bytes: Array(text.utf8)) }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
