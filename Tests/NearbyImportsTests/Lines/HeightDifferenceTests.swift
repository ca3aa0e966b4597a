// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Height differences in files")
struct HeightDifferenceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let ranging = """
    timestamp,peer,distance,azimuth,elevation,height_difference,height_difference_sigma
    0.000000,keys,3,,,-2.5,0.1
    0.100000,keys,3.1,,,,
    0.200000,keys,,,,nan,-1
    0.300000,keys,3.2,,,1e300,inf
    0.400000,keys,,,,1.25,

    """

  private func recording(_ text: String = ranging) throws -> RecordingReader {
    try folder.write(TemporaryRecording.manifest, to: "in/recording.json")
    try folder.write("0 0 0 0 0 0 0 1\n1 0 0 0 0 0 0 1\n", to: "in/trajectory.txt")
    try folder.write(text, to: "in/ranging.csv")
    return try RecordingReader(folder: folder.path("in"))
  }

  private func rows(_ recording: RecordingReader) throws -> [RangingRow] {
    var reader = try recording.ranging()
    var rows: [RangingRow] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  @Test("They reach the engine's sample unchanged, those that mean nothing, too")
  func sample() throws {
    let rows = try rows(recording())
    #expect(rows.map(\.heightDifference?.description) == ["-2.5", nil, "nan", "1e+300", "1.25"])
    #expect(rows.map(\.heightDifferenceSigma) == [0.1, nil, -1, .infinity, nil])
    var engine = try FusionEngine(FusionConfiguration())
    let sample = rows[0].sample(of: engine.addPeer(.stationary))
    #expect(sample.heightDifference == -2.5 && sample.heightDifferenceSigma == 0.1)
    #expect(sample.distance == 3 && sample.elevationRadians == nil)
  }

  @Test("A recording goes out as JSON lines and comes in the same")
  func lines() throws {
    let written = try LinesExporter(recording()).export(to: folder.path("lines"))
    #expect(written.lines == 1 + 2 + 5)
    let text = try folder.text("lines")
    #expect(text.contains(#""height_difference":-2.5,"height_difference_sigma":0.1}"#))
    #expect(text.contains(#""height_difference":"nan","height_difference_sigma":-1.0}"#))
    var importer = LinesImporter(path: folder.path("lines"))
    importer.options.name = "test"
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.leftOut.isEmpty)
    #expect(try rows(RecordingReader(folder: folder.path("out"))).count == 5)
    let columns = try folder.text("out/ranging.csv").prefix { $0 != "\n" }
    #expect(columns == Self.ranging.prefix { $0 != "\n" })
    let again = try LinesExporter(RecordingReader(folder: folder.path("out")))
      .export(to: folder.path("again"))
    #expect(again.lines == written.lines)
    #expect(try folder.text("again").hasSuffix(text.drop { $0 != "\n" }))
  }

  @Test("Without heights the files and lines have no such column")
  func absent() throws {
    let text = TemporaryRecording.header + "0.000000,keys,3,,\n"
    _ = try LinesExporter(recording(text)).export(to: folder.path("lines"))
    #expect(try !folder.text("lines").contains("height"))
    _ = try LinesImporter(path: folder.path("lines")).importRecording(to: folder.path("out"))
    #expect(try folder.text("out/ranging.csv") == text)
  }

  @Test("A value without its column is an error of the writer")
  func unwritten() throws {
    var writer = try RecordingWriter(
      path: folder.path("r"), manifest: RecordingManifest(name: "r"))
    let error = recordingError {
      try writer.append(
        RangingRow(
          timestamp: Timestamp(nanoseconds: 0), peer: "a", distance: 1, heightDifference: 2))
    }
    #expect(error?.code == .missingColumn)
    #expect(error?.message.contains("height_difference") == true)
  }

  @Test(
    "Text where a height belongs is found where it is",
    arguments: [("high", 2, 32), ("0x10", 2, 32), ("1,,", 2, nil)] as [(String, Int, Int?)])
  func malformed(text: String, line: Int, column: Int?) throws {
    let error = recordingError {
      _ = try rows(
        recording(
          "timestamp,peer,distance,azimuth,elevation,height_difference\n"
            + "0.000000000,keys,3.000000000,,,\(text)\n"))
    }
    #expect(error?.code == (column == nil ? .wrongFieldCount : .malformedNumber))
    #expect(error?.file == "ranging.csv" && error?.line == line)
    if column != nil { #expect(error?.column == column) }
  }

  @Test("Text where a height belongs is found in JSON lines, too")
  func malformedLine() throws {
    let line = #"{"type":"range","timestamp":0,"peer":"a","height_difference":"high"}"#
    try folder.write(line, to: "lines")
    var reader = try RecordingLineReader(path: folder.path("lines"))
    let fault = recordingError { _ = try reader.next() }
    #expect(fault?.code == .malformedNumber && fault?.line == 1)
    #expect(fault?.column == line.prefix { $0 != "h" }.count + "height_difference':'h".count)
  }

  @Test(
    "A foreign table's heights, by unit and sign",
    arguments: [("m", 2.5), ("cm", 0.025), ("-mm", -0.0025), ("-m", -2.5)])
  func units(unit: String, height: Double) throws {
    let map = try FieldMap(
      keys: FieldMap.rangingKeys,
      fields: ["height_difference=dz", "height_difference_sigma=s"],
      units: ["height_difference=\(unit)", "height_difference_sigma=cm"],
      missing: ["height_difference=-999"])
    try folder.write("timestamp,peer,dz,s\n0,a,2.5,20\n1,a,-999,\n2,a,nan,\n", to: "table")
    var reader = try MappedRangingReader(
      path: folder.path("table"), MappedTable(map: map), peer: nil)
    #expect(reader.columns == [.heightDifference, .heightDifferenceSigma])
    let row = try #require(try reader.next())
    #expect(row.heightDifference == height && row.heightDifferenceSigma == 0.2)
    #expect(try reader.next()?.heightDifference == nil)
    #expect(try reader.next()?.heightDifference == nil)
    let fault = #expect(throws: FieldMap.Fault.self) {
      try FieldMap(keys: FieldMap.rangingKeys, units: ["height_difference=deg"])
    }
    #expect(fault?.description.contains("is in -cm, -m, -mm, cm, m, mm") == true)
  }

  @Test("An MCAP field can be a height")
  func mcap() throws {
    var importer = McapImporter(path: Fixture.path("walk-none.mcap"))
    importer.poseTopic = "/pose"
    importer.rangeTopic = "/uwb"
    importer.rangeMap = try FieldMap(
      keys: FieldMap.rangingKeys,
      fields: ["distance=range_cm", "peer=anchor", "height_difference=range_cm"],
      units: ["distance=cm", "height_difference=-cm"])
    _ = try importer.importRecording(to: folder.path("out"))
    let rows = try rows(RecordingReader(folder: folder.path("out")))
    #expect(rows.count == Fixture.count)
    #expect(rows.allSatisfy { $0.distance != nil && $0.heightDifference == -($0.distance ?? 0) })
  }

  @Test("PyFG cannot hold them, and says how many it left out")
  func pyfg() throws {
    let report = try PyfgExporter(recording()).export(to: folder.path("graph"))
    #expect(report.leftOut["height differences"] == 4)
  }

  @Test("The information counts them, and their faults")
  func info() throws {
    let info = try recording().info()
    #expect(info.peers.first?.heightDifferenceCount == 4)
    #expect(info.faults.notFinite == 1 && info.faults.absurdHeightDifference == 1)
    #expect(info.faults.empty == 0)
    let text = info.text()
    #expect(text.contains("elevations  heights  min m"))
    #expect(text.contains("1 sample with a height difference beyond 1000 m"))
    #expect(text.contains("80.0 %"))
    let without = try recording(TemporaryRecording.header + "0,keys,3,,\n").info().text()
    #expect(!without.contains("height"))
  }
}

@Suite("The list of a row's columns")
struct RangingColumnTests {
  @Test("It is in the order of the format, with room for each value")
  func list() {
    #expect(
      RangingColumn.names == [
        "distance", "azimuth", "elevation", "distance_sigma", "azimuth_sigma", "elevation_sigma",
        "azimuth_fom", "elevation_fom", "rssi", "height_difference", "height_difference_sigma",
        "nlos",
      ])
    var values = RangingValues()
    for column in RangingColumn.all { #expect(values[column] == nil) }
    for column in RangingColumn.all { values[column] = Double(column.index) }
    for column in RangingColumn.all {
      #expect(values[column] == (column.unit == .flag ? 1 : Double(column.index)))
    }
    for column in RangingColumn.all { values[column] = 0 }
    for column in RangingColumn.all { #expect(values[column] == 0) }
    for column in RangingColumn.all { values[column] = nil }
    #expect(values == RangingValues())
    #expect(MemoryLayout<RangingRow>.size <= 128, "larger rows are copied by calls")
  }

  @Test("Every kind of measurement has two columns of its own")
  func kinds() {
    let columns = MeasurementKind.allCases.flatMap { [$0.column, $0.sigmaColumn] }
    #expect(Set(columns).count == 2 * MeasurementKind.allCases.count)
    for kind in MeasurementKind.allCases {
      #expect(kind.sigmaColumn.name == "\(kind.column.name)_sigma")
      #expect(kind.sigmaColumn.unit == kind.column.unit && !kind.sigmaColumn.isSigned)
    }
  }
}
