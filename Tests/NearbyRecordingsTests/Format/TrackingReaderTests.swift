// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct TrackingReaderTests {
  static let header = "timestamp,state,reason,ambient_intensity\n"

  private func read(_ text: String) throws -> [TrackingRow] {
    let recording = try TemporaryRecording(others: ["tracking.csv": text])
    var reader = try TrackingReader(path: recording.path + "/tracking.csv")
    var rows: [TrackingRow] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  @Test func everyStateIsRead() throws {
    let rows = try read(
      Self.header
        + """
        0,limited,initializing,
        1,normal,,1000
        1,limited,,0
        2,limited,relocalizing,
        3,limited,excessiveMotion,
        4,limited,insufficientFeatures,12.5
        5,notAvailable,,
        """)
    #expect(
      rows.map(\.sample.quality) == [
        .limited(.initializing), .normal, .limited(.unspecified), .limited(.relocalizing),
        .limited(.excessiveMotion), .limited(.insufficientFeatures), .notAvailable,
      ])
    #expect(rows.map(\.sample.ambientIntensityLumens) == [nil, 1000, 0, nil, nil, 12.5, nil])
    #expect(rows.map(\.line) == Array(2...8))
    #expect(rows[6].sample.timestamp == Timestamp(nanoseconds: 5_000_000_000))
  }

  @Test func optionalColumnsMayBeMissing() throws {
    let rows = try read("state,timestamp\nlimited,3\n")
    #expect(rows.map(\.sample.quality) == [.limited(.unspecified)])
    #expect(rows[0].sample.ambientIntensityLumens == nil)
  }

  @Test func noRowsIsNoFault() throws { #expect(try read(Self.header).isEmpty) }

  @Test(arguments: [
    ("", RecordingError.Code.noSamples, "tracking.csv: the file is empty"),
    ("timestamp\n", .missingColumn, "tracking.csv:1: the header lacks column \"state\""),
    (
      header + "0,good,,\n", .malformedField, "tracking.csv:2:3: state \"good\" is unknown; must be"
    ),
    (header + "0,,,\n", .malformedField, "tracking.csv:2:3: state is unknown; must be normal,"),
    (
      header + "0,limited,dark,\n", .malformedField,
      "tracking.csv:2:11: reason \"dark\" is unknown; must be empty, initializing"
    ),
    (
      header + "0,normal,,x\n", .malformedNumber,
      "tracking.csv:2:11: ambient_intensity \"x\" is not a number"
    ),
    (
      header + "0,normal,,-1\n", .valueOutOfRange,
      "tracking.csv:2:11: ambient_intensity \"-1\" is no amount"
    ),
    (
      header + "0,normal,,nan\n", .valueOutOfRange,
      "tracking.csv:2:11: ambient_intensity \"nan\" is no amount"
    ),
    (
      header + "2,normal,,\n1,normal,,\n", .timeWentBack,
      "tracking.csv:3:1: time goes back by 1.0 s"
    ),
    (header + "2,normal\n", .wrongFieldCount, "tracking.csv:2: the row has 2 fields"),
  ])
  func faultsAreLocated(text: String, code: RecordingError.Code, message: String) throws {
    let error = #expect(throws: RecordingError.self) { try read(text) }
    let description = error?.description ?? ""
    #expect(error?.code == code)
    #expect(description.hasPrefix(message), "\(description)")
  }
}
