// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyImports
import NearbyRecordings
import NearbyTestSupport
import Testing

/// Tables of range differences of other systems.
@Suite("Import of range differences")
struct DifferenceTableTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      "0 0 0 1 0 0 0 1\n1 1 0 1 0 0 0 1\n2 1 1 1.2 0 0 0 1\n3 0 1 1 0 0 0 1\n", to: "poses.txt")
    try folder.write(
      """
      { "format": "nearby-map", "version": 1, "world": { "up": "z" },
        "peers": [ { "id": "7", "position": [0, 3, 2] }, { "id": "0", "position": [4, 0, 1] } ] }
      """, to: "hall.json")
  }

  private func imported(_ table: String, anchors: Bool = true) throws -> (
    report: ImportReport, rows: [DifferenceRow], recording: RecordingReader
  ) {
    try folder.write(table, to: "log.csv")
    var importer = RecordingImporter(
      trajectory: TrajectoryInput(
        path: folder.path("poses.txt"), format: .tum, frames: ImportFrames(up: .z, axes: .ros)))
    importer.differences = DifferenceInput(
      path: folder.path("log.csv"), anchors: anchors ? folder.path("hall.json") : nil)
    importer.differences?.model.sigma = 0.2
    importer.options.replacesRecording = true
    let report = try importer.importRecording(to: folder.path("flight"))
    let recording = try RecordingReader(folder: folder.path("flight"))
    var reader = try recording.differences()
    var rows: [DifferenceRow] = []
    while let row = try reader?.next() { rows.append(row) }
    return (report, rows, recording)
  }

  /// A table of several sensors, each with times of its own, as long as the longest.
  @Test func flightsOfUTILAreRead() throws {
    let (report, rows, recording) = try imported(
      """
      t_tdoa,tdoa_idA,tdoa_idB,tdoa_meas,t_acc,acc_x
      0.1,7.0,0.0,-1.25,0.1,0
      0.2,0,7,1.5,0.2,0
      nan,nan,nan,nan,0.3,0
      ,,,,0.4,0
      """)
    #expect(rows.map(\.from) == ["7", "0"] && rows.map(\.to) == ["0", "7"])
    #expect(rows.map(\.metres) == [-1.25, 1.5])
    #expect(rows.map(\.timestamp.nanoseconds) == [100_000_000, 200_000_000])
    #expect(report.differences == 2 && report.anchors == ["7", "0"])
    #expect(report.leftOut == ["rows without a range difference": 2])
    #expect(recording.manifest.differences.sigma == 0.2)
    let map = try #require(try recording.anchorMap(FusionConfiguration()))
    #expect(map.peers.map(\.name) == ["7", "0"])
    // z up in the file is y up in the engine.
    #expect(abs(map.peers[0].positionInWorld.y - 2) < 1e-9)
  }

  @Test func logsOfTheCrazyflieAreRead() throws {
    let (report, rows, _) = try imported(
      "timestamp,anchorA,anchorB,distanceDiff\n0.5,1,2,0.75\n0.6,2,3,-2\n", anchors: false)
    #expect(rows.map(\.from) == ["1", "2"] && rows.map(\.to) == ["2", "3"])
    #expect(rows.map(\.metres) == [0.75, -2])
    #expect(report.findings.allSatisfy { $0.severity == .note })
  }

  @Test(arguments: [
    (
      "tdoa12,tdoa21,snr_an1\n-0.5,0.4,30\n",
      "log.csv:1: the header has no column \"timestamp\" or \"t_tdoa\" or \"time\"; differences without times"
    ),
    ("timestamp,anchorA,distanceDiff\n0,1,2\n", "log.csv:1: the header has no column \"anchor_b\""),
    ("timestamp,anchorA,anchorB,distanceDiff\n0,,2,1\n", "log.csv:2:3: anchor_a is empty"),
    ("timestamp,anchorA,anchorB,distanceDiff\n0,1,2,x\n", "log.csv:2:7: difference \"x\" is not"),
    ("timestamp,anchorA,anchorB,distanceDiff\n0,1,2,nan\n", "log.csv: holds no range differences"),
    (
      "timestamp,anchorA,anchorB,distanceDiff\n5,1,2,1\n1,1,2,1\n", "log.csv:3: time goes back"
    ),
    ("", "log.csv: the file is empty"),
  ])
  func faultsAreLocated(table: String, message: String) throws {
    let error = #expect(throws: RecordingError.self) { _ = try self.imported(table) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }
}
