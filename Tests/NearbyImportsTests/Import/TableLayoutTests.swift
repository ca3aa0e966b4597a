// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Logs that a layout describes")
struct TableLayoutTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A sample in short: time, peer, distance, sigma.
  private func samples(_ text: String, _ layout: String) throws -> (rows: [String], leftOut: Int) {
    try folder.write(text, to: "log")
    let layout = try TableLayout(json: Array(layout.utf8), file: "layout.json")
    var reader = try LayoutReader(path: folder.path("log"), layout)
    var rows: [String] = []
    while let row = try reader.next() {
      let sigma = row.distanceSigma.map { " \($0)" } ?? ""
      rows.append("\(row.timestamp.seconds) \(row.peer) \(row.distance ?? -1)\(sigma)")
    }
    return (rows, reader.leftOut.values.reduce(0, +))
  }

  static let anchors = """
    { "header": false, "lines": [ {
      "where": { "2": "DIST" }, "groups": { "start": 4, "size": 6, "count": 3 },
      "samples": [ { "timestamp": 1, "peer": "+2", "distance": "+6" } ] } ] }
    """

  @Test("Lines of DWM1001's lec: anchors that repeat in groups of columns")
  func groups() throws {
    let (rows, leftOut) = try samples(
      """
      10.5,DIST,2,AN0,1151,5.43,8.05,0.00,3.44,AN1,0CA8,0.00,8.05,0.00,6.51
      10.6,DIST,1,AN0,1151,5.43,8.05,0.00,3.45,POS,6.95,5.37,0.97,62
      10.7,POS,6.95,5.37,0.97,62
      10.8,DIST,0

      """, Self.anchors)
    #expect(rows == ["10.5 1151 3.44", "10.5 0CA8 6.51", "10.6 1151 3.45"])
    #expect(leftOut == 1)
  }

  @Test("Lines that begin with their kind, a variance, and a value that stands for nothing")
  func kinds() throws {
    let (rows, leftOut) = try samples(
      """
      odom2 0.5 1 0 0
      range2 0.5 3.25 0.04 1 2 7
      range2 0.6 -1 0.04 1 2 8
      gps 1700000000 50 12

      """,
      """
      { "delimiter": "blanks", "header": false, "lines": [ { "where": { "1": "range2" },
        "samples": [ { "timestamp": 2, "peer": 7, "distance": { "column": 3, "missing": -1 },
          "distance_sigma": { "column": 4, "unit": "m2" } } ] } ] }
      """)
    #expect(rows == ["0.5 7 3.25 0.2"])
    #expect(leftOut == 2)
  }

  @Test("A column for each anchor, in centimetres, with a header")
  func wide() throws {
    let (rows, _) = try samples(
      "time,d0,d1,tag\n1000,250,0,a\n2000,260,310,a\n3000,1,1,b\n",
      """
      { "lines": [ { "where": { "tag": ["a", "c"] }, "samples": [
        { "timestamp": { "column": "time", "unit": "ms" }, "peer": { "text": "A0" },
          "distance": { "column": "d0", "unit": "cm", "missing": [0] } },
        { "timestamp": "time", "peer": { "text": "A1" },
          "distance": { "column": "d1", "unit": "cm", "missing": [0] } } ] } ] }
      """)
    #expect(rows == ["1.0 A0 2.5", "2.0 A0 2.6", "2.0 A1 3.1"])
  }

  @Test("Pairs of radios, of which one is the device")
  func pairs() throws {
    let (rows, leftOut) = try samples(
      "timestamp,from_id,to_id,range,std\n0.1,10,20,4.5,0.1\n0.2,11,20,5.5,0.1\n0.5,10,21,6.5,0.1\n",
      """
      { "lines": [ { "where": { "from_id": 10 }, "samples": [
        { "timestamp": "timestamp", "peer": "to_id", "distance": "range",
          "distance_sigma": "std" } ] } ] }
      """)
    #expect(rows == ["0.1 20 4.5 0.1", "0.5 21 6.5 0.1"])
    #expect(leftOut == 1)
  }

  @Test("Without a number of groups they go on to the end of the line, and angles are turned")
  func uncounted() throws {
    try folder.write("2026-01-31T12:00:00Z;a;1.5;90;b;2.5;-90\n", to: "log")
    let layout = try TableLayout(
      json: Array(
        """
        { "delimiter": "semicolon", "header": false, "lines": [ {
          "groups": { "start": 2, "size": 3 }, "samples": [ { "timestamp": 1, "peer": "+1",
            "distance": "+2", "azimuth": { "column": "+3", "unit": "-deg" }, "rssi": "+2",
            "nlos": "+2" } ] } ] }
        """.utf8), file: "l")
    var reader = try LayoutReader(path: folder.path("log"), layout)
    #expect(reader.columns == [.rssi, .nonLineOfSight])
    let first = try #require(try reader.next())
    #expect(first.timestamp.nanoseconds == 1_769_860_800_000_000_000)
    #expect(first.azimuthRadians == -.pi / 2 && first.isNonLineOfSight == true)
    #expect(try reader.next()?.peer == "b")
    #expect(try reader.next() == nil)
  }

  @Test(
    "A number of groups that does not fit is an error with its column",
    arguments: ["3", "-1", "1.5", "x", ""])
  func badCount(count: String) throws {
    let error = recordingError {
      _ = try samples("10.5,DIST,\(count),AN0,1151,5.43,8.05,0.00,3.44\n", Self.anchors)
    }
    #expect(error?.file == folder.path("log"))
    #expect(error?.line == 1 && error?.column == 11, "\(error?.description ?? "none")")
  }

  @Test(
    "Layouts that make no sense",
    arguments: [
      ("[]", 1, "an array is not an object"), ("{ \"lins\": [] }", 1, "did you mean lines?"),
      ("{\n\"lines\": [] }", 2, "lines is empty"),
      ("{ \"delimiter\": \"dot\", \"lines\": [{}] }", 1, "comma, semicolon"),
      ("{ \"lines\": [{}] }", 1, "samples is missing"),
      ("{ \"lines\": [{ \"samples\": [{}] }] }", 1, "without timestamp, peer or a measurement"),
      ("{ \"lines\": [{ \"samples\": [{ \"distance\": 0 }] }] }", 1, "not a column"),
      ("{ \"lines\": [{ \"samples\": [{ \"distance\": {} }] }] }", 1, "neither column nor text"),
      (
        "{ \"lines\": [{ \"samples\": [{ \"distance\": { \"column\": 1, \"unit\": \"km\" } }] }] }",
        1,
        "\"km\" is unknown for distance"
      ),
      ("{ \"lines\": [{ \"groups\": { \"start\": 0, \"size\": 1 } }] }", 1, "lacks a start"),
      ("{ \"lines\": [{ \"where\": { \"1\": null } }] }", 1, "not a text or a number"),
      ("{ \"header\": 1, \"lines\": [{}] }", 1, "not true or false"),
      ("{ \"header\": true, \"header\": true }", 1, "appears twice"),
    ])
  func badLayouts(json: String, line: Int, said: String) {
    let error = recordingError { _ = try TableLayout(json: Array(json.utf8), file: "l.json") }
    #expect(error?.file == "l.json" && error?.line == line)
    #expect(error?.description.contains(said) == true, "\(error?.description ?? "none")")
  }

  @Test("A column that is not there is named")
  func unknownColumn() {
    let error = recordingError {
      _ = try samples(
        "time,d0\n1,2\n",
        "{ \"lines\": [{ \"samples\": [{ \"timestamp\": \"tim\", \"peer\": 1, \"distance\": 2 }] }] }"
      )
    }
    #expect(error?.message == "there is no column \"tim\"; did you mean \"time\"?")
    #expect(error?.line == 1)
  }

  @Test("A map and a column for each peer make a layout")
  func ofOptions() throws {
    try folder.write("t,d0,d1\n1700000000123,250,65535\n", to: "log")
    let map = try FieldMap(
      keys: FieldMap.rangingKeys, fields: ["timestamp=t"], units: ["distance=cm"],
      missing: ["distance=65535"])
    let layout = TableLayout(
      table: MappedTable(map: map), peerColumns: [("A0", "d0"), ("A1", "d1")])
    var reader = try LayoutReader(path: folder.path("log"), layout)
    let row = try #require(try reader.next())
    #expect(row.peer == "A0" && row.distance == 2.5)
    #expect(row.timestamp.nanoseconds == 1_700_000_000_123_000_000)
    #expect(try reader.next() == nil)
  }

  @Test("Damage of a log and of a layout is an error, never a trap")
  func damage() throws {
    let layout = try TableLayout(json: Array(Self.anchors.utf8), file: "l")
    try expectNoTrap(
      Array("10.5,DIST,2,AN0,1151,5.43,8.05,0.00,3.44,AN1,0CA8,0.00,8.05,0.00,6.51\n".utf8)
    ) {
      var reader = try LayoutReader(path: $0, layout)
      while try reader.next() != nil {}
    }
    let json = Array(Self.anchors.utf8)
    for length in json.indices {
      #expect(
        recordingError { _ = try TableLayout(json: Array(json[..<length]), file: "l") } != nil)
    }
    for index in json.indices {
      for flip in [0x01, 0x80, 0xFF] as [UInt8] {
        var damaged = json
        damaged[index] ^= flip
        let error = recordingError { _ = try TableLayout(json: damaged, file: "l") }
        #expect(error.map { $0.file == "l" && $0.line != nil } ?? true)
      }
    }
  }
}
