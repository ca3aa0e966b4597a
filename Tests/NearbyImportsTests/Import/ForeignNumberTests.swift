// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

/// Numbers, times and lines as loggers and spreadsheets write them.
@Suite("Numbers of foreign files")
struct ForeignNumberTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The samples of a table, and what the reader has to say of it.
  private func read(
    _ text: String, fields: [String] = [], units: [String] = [],
    delimiter: MappedTable.Delimiter = .comma
  ) throws -> (rows: [RangingRow], findings: [RecordingFinding]) {
    try folder.write(text, to: "uwb")
    let map = try FieldMap(keys: FieldMap.rangingKeys, fields: fields, units: units)
    var reader = try MappedRangingReader(
      path: folder.path("uwb"), MappedTable(map: map, delimiter: delimiter), peer: "a")
    var rows: [RangingRow] = []
    while let row = try reader.next() { rows.append(row) }
    return (rows, reader.findings)
  }

  @Test(
    "a number may have a decimal comma and a unit",
    arguments: [
      ("2.5", 2.5, nil), ("2,5", 2.5, nil), ("-2,5", -2.5, nil), ("2.72m", 2.72, "m"),
      ("272 cm", 272, "cm"), ("2,72 m", 2.72, "m"), ("1e-3km", 1e-3, "km"), ("3°", 3, "°"),
      ("0x0110", 272, nil), ("0XfF", 255, nil),
    ] as [(String, Double, String?)])
  func numbers(text: String, number: Double, unit: String?) {
    let bytes = Array(text.utf8)
    let found = ForeignNumber.parse(bytes.span, bytes.indices)
    #expect(found == ForeignNumber(number: number, unit: unit))
  }

  @Test(
    "what is no number stays an error",
    arguments: ["", "m", "1.234,5", "1,2,3", "-", "2..5", "ten", "x10"])
  func noNumbers(text: String) {
    let bytes = Array(text.utf8)
    #expect(ForeignNumber.parse(bytes.span, bytes.indices) == nil)
  }

  @Test("a unit behind a number counts instead of the stated one")
  func unitsInValues() throws {
    let rows = try read("timestamp,distance\n1,2.72m\n2,272cm\n3,2720\n", units: ["distance=mm"])
      .rows
    #expect(rows.map(\.distance) == [2.72, 2.72, 2.72])
    let error = #expect(throws: RecordingError.self) {
      try read("timestamp,distance\n1,2.72ft\n")
    }
    #expect(error?.code == .malformedNumber && error?.line == 2)
    #expect(error?.remedy.contains("cm, m, mm") == true)
  }

  @Test("decimal commas, in values and in times")
  func decimalCommas() throws {
    let rows = try read(
      "Zeit;Abstand\n1000,0303;272,5\n1000,5;300\n",
      fields: ["timestamp=Zeit", "distance=Abstand"],
      units: ["distance=cm"], delimiter: .semicolon
    ).rows
    #expect(rows.map(\.timestamp.nanoseconds) == [1_000_030_300_000, 1_000_500_000_000])
    #expect(rows.map(\.distance) == [2.725, 3])
  }

  @Test(
    "the name of a column tells its unit, unless another one is stated",
    arguments: [
      ("timestamp,Distance (mm)", [], 2.5), ("timestamp,dist_cm", ["distance=dist_cm"], 25),
      ("timestamp,distance [m]", [], 2500), ("timestamp,distance_mm", [], 2.5),
    ] as [(String, [String], Double)])
  func unitsOfColumns(header: String, fields: [String], distance: Double) throws {
    let (rows, findings) = try read("\(header)\n1,2500\n", fields: fields)
    #expect(rows.map(\.distance) == [distance])
    #expect(findings.count == (distance == 2500 ? 0 : 1))
    let column = header.split(separator: ",")[1]
    let stated = try read(
      "\(header)\n1,2500\n", fields: ["distance=\(column)"], units: ["distance=m"])
    #expect(stated.rows.map(\.distance) == [2500] && stated.findings.isEmpty)
  }

  @Test("a counter of 32 bits goes on when it wraps, and a time of day after midnight")
  func wraps() throws {
    let (rows, findings) = try read(
      // The fourth is late, from before the wrap.
      "time_us,distance\n4294900000,1\n4294967290,2\n27455,3\n4294967295,4\n30000,5\n",
      fields: ["timestamp=time_us"])
    #expect(
      rows.map(\.timestamp.nanoseconds) == [
        4_294_900_000_000, 4_294_967_290_000, 4_294_994_751_000, 4_294_967_295_000,
        4_294_997_296_000,
      ])
    #expect(findings.map(\.kind) == [.chosen, .clockWraps])
    let night = try read("timestamp,distance\n23:59:59.5,1\n0:00:00.25,2\n00:00:01,3\n")
    #expect(night.rows.map(\.timestamp.seconds) == [86_399.5, 86_400.25, 86_401])
    #expect(night.findings.map(\.kind) == [.clockWraps])
  }

  @Test("a clock that goes back elsewhere has not wrapped")
  func noWraps() throws {
    let (rows, findings) = try read(
      "timestamp,distance\n3000000000,1\n1000,2\n", units: ["timestamp=us"])
    #expect(rows.map(\.timestamp.seconds) == [3000, 0.001] && findings.isEmpty)
  }

  @Test("lines of JSON are read by the paths of their values")
  func jsonLines() throws {
    let rows = try read(
      """
      {"utime": 1.5, "raz": [2.72, null], "of": {"id": "x"}, "note": "a \\"b\\", c"}
      {"note": "", "of": {"id": "y"}, "raz": [3.5, 0.25], "utime": 2.5}
      {"utime": 3, "of": {"id": "z"}}

      """, fields: ["timestamp=utime", "distance=raz[0]", "azimuth=raz[1]", "peer=of.id"]
    ).rows
    #expect(rows.map(\.timestamp.seconds) == [1.5, 2.5, 3])
    #expect(rows.map(\.peer) == ["x", "y", "z"])
    #expect(rows.map(\.distance) == [2.72, 3.5, nil])
    #expect(rows.map(\.azimuthRadians) == [nil, 0.25, nil])
    let error = #expect(throws: RecordingError.self) {
      try read(
        "{\"t\": 1, \"d\": 2}\n{\"t\": 2, \"d\": [1, 2}\n", fields: ["timestamp=t", "distance=d"])
    }
    #expect(error?.line == 2)
  }

  @Test("samples of several devices are seen, unless one of them is chosen")
  func devices() throws {
    let text = "timestamp,tag,distance\n1,7,2\n2,9,3\n3,7,2\n"
    #expect(try read(text).findings.map(\.kind) == [.severalDevices])
    #expect(try read(text, fields: ["peer=tag"]).findings.isEmpty)
    #expect(try read(text.replacing("9", with: "7")).findings.isEmpty)
    var table = MappedTable()
    table.filters = ["tag": ["7"]]
    var reader = try MappedRangingReader(path: folder.path("uwb"), table, peer: "a")
    while try reader.next() != nil {}
    #expect(reader.findings.isEmpty)
  }

  @Test("a name between blanks ends before the comma behind it")
  func names() throws {
    let rows = try read(
      "time from: peer range\n1 from: 1A, 2.72m\n", fields: ["timestamp=time", "distance=range"],
      delimiter: .blanks
    ).rows
    #expect(rows.map(\.peer) == ["1A"] && rows.map(\.distance) == [2.72])
  }

  @Test("a rotation vector and a first column without a name")
  func rotationVectors() throws {
    try folder.write("\tTX\tTY\tTZ\tRX\tRY\tRZ\n0.5\t1000\t2000\t0\t0\t90\t0\n", to: "poses")
    let map = try FieldMap(
      keys: FieldMap.poseKeys,
      fields: ["timestamp=1", "tx=TX", "ty=TY", "tz=TZ", "rx=RX", "ry=RY", "rz=RZ"],
      units: ["tx=mm", "ty=mm", "tz=mm", "rx=deg", "ry=deg", "rz=deg"])
    var reader = try MappedPoseReader(
      path: folder.path("poses"), MappedTable(map: map, delimiter: .tab), up: Vector3(0, 1, 0))
    let pose = try #require(try reader.next())
    #expect(pose.timestamp.seconds == 0.5)
    #expect((pose.worldFromDevice.translation - Vector3(1, 2, 0)).length < 1e-12)
    let expected = Rotation(angleRadians: .pi / 2, about: Vector3(0, 1, 0))
    #expect(pose.worldFromDevice.rotation.angle(to: expected) < 1e-9)
  }

  @Test("a world whose z points down becomes one whose z points up")
  func zDown() {
    let frames = ImportFrames(up: .zDown, axes: .ros)
    #expect(frames.recorded.up == .z)
    #expect((frames.recordedPlace(Vector3(1, 2, 3)) - Vector3(1, -2, -3)).length < 1e-12)
  }
}
