// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Importing MCAP logs")
struct McapTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func map(
    _ fields: [String], units: [String] = []
  ) throws -> FieldMap {
    try FieldMap(keys: FieldMap.rangingKeys, fields: fields, units: units)
  }

  private static func ranging(_ importer: inout McapImporter) throws {
    importer.rangeTopic = "/uwb"
    importer.rangeMap = try map(
      [
        "distance=range_cm", "peer=anchor", "azimuth=angles[0]", "elevation=angles[1]",
        "nlos=nlos", "rssi=qualities[0].value",
      ], units: ["distance=cm", "azimuth=-rad"])
  }

  @Test(
    "ROS messages, for each compression of chunks and each writer",
    arguments: ["walk-none.mcap", "walk-lz4.mcap", "walk-zstd.mcap", "rosbag2.mcap"],
    ["/pose", "/odom"])
  func ros(file: String, topic: String) throws {
    if file == "rosbag2.mcap" && topic == "/odom" { return }
    var importer = McapImporter(path: Fixture.path(file))
    importer.poseTopic = file == "rosbag2.mcap" ? nil : topic
    try Self.ranging(&importer)
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.samples == 21)
    #expect(report.peers == ["B22", "A1"])
    #expect(report.frames == FrameConvention(up: .z, axes: .ros))
    #expect(report.leftOut.isEmpty)
    try Fixture.expectMotion(in: folder.path("out"))
    var samples = try RecordingReader(folder: folder.path("out")).ranging()
    for index in 0..<Fixture.count {
      let row = try #require(try samples.next())
      #expect(
        row.timestamp.nanoseconds == Fixture.start + 100_000_000 * Int64(index) + 5_000_001)
      #expect(row.peer == (index % 2 == 0 ? "B22" : "A1"))
      #expect(row.distance == (150 + Double(index)) / 100)
      #expect(row.azimuthRadians == -0.125 * Double(index))
      #expect(row.elevationRadians == -0.25)
      #expect(row.isNonLineOfSight == (index % 3 == 0))
      #expect(row.rssi == -80.5)
    }
  }

  @Test("Poses on two topics need a choice")
  func ambiguity() throws {
    let error = recordingError {
      _ = try McapImporter(path: Fixture.path("walk-none.mcap"))
        .importRecording(to: folder.path("out"))
    }
    #expect(error?.code == .missingValue)
    #expect(error?.message.hasPrefix("there are poses on /pose and on /odom") == true)
  }

  @Test("JSON messages, and moments of the recording where messages have none")
  func json() throws {
    var importer = McapImporter(path: Fixture.path("walk-json.mcap"))
    importer.rangeTopic = "/uwb"
    importer.rangeMap = try Self.map(["distance=d[0].mm", "peer=id"], units: ["distance=mm"])
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.peers == ["0", "1"])
    try Fixture.expectMotion(in: folder.path("out"))
    var samples = try RecordingReader(folder: folder.path("out")).ranging()
    let row = try #require(try samples.next())
    #expect(row.timestamp.nanoseconds == Fixture.start + 5)
    #expect(row.distance == 1.5)
  }

  @Test("Fields that messages do not have are named")
  func missingFields() throws {
    for (field, code) in [
      ("distance=range_mm", RecordingError.Code.missingColumn), ("distance=anchor", .wrongType),
      ("peer=nobody", .emptyPeer),
    ] {
      var importer = McapImporter(path: Fixture.path("rosbag2.mcap"))
      importer.rangeTopic = "/uwb"
      importer.rangeMap = try Self.map(field.hasPrefix("peer") ? [field] : [field, "peer=anchor"])
      let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
      #expect(error?.code == code)
      #expect(error?.file == Fixture.path("rosbag2.mcap"))
      #expect(error?.message.contains("at byte") == true)
    }
  }

  @Test("A chunk whose bytes changed is found by its checksum")
  func checksum() throws {
    var bytes = try Fixture.bytes("walk-none.mcap")
    // A digit of a frame's name, which would decode as well.
    let place = try #require(
      bytes.indices.first { bytes[$0...].starts(with: "base_link".utf8) && $0 > 6000 })
    bytes[place] ^= 1
    try folder.write(bytes, to: "damaged.mcap")
    var importer = McapImporter(path: folder.path("damaged.mcap"))
    importer.poseTopic = "/odom"
    let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
    #expect(error?.message.hasPrefix("a chunk's checksum is wrong") == true)
  }

  @Test("Definitions of messages with everything in them")
  func schema() throws {
    let schema = try RosSchema(
      """
      # a comment
      int32 KIND = 3   # a constant
      string NAME="a = b"
      float64 x 1.5
      string<=16 name "default"
      int16[<=5] bounded
      Part[2] parts
      builtin_interfaces/Time stamp
      other_msgs/msg/Empty nothing
      wstring wide
      uint64 big
      ================================
      MSG: test_msgs/Part
      bool on
      char letter
      ================================
      MSG: other_msgs/Empty

      """, name: "test_msgs/msg/Whole")
    #expect(
      schema.types["test_msgs/Whole"]?.map(\.name) == [
        "x", "name", "bounded", "parts", "stamp", "nothing", "wide", "big",
      ])
    // Big-endian CDR, with its padding.
    let bytes: [UInt8] =
      [0, 0, 0, 0] + [0x3F, 0xF8, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 3, 0x68, 0x69, 0, 0xAA]
      + [0, 0, 0, 1, 0xFF, 0xFE] + [1, 65, 0, 66] + [0xAA, 0xAA] + [0, 0, 0, 5, 0, 0, 0, 6] + [0]
      + [0xAA, 0xAA, 0xAA] + [0, 0, 0, 2, 0, 0x68, 0, 0xE9]
      + [UInt8](repeating: 0xFF, count: 8)
    let value = try MessageDecoder.decode(cdr: ByteCursor(bytes, file: "f"), schema)
    #expect(value.value(at: "x")?.number == 1.5)
    #expect(value.value(at: "name")?.name == "hi")
    #expect(value.value(at: "bounded[0]")?.number == -2)
    #expect(value.value(at: "parts[0].on")?.number == 1)
    #expect(value.value(at: "parts[1].letter")?.number == 66)
    #expect(value.value(at: "parts[2].letter") == nil)
    #expect(value.value(at: "stamp")?.nanoseconds(.seconds) == 5_000_000_006)
    #expect(value.value(at: "wide")?.name == "hé")
    #expect(value.value(at: "big")?.number == 0x1p64)
    #expect(throws: RosSchema.Fault.self) { try RosSchema("Part x", name: "a/B") }
    #expect(throws: RosSchema.Fault.self) { try RosSchema("int32[x] y", name: "a/B") }
  }

  @Test("Types without bytes, and types within themselves, end")
  func hostileSchemas() throws {
    let deep = try RosSchema("B b\n====\nMSG: a/B\nB b", name: "a/A")
    #expect(throws: RecordingError.self) {
      try MessageDecoder.decode(cdr: ByteCursor([0, 1, 0, 0, 1, 1], file: "f"), deep)
    }
    let wide = try RosSchema(
      "B[1000000] b\n====\nMSG: a/B\nC[1000000] c\n====\nMSG: a/C\nint8[0] d", name: "a/A")
    #expect(throws: RecordingError.self) {
      try MessageDecoder.decode(cdr: ByteCursor([0, 1, 0, 0, 1, 1], file: "f"), wide)
    }
  }

  @Test("Moments in any unit")
  func moments() {
    #expect(
      MessageValue.integer(1_700_000_000_123).nanoseconds(.milliseconds)
        == 1_700_000_000_123_000_000)
    #expect(MessageValue.number(1.5).nanoseconds(.microseconds) == 1500)
    #expect(MessageValue.integer(.max).nanoseconds(.seconds) == nil)
    #expect(MessageValue.number(.nan).nanoseconds(.seconds) == nil)
    #expect(
      MessageValue.object([("sec", .integer(.max)), ("nsec", .integer(0))]).nanoseconds(.seconds)
        == nil)
  }

  @Test("Damage is an error, never a trap", arguments: ["json", "lz4", "zstd"])
  func damage(kind: String) throws {
    try expectNoTrap(Fixture.bytes("tiny-\(kind).mcap")) { path in
      var messages = try LogMessages(path: path, definitions: [:])
      while let message = try messages.next() { _ = try messages.value(of: message) }
    }
  }

  @Test("A few bytes cannot claim a chunk of half a gigabyte", arguments: ["", "lz4", "zstd"])
  func chunk(compression: String) throws {
    var record = [UInt8](repeating: 0, count: 16)
    record += little(UInt64(1) << 28) + little(UInt32(0))
    record += little(UInt32(compression.utf8.count)) + Array(compression.utf8)
    record += little(UInt64(8)) + [UInt8](repeating: 1, count: 8)
    try folder.write(
      McapReader.magic + [6] + little(UInt64(record.count)) + record, to: "claim.mcap")
    let before = residentBytes
    let error = recordingError {
      var reader = try McapReader(path: folder.path("claim.mcap"))
      _ = try reader.next()
    }
    #expect(error?.message.hasPrefix("a chunk of 8 bytes cannot become 268435456, at byte") == true)
    #expect(residentBytes - before < 100 << 20)
  }

  private func little(_ value: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) }
  }

  /// The peak resident memory of this process, bytes.
  private var residentBytes: Int {
    var usage = rusage()
    _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss << 10
  }
}
