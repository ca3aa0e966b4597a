// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite("tdoa.csv")
struct DifferenceReaderTests {
  static let header = "timestamp,anchor_a,anchor_b,difference,sigma\n"

  private func read(
    _ text: String, anchors: [String]? = nil
  ) throws -> (rows: [DifferenceRow], warnings: RecordingWarnings) {
    let recording = try TemporaryRecording(others: ["tdoa.csv": text])
    var reader = try DifferenceReader(path: recording.path + "/tdoa.csv", anchors: anchors)
    var rows: [DifferenceRow] = []
    while let row = try reader.next() { rows.append(row) }
    return (rows, reader.warnings)
  }

  @Test func rowsAreReadInTimeOrderAndNoneIsLost() throws {
    let rows = try read(
      Self.header
        + """
        1,north,"a, b",-2.5,0.2
        0.5,north,south,3,
        1,north,"a, b",-2.5,0.2
        3,south,north,1e1,
        """
    ).rows
    #expect(rows.map(\.metres) == [3, -2.5, -2.5, 10])
    #expect(rows.map(\.from) == ["north", "north", "north", "south"])
    #expect(rows.map(\.to) == ["south", "a, b", "a, b", "north"])
    #expect(rows.map(\.sigma) == [nil, 0.2, 0.2, nil])
    #expect(rows.map(\.line) == [3, 2, 4, 5])
    #expect(rows[0].timestamp == Timestamp(nanoseconds: 500_000_000))
  }

  @Test func theSigmaMayBeMissingAndColumnsBeInAnyOrder() throws {
    let rows = try read("difference,anchor_b,anchor_a,timestamp\n-1,b,a,7\n").rows
    #expect(rows.count == 1 && rows[0].from == "a" && rows[0].to == "b" && rows[0].sigma == nil)
  }

  @Test func anAnchorThatTheMapLacksIsAWarning() throws {
    let text = Self.header + "0,a,b,1,\n1,a,c,1,\n2,c,b,1,\n"
    #expect(try read(text).warnings.isEmpty)
    let warnings = try read(text, anchors: ["a", "b"]).warnings
    #expect(warnings.count(of: .undeclaredPeer) == 1)
    #expect(
      warnings.kept[0].description
        == "tdoa.csv:3: anchor \"c\" is not in the map; it is located, too")
  }

  @Test(arguments: [
    ("", RecordingError.Code.noSamples, "tdoa.csv: the file is empty"),
    (header, .noSamples, "tdoa.csv: holds no range differences"),
    (
      "timestamp,anchor_a,difference\n", .missingColumn,
      "tdoa.csv:1: the header lacks column \"anchor_b\""
    ),
    (header + "x,a,b,1,\n", .malformedNumber, "tdoa.csv:2:1: timestamp \"x\""),
    (header + "0,,b,1,\n", .emptyPeer, "tdoa.csv:2:3: anchor_a is empty"),
    (header + "0,a,a,1,\n", .malformedField, "tdoa.csv:2:5: anchor_b \"a\" is also anchor_a"),
    (header + "0,a,b,,\n", .missingValue, "tdoa.csv:2:7: difference is empty; write metres"),
    (header + "0,a,b,nan,\n", .notFinite, "tdoa.csv:2:7: difference \"nan\" is not finite"),
    (header + "0,a,b,one,\n", .malformedNumber, "tdoa.csv:2:7: difference \"one\" is not"),
    (header + "0,a,b,1,0\n", .valueOutOfRange, "tdoa.csv:2:9: sigma \"0\" is no standard"),
    (header + "0,a,b,1,nan\n", .notFinite, "tdoa.csv:2:9: sigma \"nan\" is no standard"),
    (header + "0,a,b,1\n", .wrongFieldCount, "tdoa.csv:2: the row has 4 fields"),
    (
      header + "5,a,b,1,\n3.5,a,b,1,\n", .timeWentBack,
      "tdoa.csv:3:1: time goes back by 1.5 s; rows may be out of order by up to a second"
    ),
  ])
  func faultsAreLocated(text: String, code: RecordingError.Code, start: String) throws {
    let error = #expect(throws: RecordingError.self) { try self.read(text) }
    #expect(error?.code == code)
    #expect(error?.description.hasPrefix(start) == true, "\(error?.description ?? "")")
  }

  @Test func whatIsWrittenIsReadBack() throws {
    let folder = try TemporaryFolder()
    var manifest = RecordingManifest(name: "downlink")
    manifest.differences.sigma = 0.14
    manifest.differences.clocks = .free
    let rows = [
      DifferenceRow(
        timestamp: Timestamp(nanoseconds: 1_000_000_000), from: "a", to: "b, c", metres: -1.25,
        sigma: 0.3),
      DifferenceRow(
        timestamp: Timestamp(nanoseconds: 1_500_000_000), from: "b, c", to: "a", metres: 7),
    ]
    var writer = try RecordingWriter(path: folder.path("r"), manifest: manifest)
    try writer.append(
      PoseRow(timestamp: Timestamp(nanoseconds: 0), worldFromDevice: .identity))
    for row in rows { try writer.append(row) }
    #expect(throws: RecordingError.self) {
      try writer.append(
        DifferenceRow(
          timestamp: Timestamp(nanoseconds: 2_000_000_000), from: "a", to: "d", metres: .nan))
    }
    let map = PeerMap(
      peers: [PeerMap.Peer(name: "a", positionInWorld: Vector3(1, 2, 3))],
      covariance: (0..<25).map { $0 % 6 == 0 ? 0.01 : 0 })
    try writer.write(anchors: map, up: .z)
    try writer.finish()
    let recording = try RecordingReader(folder: folder.path("r"))
    #expect(recording.manifest == manifest)
    #expect(recording.hasDifferences)
    var reader = try recording.differences()
    var read: [DifferenceRow] = []
    while var row = try reader?.next() {
      row.line = 0
      read.append(row)
    }
    #expect(read == rows)
    let anchors = try #require(try recording.anchorMap(FusionConfiguration()))
    #expect((anchors.peers[0].positionInWorld - Vector3(1, 2, 3)).length < 1e-12)
    // Ranges are none, and that is no fault here.
    var stream = try recording.events()
    var events = 0
    while try stream.next() != nil { events += 1 }
    #expect(events == 1)
  }
}
