// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Importing captures of the FiRa command interface")
struct UciTests {
  private static let fileNames = ["uci.bin", "uci.hex", "uci.pcapng", "uci-big-endian.pcapng"]

  private static func rows(
    _ path: String, _ container: UciCapture.Container? = nil
  ) throws -> (rows: [RangingRow], leftOut: [String: Int]) {
    var reader = try UciRangingReader(path: path, UciCapture(container: container))
    var rows: [RangingRow] = []
    while let row = try reader.next() { rows.append(row) }
    return (rows, reader.leftOut)
  }

  @Test("The same session in every container", arguments: fileNames)
  func session(file: String) throws {
    let (rows, leftOut) = try Self.rows(Fixture.path(file))
    #expect(rows.count == 12)
    // The reference vector: 5.12 m, -12.5 and 3.25 degrees, -60 dBm.
    let first = try #require(rows.first)
    #expect(first.peer == "AA:BB")
    #expect(first.distance == 5.12)
    #expect(first.azimuthRadians == (-12.5).degreesAsRadians)
    #expect(first.elevationRadians == 3.25.degreesAsRadians)
    #expect(first.azimuthFigureOfMerit == 90)
    #expect(first.elevationFigureOfMerit == 80)
    #expect(first.rssi == -60)
    #expect(first.isNonLineOfSight == false)
    // No angles were measured, and the line of sight is unknown.
    let second = rows[1]
    #expect(second.distance == nil)
    #expect(second.azimuthRadians == nil)
    #expect(second.elevationRadians == nil)
    #expect(second.rssi == nil)
    #expect(second.isNonLineOfSight == nil)
    // An obstacle, and a distance below zero; the exchange before it failed.
    let third = rows[2]
    #expect(third.peer == "01:02")
    #expect(third.distance == -0.05)
    #expect(third.elevationRadians == .pi / 2)
    #expect(third.rssi == -90.5)
    #expect(third.isNonLineOfSight == true)
    #expect(leftOut["exchanges that failed"] == 1)
    // Two fragments of nine measurements with long addresses.
    for (index, row) in rows.dropFirst(3).enumerated() {
      #expect(row.peer == "00:11:22:33:44:55:66:77")
      #expect(row.distance == Double(100 + index) / 100)
      #expect(row.azimuthRadians == (index == 0 ? 0 : Double(index).degreesAsRadians))
      #expect(row.elevationRadians == nil)
    }
    let steps = rows.map { $0.timestamp.nanoseconds - first.timestamp.nanoseconds }
    let period: Int64 = file.hasSuffix("pcapng") ? 200_000_001 : 200_000_000
    #expect(steps == [0, period, period] + Array(repeating: 2 * period, count: 9))
    switch file {
    case "uci.bin": #expect(first.timestamp.nanoseconds == 0)
    case "uci.hex": #expect(first.timestamp.nanoseconds == 100_250_000_000)
    default:
      #expect(first.timestamp.nanoseconds == Fixture.epoch)
      #expect(leftOut["packets of other links"] == 1)
    }
  }

  @Test("A recording of a capture")
  func recording() throws {
    let folder = try TemporaryFolder()
    var importer = RecordingImporter(
      trajectory: TrajectoryInput(
        path: Fixture.path("walk.tum"), format: .tum, frames: ImportFrames(up: .z, axes: .ros)))
    importer.ranging = RangingInput(
      path: Fixture.path("uci.hex"), format: .uci(UciCapture()))
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.samples == 12)
    #expect(report.peers == ["AA:BB", "01:02", "00:11:22:33:44:55:66:77"])
    #expect(report.leftOut == ["exchanges that failed": 1])
    let lines = try folder.text("out/ranging.csv").split(separator: "\n")
    #expect(
      lines[0]
        == "timestamp,peer,distance,azimuth,elevation,azimuth_fom,elevation_fom,rssi,nlos")
    #expect(lines[1] == "100.250000,AA:BB,5.12,-0.218166156499,0.05672320069,90,80,-60,0")
  }

  @Test("Times continue when sequence numbers wrap or restart")
  func clock() throws {
    let folder = try TemporaryFolder()
    let empty = "0c000000 00 c8000000 01 00 00 0000000000000000 00"
    func packet(_ sequence: String) -> String {
      let one = "01bbaa00000002c0f95aa0015000000000000000780000000000000000000000"
      return "62000038 \(sequence) \(empty.dropLast(2)) \(one)"
    }
    try folder.write(
      ["feffffff", "ffffffff", "01000000", "00000000"].map(packet).joined(separator: "\n"),
      to: "uci.txt")
    let rows = try Self.rows(folder.path("uci.txt")).rows
    #expect(rows.map(\.timestamp.nanoseconds) == [0, 200_000_000, 600_000_000, 800_000_000])
  }

  @Test("Intervals that run over the clock stop at its end")
  func impossibleIntervals() throws {
    let folder = try TemporaryFolder()
    let lines = ["00000000", "ffffff7f", "00000080", "feffffff"].map { sequence in
      "62000038 \(sequence) 0c000000 00 ffffffff 01 00 00 0000000000000000 "
        + "01bbaa00000002c0f95aa0015000000000000000780000000000000000000000"
    }
    try folder.write(lines.joined(separator: "\n"), to: "uci.txt")
    let rows = try Self.rows(folder.path("uci.txt")).rows
    #expect(
      rows.map(\.timestamp.nanoseconds) == [
        0, 4_000_000_000_000_000_000, 4_004_294_967_295_000_000, 4_599_999_999_000_000_000,
      ])
  }

  @Test(
    "Files that are not captures",
    arguments: [
      ("zz", RecordingError.Code.malformedField, 1), ("620", .malformedField, 1),
      ("62000004 00", .malformedField, 1), ("1.5", .malformedField, 1),
      ("# nothing", .noSamples, nil), ("41000000", .noSamples, nil),
      ("\n\n82000000", .malformedField, 3),
      ("6200001907000000 2a000000 00 c8000000 01 00 02 0000000000000000 00", .malformedField, 1),
      ("6200001907000000 2a000000 00 c8000000 01 00 00 0000000000000000 01", .malformedField, 1),
    ] as [(String, RecordingError.Code, Int?)])
  func faults(text: String, code: RecordingError.Code, line: Int?) throws {
    let folder = try TemporaryFolder()
    try folder.write(text, to: "uci")
    let error = recordingError { _ = try Self.rows(folder.path("uci"), .hex) }
    #expect(error?.code == code)
    #expect(error?.line == line)
    #expect(error?.file == folder.path("uci"))
  }

  @Test("One-way ranging is counted and left out")
  func oneWay() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Array(Fixture.bytes("uci.bin")[8..<68]) + [
        0x62, 0, 0, 25, 8, 0, 0, 0, 42, 0, 0, 0, 0, 200, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0,
      ], to: "uci")
    let (rows, leftOut) = try Self.rows(folder.path("uci"))
    #expect(rows.count == 1)
    #expect(leftOut == ["notifications that are not of two-way ranging": 1])
  }

  @Test("Damage is an error, never a trap", arguments: fileNames)
  func damage(file: String) throws {
    try expectNoTrap(Fixture.bytes(file)) { path in
      _ = try Self.rows(path)
    }
  }
}
