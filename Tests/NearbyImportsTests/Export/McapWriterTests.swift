// SPDX-License-Identifier: Apache-2.0
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Writing MCAP files")
struct McapWriterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A message of a few hundred bytes that packs badly.
  private func text(_ index: Int) -> OutputText {
    var text = OutputText()
    text.append("{\"index\":\(index),\"words\":[")
    text.append(
      (0..<40).map { "\((index &* 7919 &+ $0 &* 104_729) % 99_991)" }.joined(separator: ","))
    text.append("]}")
    return text
  }

  private func write(_ count: Int) throws -> String {
    let path = folder.path("log.mcap")
    var writer = try McapWriter.open(path: path, library: "test")
    let schema = try writer.addSchema(name: "Numbers", text: "{}")
    let channels = [
      try writer.addChannel(topic: "/even", schema: schema),
      try writer.addChannel(topic: "/odd", schema: schema, metadata: ["peer": "keys"]),
    ]
    for index in 0..<count {
      try writer.add(text(index), to: channels[index % 2], at: UInt64(1000 * index))
    }
    try writer.commit()
    return path
  }

  @Test("Every message comes back, over several chunks")
  func everyMessage() throws {
    let count = 10_000
    var reader = try McapReader(path: try write(count))
    for index in 0..<count {
      let message = try #require(try reader.next())
      #expect(message.channel.topic == (index % 2 == 0 ? "/even" : "/odd"))
      #expect(message.channel.encoding == "json")
      #expect(message.logTime == UInt64(1000 * index))
      #expect(Array(message.data.rest) == text(index).bytes)
    }
    let last = try reader.next()
    #expect(last == nil)
    #expect(reader.schemas[1]?.name == "Numbers")
    #expect(reader.schemas[1]?.encoding == "jsonschema")
  }

  @Test func aDamagedChunkIsSeen() throws {
    let path = try write(5)
    var bytes = try FileBytes.read(path: path)
    // Behind the header, the schema, two channels and the head of the chunk there is packed data.
    bytes[bytes.count / 3] ^= 0xFF
    try folder.write(bytes, to: "log.mcap")
    let error = recordingError {
      var reader = try McapReader(path: path)
      while try reader.next() != nil {}
    }
    #expect(error?.message.contains("chunk") == true, "\(String(describing: error))")
  }

  @Test func withoutMessagesItIsWhole() throws {
    var reader = try McapReader(path: try write(0))
    let message = try reader.next()
    #expect(message == nil)
  }

  @Test func aNumberThatIsNotFiniteIsAnErrorAndLeavesNoFile() throws {
    var text = OutputText()
    text.append(.nan, decimals: 3)
    let error = recordingError {
      var writer = try McapWriter.open(path: folder.path("log.mcap"), library: "test")
      let schema = try writer.addSchema(name: "Numbers", text: "{}")
      let channel = try writer.addChannel(topic: "/a", schema: schema)
      try writer.add(text, to: channel, at: 0)
      try writer.commit()
    }
    #expect(error?.code == .notFinite)
    #expect(try folder.contents("").isEmpty)
  }
}
