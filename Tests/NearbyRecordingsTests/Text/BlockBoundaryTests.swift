// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

/// Reads lines across the end of the buffer.
@Suite("Lines across blocks")
struct BlockBoundaryTests {
  private static let pose = "1403636579.758555584 1.25 -2.5 3e-3 0.5 -0.5 0.5 -0.5"
  private static let row = "1403636579.758555584,\"a \"\"b\"\"\",12.345678,-0.25,,0.125"

  /// How a file ends its lines, and whether its last line is ended.
  static let endings = [("\n", true), ("\r\n", true), ("\n", false), ("\r\n", false)]

  /// Blanks up to a position that is `offset` bytes before the end of the buffer.
  private func padding(_ offset: Int, after header: String, _ ending: String) -> String {
    let used = header.utf8.count + ending.utf8.count
    return header
      + String(repeating: " ", count: LineReader.bufferSize - used - offset) + ending
  }

  @Test(arguments: endings)
  func posesAreReadWhereverTheyAreCut(ending: String, isEnded: Bool) throws {
    let recording = try TemporaryRecording()
    for offset in 0...Self.pose.utf8.count + 2 {
      let text = padding(offset, after: "", ending) + Self.pose + (isEnded ? ending : "")
      try recording.write(text, to: "trajectory.txt")
      var reader = try RecordingReader(folder: recording.path).trajectory()
      let pose = try #require(try reader.next())
      #expect(pose.timestamp.nanoseconds == 1_403_636_579_758_555_584, "cut at \(offset)")
      #expect(pose.worldFromDevice.translation == Vector3(1.25, -2.5, 0.003), "cut at \(offset)")
      #expect(pose.worldFromDevice.rotation.w == -0.5 && pose.line == 2, "cut at \(offset)")
      #expect(try reader.next() == nil)
    }
  }

  @Test(arguments: endings)
  func rowsAreReadWhereverTheyAreCut(ending: String, isEnded: Bool) throws {
    let header = "timestamp,peer,distance,azimuth,elevation,rssi" + ending
    let recording = try TemporaryRecording()
    for offset in 0...Self.row.utf8.count + 2 {
      let text = padding(offset, after: header, ending) + Self.row + (isEnded ? ending : "")
      try recording.write(text, to: "ranging.csv")
      var reader = try RecordingReader(folder: recording.path).ranging()
      let row = try #require(try reader.next())
      #expect(
        row
          == RangingRow(
            timestamp: Timestamp(nanoseconds: 1_403_636_579_758_555_584), peer: "a \"b\"",
            distance: 12.345678, azimuthRadians: -0.25, rssi: 0.125, line: 3), "cut at \(offset)")
      #expect(try reader.next() == nil)
    }
  }

  /// A line that just fits, a line that does not, and a number of a hundred thousand digits.
  @Test func hugeLinesAreReadOrRefused() throws {
    let recording = try TemporaryRecording()
    func firstPose(_ text: String) throws -> PoseRow? {
      try recording.write(text, to: "trajectory.txt")
      var reader = try RecordingReader(folder: recording.path).trajectory()
      return try reader.next()
    }
    let room = LineReader.bufferSize - Self.pose.utf8.count
    let blanks = String(repeating: " ", count: room - 1)
    #expect(try firstPose(blanks + Self.pose + "\n")?.line == 1)
    let error = #expect(throws: RecordingError.self) {
      try firstPose(blanks + "  " + Self.pose + "\n")
    }
    #expect(error?.code == .lineTooLong)
    let third = "0." + String(repeating: "3", count: 100_000)
    #expect(
      try firstPose("0 \(third) 0 0 0 0 0 1")?.worldFromDevice.translation.x == 1.0 / 3)
  }

  /// The buffer of a small file is small, and grows when the file grows.
  @Test func filesMayGrowWhileTheyAreRead() throws {
    let recording = try TemporaryRecording()
    try recording.write("first\nbe", to: "log.txt")
    let path = recording.path + "/log.txt"
    var reader = try LineReader(path: path, file: "log.txt")
    let more = try #require(FileHandle(forWritingAtPath: path))
    try more.seekToEnd()
    try more.write(contentsOf: Data((String(repeating: "g", count: 100_000) + "in\nlast").utf8))
    try more.close()
    var lines: [String] = []
    while let line = try reader.next() {
      lines.append(String(decoding: reader.buffer[line], as: UTF8.self))
    }
    #expect(lines.map(\.utf8.count) == [5, 100_004, 4])
    #expect(lines.last == "last")
  }

  @Test func batchesHoldTheEventsInTheirOrder() throws {
    let poses = (0..<700).map { "\($0) \($0) 0 0 0 0 0 1\n" }.joined()
    let rows = (0..<350).map { "\(2 * $0).5,p\($0 % 3),\($0),,\n" }.joined()
    let tracking = (0..<70).map { "\(10 * $0),limited,,\($0)\n" }.joined()
    let recording = try TemporaryRecording(
      trajectory: poses, ranging: TemporaryRecording.header + rows,
      others: ["tracking.csv": "timestamp,state,reason,ambient_intensity\n" + tracking])
    let reader = try RecordingReader(folder: recording.path)
    var single = try reader.events()
    var packed = try reader.events()
    var batch = EventBatch()
    var count = 0
    repeat {
      try packed.read(into: &batch)
      var (poses, samples, rows) = (
        batch.poses.makeIterator(), batch.tracking.makeIterator(), batch.ranging.makeIterator()
      )
      for kind in batch.kinds {
        let event: RecordingEvent? =
          switch kind {
          case .pose: poses.next().map(RecordingEvent.pose)
          case .tracking: samples.next().map(RecordingEvent.tracking)
          case .ranging: rows.next().map(RecordingEvent.ranging)
          }
        #expect(try event == single.next())
        count += 1
      }
    } while !batch.kinds.isEmpty
    #expect(count == 1120)
    #expect(try single.next() == nil)
  }

  /// Names that are recognised by their bytes are correct, in any order and spelling.
  @Test func peersAreRecognisedInAnyOrder() throws {
    var generator = SeededGenerator(seed: 5)
    let long = "a peer whose name is longer than any small string"
    // Composed and decomposed spellings, which Swift compares as equal, with and without quotes.
    let spellings = [
      ("a", "a", 0), ("\"a\"", "a", 0), ("b", "b", 1), ("bb", "bb", 2), (long, long, 3),
      ("\"a \"\"b\"\"\"", "a \"b\"", 4), ("\u{E9}", "\u{E9}", 5), ("e\u{301}", "e\u{301}", 5),
    ]
    var text = TemporaryRecording.header
    var expected: [(name: String, index: Int)] = []
    func add(_ place: Int) {
      text += "\(expected.count),\(spellings[place].0),1,,\n"
      expected.append((spellings[place].1, spellings[place].2))
    }
    for place in spellings.indices { add(place) }
    for _ in 0..<20 { for place in spellings.indices { add(place) } }
    for _ in 0..<200 { add(Int.random(in: spellings.indices, using: &generator)) }
    let recording = try TemporaryRecording(ranging: text)
    var reader = try RecordingReader(folder: recording.path).ranging()
    for (name, index) in expected {
      let row = try #require(try reader.next())
      // By bytes: strings that differ only in composition are equal.
      #expect(Array(row.peer.utf8) == Array(name.utf8) && row.peerIndex == index)
    }
    #expect(reader.peers.count == 6)
  }
}
