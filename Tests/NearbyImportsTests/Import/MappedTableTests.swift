// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Importing tables of any logger")
struct MappedTableTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func map(
    _ fields: [String], units: [String] = [], missing: [String] = []
  ) throws -> FieldMap {
    try FieldMap(keys: FieldMap.rangingKeys, fields: fields, units: units, missing: missing)
  }

  private func rows(
    _ text: String, _ table: MappedTable, peer: String? = nil
  ) throws -> [RangingRow] {
    try folder.write(text, to: "uwb")
    var reader = try MappedRangingReader(path: folder.path("uwb"), table, peer: peer)
    var rows: [RangingRow] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  @Test("Units, signs and values that were not measured")
  func units() throws {
    let map = try map(
      ["timestamp=time_ms", "distance=dist_cm", "azimuth=aoa", "peer=mac", "nlos=blocked"],
      units: ["timestamp=ms", "distance=cm", "azimuth=-deg", "distance_sigma=mm"],
      missing: ["distance=65535", "distance=-1"])
    let rows = try rows(
      """
      time_ms,mac,dist_cm,aoa,unknown,distance_sigma,rssi,blocked
      1700000000123.456789,"a,b",512,-90,x,150,-71.5,true
      1700000000323,c,65535,,x,,,
      1700000000523,c,-1,nan,x,,,0

      """, MappedTable(map: map))
    #expect(
      rows.map(\.timestamp.nanoseconds) == [
        1_700_000_000_123_456_789, 1_700_000_000_323_000_000, 1_700_000_000_523_000_000,
      ])
    #expect(rows.map(\.peer) == ["a,b", "c", "c"])
    #expect(rows.map(\.distance) == [5.12, nil, nil])
    #expect(rows.map(\.azimuthRadians) == [.pi / 2, nil, nil])
    #expect(rows.map(\.elevationRadians) == [nil, nil, nil])
    #expect(rows.map(\.distanceSigma) == [0.15, nil, nil])
    #expect(rows.map(\.rssi) == [-71.5, nil, nil])
    #expect(rows.map(\.isNonLineOfSight) == [true, nil, false])
    #expect(rows.map(\.line) == [2, 3, 4])
  }

  @Test(
    "Delimiters, and columns by number",
    arguments: [(MappedTable.Delimiter.semicolon, ";"), (.tab, "\t"), (.blanks, "   ")])
  func delimiters(delimiter: MappedTable.Delimiter, text: String) throws {
    let lines = ["1.5|7|2.5", "2.5|8|3.5"].map { $0.replacing("|", with: text) }
    let table = MappedTable(
      map: try map(["timestamp=1", "peer=2", "distance=3"]), delimiter: delimiter, hasHeader: false)
    let rows = try rows(lines.joined(separator: "\n"), table)
    #expect(rows.map(\.timestamp.seconds) == [1.5, 2.5])
    #expect(rows.map(\.peer) == ["7", "8"])
    #expect(rows.map(\.distance) == [2.5, 3.5])
  }

  @Test("A recording of a table and a table of poses, on two clocks")
  func wholeRecording() throws {
    try folder.write("time,range\n10,3\n9.5,4\n11,5\n", to: "uwb.csv")
    try folder.write(
      "t,x,y,z,a,b,c,d\n500000,1,2,3,0,0,0,1\n2000000,1,2,4,0,0,1,0\n", to: "poses.csv")
    let poses = try FieldMap(
      keys: FieldMap.poseKeys,
      fields: ["timestamp=t", "tx=x", "ty=y", "tz=z", "qx=a", "qy=b", "qz=c", "qw=d"],
      units: ["timestamp=us", "tz=cm"])
    var importer = RecordingImporter(
      trajectory: TrajectoryInput(
        path: folder.path("poses.csv"), format: .table(MappedTable(map: poses)),
        frames: ImportFrames(up: .z, axes: .camera)))
    var ranging = RangingInput(
      path: folder.path("uwb.csv"),
      format: .table(MappedTable(map: try map(["timestamp=time", "distance=range"])), peer: "keys"))
    ranging.offset = .seconds(-9)
    importer.ranging = ranging
    importer.options.name = "two clocks"
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.samples == 3)
    #expect(report.peers == ["keys"])
    #expect(
      try folder.text("out/ranging.csv") == """
        timestamp,peer,distance,azimuth,elevation
        1.000000,keys,3,,
        0.500000,keys,4,,
        2.000000,keys,5,,

        """)
    #expect(
      try folder.text("out/trajectory.txt") == """
        # timestamp tx ty tz qx qy qz qw
        0.500000 1 2 0.03 0 0 0 1
        2.000000 1 2 0.04 0 0 1 0

        """)
    let manifest = try RecordingReader(folder: folder.path("out")).manifest
    #expect(manifest.name == "two clocks")
    #expect(manifest.source == "imported from poses.csv and uwb.csv")
    #expect(manifest.frames == FrameConvention(up: .z, axes: .camera))
  }

  @Test("The ranging of another recording keeps its columns")
  func ownRanging() throws {
    let text = """
      timestamp,peer,distance,azimuth,elevation,azimuth_sigma,rssi,nlos
      100.000000,keys,3.25,0.5,-0.25,0.1,-70.5,1
      100.500000,bag,,,,,,

      """
    try folder.write(text, to: "ranging.csv")
    var importer = RecordingImporter(
      trajectory: TrajectoryInput(
        path: Fixture.path("walk.tum"), format: .tum, frames: ImportFrames()))
    importer.ranging = RangingInput(path: folder.path("ranging.csv"), format: .recording)
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.peers == ["keys", "bag"])
    #expect(try folder.text("out/ranging.csv") == text)
  }

  @Test(
    "Maps that make no sense",
    arguments: [
      (["distance"], [], [], "no \"=\""), (["range=d"], [], [], "unknown key \"range\""),
      (["distnce=d"], [], [], "did you mean distance?"), (["distance="], [], [], "nothing follows"),
      (["distance=a", "distance=b"], [], [], "mapped twice"),
      ([], ["distance=km"], [], "distance is in cm, m, mm"),
      ([], ["timestamp=h"], [], "s, ms, us, ns"),
      ([], ["peer=m"], [], "has no unit"), ([], [], ["distance=none"], "not a number"),
    ] as [([String], [String], [String], String)])
  func badMaps(fields: [String], units: [String], missing: [String], said: String) {
    let fault = #expect(throws: FieldMap.Fault.self) {
      try FieldMap(keys: FieldMap.rangingKeys, fields: fields, units: units, missing: missing)
    }
    #expect(fault?.description.contains(said) == true, "\(fault?.description ?? "none")")
  }

  @Test(
    "Tables that do not fit their map",
    arguments: [
      ("", RecordingError.Code.noSamples, nil), ("t,d\n", .missingColumn, 1),
      ("timestamp,peer\n", .missingColumn, 1), ("timestamp,distance\n", .missingColumn, 1),
      ("timestamp,peer,distance\n1,a\n", .wrongFieldCount, 2),
      ("timestamp,peer,distance\n1,a,2\n3,a,x\n", .malformedNumber, 3),
      ("timestamp,peer,distance\n,a,2\n", .malformedNumber, 2),
      ("timestamp,peer,distance,nlos\n1,a,2,maybe\n", .malformedField, 2),
    ] as [(String, RecordingError.Code, Int?)])
  func badTables(text: String, code: RecordingError.Code, line: Int?) throws {
    let error = recordingError { _ = try rows(text, MappedTable()) }
    #expect(error?.code == code)
    #expect(error?.line == line)
    #expect(error?.file == folder.path("uwb"))
  }

  @Test("A mapped column that is not there is named, with the one that was likely meant")
  func likelyColumn() throws {
    let error = recordingError {
      _ = try rows("timestamp,peer,dist\n", MappedTable(map: try map(["distance=dits"])))
    }
    #expect(error?.message == "there is no column \"dits\"; did you mean \"dist\"?")
  }

  @Test("Samples that are late by more than a second, or have no peer, are found in the source")
  func order() throws {
    for (text, code) in [
      ("10,a,1\n8.9,a,1\n", RecordingError.Code.timeWentBack), ("10,a,1\n11,,1\n", .emptyPeer),
    ] {
      try folder.write("timestamp,peer,distance\n" + text, to: "uwb")
      var importer = RecordingImporter(
        trajectory: TrajectoryInput(
          path: Fixture.path("walk.tum"), format: .tum, frames: ImportFrames()))
      importer.ranging = RangingInput(
        path: folder.path("uwb"), format: .table(MappedTable(), peer: nil))
      let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
      #expect(error?.code == code)
      #expect(error?.line == 3)
      #expect(error?.file == folder.path("uwb"))
    }
  }

  @Test("Rows are read whose columns hold the texts that are named")
  func filters() throws {
    var table = MappedTable(map: try map(["timestamp=t", "peer=to", "distance=d"]))
    table.filters = ["from": ["7", "8"], "ok": ["1"]]
    let text = "t,from,to,d,ok\n1,7,a,1,1\n2,9,a,2,1\n3,8,b,3,1\n4,7,b,4,0\n"
    #expect(try rows(text, table).map(\.distance) == [1, 3])
    var reader = try MappedRangingReader(path: folder.path("uwb"), table, peer: nil)
    while try reader.next() != nil {}
    #expect(reader.leftOut.values.reduce(0, +) == 2)
    table.filters = ["form": ["7"]]
    #expect(
      recordingError { _ = try rows(text, table) }?.message
        == "there is no column \"form\"; did you mean \"from\"?")
  }

  @Test(
    "Times in any unit, and in ISO 8601, without a word about it",
    arguments: [
      ("1700000000.5", 1_700_000_000_500_000_000), ("1700000000500", 1_700_000_000_500_000_000),
      ("1700000000500000", 1_700_000_000_500_000_000),
      ("1700000000500000001", 1_700_000_000_500_000_001),
      ("2023-11-14T22:13:20.5Z", 1_700_000_000_500_000_000),
    ] as [(String, Int64)])
  func times(text: String, nanoseconds: Int64) throws {
    let rows = try rows("timestamp,peer,distance\n\(text),a,1\n", MappedTable())
    #expect(rows.first?.timestamp.nanoseconds == nanoseconds)
  }

  @Test("A unit that is stated, or that the first time had, stays")
  func statedUnit() throws {
    let stated = MappedTable(map: try map([], units: ["timestamp=s"]))
    let text = "timestamp,peer,distance\n1700000000500,a,1\n"
    #expect(recordingError { _ = try rows(text, stated) }?.code == .malformedNumber)
    let mixed = "timestamp,peer,distance\n1,a,1\n1700000000500,a,1\n"
    #expect(recordingError { _ = try rows(mixed, MappedTable()) }?.line == 3)
  }

  private func poses(_ text: String, up: Vector3 = Vector3(0, 0, 1)) throws -> [PoseRow] {
    try folder.write(text, to: "poses")
    var reader = try MappedPoseReader(path: folder.path("poses"), MappedTable(), up: up)
    var rows: [PoseRow] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  @Test("Poses may lack an attitude, or have a heading, and a height")
  func partialPoses() throws {
    let places = try poses("timestamp,tx,ty,tz\n1,2,3,4\n")
    #expect(places.map(\.worldFromDevice.translation) == [Vector3(2, 3, 4)])
    #expect(places.map(\.worldFromDevice.rotation) == [.identity])
    let headings = try poses("timestamp,tx,ty,yaw\n1,2,3,1.5\n")
    #expect(headings.map(\.worldFromDevice.translation) == [Vector3(2, 3, 0)])
    let expected = Rotation(angleRadians: 1.5, about: Vector3(0, 0, 1))
    #expect((headings.first?.worldFromDevice.rotation.angle(to: expected) ?? 1) < 1e-12)
    for (text, said) in [
      ("timestamp,tx\n", "no column is mapped to ty"),
      ("timestamp,tx,ty,qx\n", "no column is mapped to qy"),
    ] {
      #expect(recordingError { _ = try poses(text) }?.message == said)
    }
  }

  @Test("Several tables are sorted by time, each in its own order")
  func severalTables() throws {
    try folder.write("timestamp,peer,distance\n100.5,a,1\n101.5,a,2\n", to: "a.csv")
    try folder.write("timestamp,peer,distance,rssi\n100.4,b,3,-70\n101.5,b,4,-71\n", to: "b.csv")
    var importer = RecordingImporter(
      trajectory: TrajectoryInput(
        path: Fixture.path("walk.tum"), format: .tum, frames: ImportFrames()))
    let inputs = ["a.csv", "b.csv"].map {
      RangingInput(path: folder.path($0), format: .table(MappedTable(), peer: nil))
    }
    importer.ranging = inputs[0]
    importer.moreRanging = [inputs[1]]
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.samples == 4 && report.peers == ["b", "a"])
    #expect(
      try folder.text("out/ranging.csv") == """
        timestamp,peer,distance,azimuth,elevation,rssi
        100.400000,b,3,,,-70
        100.500000,a,1,,,
        101.500000,a,2,,,
        101.500000,b,4,,,-71

        """)
  }

  @Test("Damage is an error, never a trap")
  func damage() throws {
    let map = try map(["azimuth=a"], units: ["timestamp=ns"])
    try expectNoTrap(
      Array("timestamp,peer,distance,a,nlos\n1403715273262142976,\"k\",1.5,0.1,1\n".utf8)
    ) {
      var reader = try MappedRangingReader(path: $0, MappedTable(map: map), peer: nil)
      while try reader.next() != nil {}
    }
  }

  @Test(
    "The size of an epoch time tells its unit",
    arguments: [
      (0.0, TimeUnit.seconds), (1.7e9, .seconds), (1.7e12, .milliseconds), (1.7e15, .microseconds),
      (1.7e18, .nanoseconds), (-1.7e12, .milliseconds), (nil, .seconds),
    ] as [(Double?, TimeUnit)])
  func units(number: Double?, unit: TimeUnit) { #expect(TableClock.unit(of: number) == unit) }
}
