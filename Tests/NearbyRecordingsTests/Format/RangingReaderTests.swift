// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct RangingReaderTests {
  static let header = TemporaryRecording.header

  private func read(
    _ text: String, peers: [String] = []
  ) throws -> (rows: [RangingRow], peers: [String], warnings: RecordingWarnings) {
    let recording = try TemporaryRecording(ranging: text)
    var reader = try RangingReader(path: recording.path + "/ranging.csv", peers: peers)
    var rows: [RangingRow] = []
    while let row = try reader.next() { rows.append(row) }
    #expect(try reader.next() == nil)
    #expect(reader.bytesRead == text.utf8.count && reader.totalBytes == text.utf8.count)
    return (rows, reader.peers, reader.warnings)
  }

  @Test(arguments: [
    "timestamp,peer,distance,azimuth,elevation\n1,a,2.5,,-0.25\n",
    "timestamp,peer,distance,azimuth,elevation\r\n1,a,2.5,,-0.25\r\n",
    "\u{FEFF}timestamp,peer,distance,azimuth,elevation\n1,a,2.5,,-0.25",
    "elevation,azimuth,distance,peer,timestamp\n-0.25,,2.5,a,1\n",
    "#timestamp, peer, distance, azimuth, elevation\n\n 1 , a , 2.5 , , -0.25 \n\n",
    "\"timestamp\",\"peer\",\"distance\",\"azimuth\",\"elevation\"\n\"1\",\"a\",\"2.5\",\"\",\"-0.25\"\n",
  ])
  func everyWayOfWritingTheSameIsRead(text: String) throws {
    let (rows, peers, warnings) = try read(text)
    let row = try #require(rows.first)
    #expect(rows.count == 1)
    #expect(row.timestamp == Timestamp(nanoseconds: 1_000_000_000))
    #expect(row.peer == "a" && row.peerIndex == 0)
    #expect(row.distance == 2.5)
    #expect(row.azimuthRadians == nil)
    #expect(row.elevationRadians == -0.25)
    #expect(peers == ["a"])
    #expect(warnings.isEmpty)
  }

  @Test("Fields in quotes are read as those without, wherever commas fall", arguments: 0..<9)
  func quotedFieldsAreReadAsPlainOnes(shift: Int) throws {
    let name = String(repeating: "n", count: shift + 1)
    let fields = (0..<60).map { row in
      ["\(row).\(row)", row % 3 == 0 ? name : "b\(row % 5)", "\(Double(row) / 7)", "", "-0.\(row)"]
    }
    let plain = fields.map { $0.joined(separator: ",") }
    let quoted = fields.map { $0.map { "\"\($0)\"" }.joined(separator: ",") }
    let ofPlain = try read(Self.header + plain.joined(separator: "\n"))
    let ofQuoted = try read(Self.header + quoted.joined(separator: "\n"))
    #expect(ofPlain.rows == ofQuoted.rows)
    #expect(ofPlain.peers == ofQuoted.peers)
    #expect(ofPlain.rows.map(\.peer) == fields.map { $0[1] })
    #expect(ofPlain.rows.map(\.distance) == fields.map { Double($0[2]) })
  }

  @Test func aRowKeepsTheNameAsItsLineWritesIt() throws {
    let names = ["caf\u{E9}", "cafe\u{301}", "\"a,b\"", "\"caf\u{E9}\""]
    let (rows, peers, _) = try read(
      Self.header + (0..<12).map { "\($0),\(names[$0 % 4]),1,," }.joined(separator: "\n"))
    #expect(peers == ["caf\u{E9}", "a,b"])
    #expect(rows.map(\.peerIndex) == (0..<12).map { [0, 0, 1, 0][$0 % 4] })
    let plain = ["caf\u{E9}", "cafe\u{301}", "a,b", "caf\u{E9}"]
    #expect(rows.map { Array($0.peer.utf8) } == (0..<12).map { Array(plain[$0 % 4].utf8) })
  }

  @Test func everyColumnIsRead() throws {
    let (rows, _, warnings) = try read(
      """
      timestamp,peer,distance,azimuth,elevation,distance_sigma,azimuth_sigma,elevation_sigma,\
      azimuth_fom,elevation_fom,rssi,nlos,height_difference,height_difference_sigma
      1,a,1,2,3,4,5,6,7,8,-9,1,-10.5,0.25
      2,a,,,,,,,,,,,,
      3,a,,,,,,,,,,False,,
      """)
    #expect(warnings.isEmpty)
    #expect(
      rows[0]
        == RangingRow(
          timestamp: Timestamp(nanoseconds: 1_000_000_000), peer: "a", distance: 1,
          azimuthRadians: 2, elevationRadians: 3, distanceSigma: 4, azimuthSigmaRadians: 5,
          elevationSigmaRadians: 6, azimuthFigureOfMerit: 7, elevationFigureOfMerit: 8, rssi: -9,
          isNonLineOfSight: true, heightDifference: -10.5, heightDifferenceSigma: 0.25, line: 2))
    #expect(
      rows[1]
        == RangingRow(timestamp: Timestamp(nanoseconds: 2_000_000_000), peer: "a", line: 3))
    #expect(rows[2].isNonLineOfSight == false)
  }

  @Test func valuesThatMeanNothingArePassedOn() throws {
    let (rows, _, _) = try read(
      Self.header + "0,a,nan,inf,-inf\n0,a,-3,99,-99\n0,a,1e300,NaN,\n")
    #expect(rows[0].distance?.isNaN == true)
    #expect(rows[0].azimuthRadians == .infinity && rows[0].elevationRadians == -.infinity)
    #expect(rows[1].distance == -3 && rows[1].azimuthRadians == 99)
    #expect(rows[2].distance == 1e300 && rows[2].azimuthRadians?.isNaN == true)
  }

  @Test func unknownColumnsWarnOnce() throws {
    let (rows, _, warnings) = try read(
      "timestamp,colour,peer,distance,azimuth,elevation,\n0,red,a,1,,,x\n0,blue,a,2,,,\n")
    #expect(rows.map(\.distance) == [1, 2])
    #expect(
      warnings.kept.map(\.description) == [
        "ranging.csv:1:11: unknown column \"colour\" is ignored",
        "ranging.csv:1:50: unknown column \"\" is ignored",
      ])
  }

  @Test func quotedNamesKeepCommasAndQuotes() throws {
    let (rows, peers, _) = try read(Self.header + "0,\"a,b \"\"c\"\"\",1,,\n0,Zoë,2,,\n")
    #expect(peers == ["a,b \"c\"", "Zoë"])
    #expect(rows.map(\.peer) == peers)
  }

  @Test func undeclaredPeersFollowTheDeclared() throws {
    let (rows, peers, warnings) = try read(
      Self.header + "0,x,1,,\n1,b,1,,\n2,y,1,,\n3,x,1,,\n", peers: ["a", "b"])
    #expect(peers == ["a", "b", "x", "y"])
    #expect(rows.map(\.peerIndex) == [2, 1, 3, 2])
    #expect(warnings.count(of: .undeclaredPeer) == 2)
    #expect(
      warnings.kept.first?.description
        == "ranging.csv:2: peer \"x\" is not in recording.json; taken as stationary")
  }

  @Test(arguments: [
    ("", RecordingError.Code.noSamples, "ranging.csv: the file is empty; the first line must name"),
    ("\n \n", .noSamples, "ranging.csv: the file is empty"),
    (header, .noSamples, "ranging.csv: holds no samples; "),
    (
      "timestamp,peer,azimuth\n", .missingColumn,
      "ranging.csv:1: the header lacks columns \"distance\", \"elevation\"; "
    ),
    (
      "1,a,2,,\n", .missingColumn,
      "ranging.csv:1: the header lacks columns \"timestamp\", \"peer\", \"distance\""
    ),
    (
      "timestamp;peer;distance;azimuth;elevation\n", .missingColumn,
      "ranging.csv:1: the header lacks columns \"timestamp\""
    ),
    (
      "timestamp,peer,distance,azimuth,elevation,peer\n", .duplicateColumn,
      "ranging.csv:1:43: column \"peer\" appears twice"
    ),
    (
      header + "0,a,1,,\n0,a,abc,,\n", .malformedNumber,
      "ranging.csv:3:5: distance \"abc\" is not a number; write a decimal number or leave the field empty"
    ),
    (
      header + "0,a,1,,0x1\n", .malformedNumber,
      "ranging.csv:2:8: elevation \"0x1\" is not a number"
    ),
    (
      header + "0,a,1,2\n", .wrongFieldCount,
      "ranging.csv:2: the row has 4 fields, the header has 5; complete"
    ),
    (
      header + "0,a,1,2,3,4\n", .wrongFieldCount,
      "ranging.csv:2: the row has 6 fields, the header has 5; remove"
    ),
    (
      header + "0,a,1,,\n0.5", .wrongFieldCount,
      "ranging.csv:3: the row has 1 field, the header has 5"
    ),
    (header + "0,,1,,\n", .emptyPeer, "ranging.csv:2:3: peer is empty; "),
    (header + "0, ,1,,\n", .emptyPeer, "ranging.csv:2:4: peer is empty; "),
    (header + "0,\"\",1,,\n", .emptyPeer, "ranging.csv:2:4: peer is empty; "),
    (
      header + ",a,1,,\n", .malformedNumber,
      "ranging.csv:2:1: the timestamp is empty; write seconds"
    ),
    (
      header + "x,a,1,,\n", .malformedNumber,
      "ranging.csv:2:1: timestamp \"x\" is not a finite number"
    ),
    (
      header + "inf,a,1,,\n", .malformedNumber, "ranging.csv:2:1: timestamp \"inf\" is not a finite"
    ),
    (
      header + "1e18,a,1,,\n", .valueOutOfRange,
      "ranging.csv:2:1: timestamp \"1e18\" is beyond 4.6e9 s"
    ),
    (header + "0,\"a,1,,\n", .malformedField, "ranging.csv:2:3: a quote is not closed"),
    (
      header + "0,\"a\"b,1,,\n", .malformedField,
      "ranging.csv:2:6: there is text after a closing quote"
    ),
    (
      "timestamp,peer,distance,azimuth,elevation,nlos\n0,a,1,,,2\n", .malformedField,
      "ranging.csv:2:9: nlos \"2\" is neither true nor false"
    ),
    (
      header + "10,a,1,,\n8.75,a,1,,\n", .timeWentBack,
      "ranging.csv:3:1: time goes back by 1.25 s; rows may be out of order by up to a second"
    ),
    (
      header + "10,a,1,,\n11,b,1,,\n9.999999999,a,1,,\n", .timeWentBack,
      "ranging.csv:4:1: time goes back by 1.000000001 s"
    ),
  ])
  func faultsAreLocated(text: String, code: RecordingError.Code, message: String) throws {
    let error = #expect(throws: RecordingError.self) { try read(text) }
    let description = error?.description ?? ""
    #expect(error?.code == code)
    #expect(description.hasPrefix(message), "\(description)")
  }

  @Test func textInUTF16IsNamed() throws {
    let recording = try TemporaryRecording()
    let path = recording.path + "/utf16.csv"
    try Self.header.write(toFile: path, atomically: true, encoding: .utf16)
    let error = #expect(throws: RecordingError.self) { _ = try RangingReader(path: path) }
    #expect(error?.description == "ranging.csv:1: the file is UTF-16; save it as UTF-8")
  }

  @Test func rowsExactlyASecondLateAreReadInOrder() throws {
    let (rows, _, _) = try read(Self.header + "9,a,1,,\n10,a,2,,\n9,a,3,,\n9.5,a,4,,\n10,a,5,,\n")
    #expect(rows.map(\.distance) == [1, 3, 4, 2, 5])
  }

  /// Rows that are less than a second out of order are read as a stable sort would order them.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func displacedRowsComeOutInTimeOrder(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let rate = [3.0, 30, 300][Int(seed % 3)]
    // Each row arrives up to 0.99 s after its stamp; equal stamps occur, as stamps are coarse.
    let rows = (0..<1_000).map { index in
      let stamp = (Double(index) / rate * 100).rounded(.down) / 100
      return (stamp: stamp, arrival: stamp + Double.random(in: 0..<0.99, using: &generator))
    }.sorted { $0.arrival < $1.arrival }
    let text = rows.enumerated().map { "\($1.stamp),p\($0 % 7),\($0),,\n" }.joined()
    let expected = rows.enumerated().sorted {
      ($0.element.stamp, $0.offset) < ($1.element.stamp, $1.offset)
    }
    let read = try read(Self.header + text)
    #expect(read.rows.map(\.distance) == expected.map { Double($0.offset) })
    #expect(read.rows.map(\.line) == expected.map { $0.offset + 2 })
  }

  /// A second with more rows than the buffer holds is read if it is in order, and refused
  /// otherwise.
  @Test func crowdedSecondsAreReadInOrderOnly() throws {
    let count = RangingReader.reorderingCapacity + 5_000
    let rows = (0..<count).map { "1.\(100_000 + $0),a,\($0),,\n" }.joined()
    #expect(try read(Self.header + rows).rows.map(\.distance) == (0..<count).map(Double.init))
    let error = #expect(throws: RecordingError.self) {
      try read(Self.header + rows + "1.1000001,a,0,,\n")
    }
    #expect(error?.code == .timeWentBack)
    #expect(error?.remedy.hasPrefix("there are over 16384 rows in a second") == true)
  }
}
