// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

/// Files of which nothing can be fused, and samples that come twice.
@Suite("Imports without meaning")
struct MeaninglessImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Imports a table of a walk of 20 s, with a distance for each time.
  private func importRows(
    _ rows: [String], isForced: Bool = false
  ) throws -> ImportReport {
    try folder.write(
      (0...200).map { "\(Double($0) / 10) \(0.1 * Double($0)) 1.5 0 0 0 0 1\n" }.joined(),
      to: "poses.txt")
    try folder.write("timestamp,peer,distance\n" + rows.joined(), to: "uwb.csv")
    var importer = RecordingImporter(
      trajectory: TrajectoryInput(
        path: folder.path("poses.txt"), format: .tum, frames: ImportFrames()))
    importer.ranging = RangingInput(
      path: folder.path("uwb.csv"), format: .table(MappedTable(), peer: nil))
    importer.options.isForced = isForced
    importer.options.replacesRecording = true
    return try importer.importRecording(to: folder.path("walk"))
  }

  /// How a row is wrong.
  enum Row: CaseIterable {
    case zero, far, negative
    /// Two of them are within the time of the poses.
    case elsewhere

    func text(at time: Double) -> String {
      switch self {
      case .zero: "\(time),a,0\n"
      case .far: "\(time),a,\(1500 + time)\n"
      case .negative: "\(time),a,\(-time)\n"
      case .elsewhere: "\(1000 * time - 999),a,3\n"
      }
    }
  }

  private static let times = (10..<190).map { Double($0) / 10 }

  @Test(
    "distances of zero, distances beyond reach and other times leave nothing to fuse",
    arguments: [
      (Row.zero, "usable distance"), (.far, "usable distance"), (.negative, "usable distance"),
      (.elsewhere, "within the time of the poses"),
    ])
  func nothingToFuse(row: Row, message: String) throws {
    let rows = Self.times.map(row.text)
    let error = #expect(throws: RecordingError.self) { try importRows(rows) }
    #expect(error?.code == .nothingToFuse && error?.message.contains(message) == true)
    // With --force the recording is written, and the finding is in the report.
    let report = try importRows(rows, isForced: true)
    #expect(report.findings.first?.severity == .error)
  }

  @Test("a sample that comes again is left out, and counted")
  func repetitions() throws {
    let rows = Self.times.flatMap { time in
      let row = "\(time),a,\(3 + time)\n"
      return [row, row, "\(time),b,4\n", row, "\(time),a,\(5 + time)\n"]
    }
    let report = try importRows(rows)
    #expect(report.samples == 3 * Self.times.count)
    #expect(report.leftOut == ["samples that repeat another one": 2 * Self.times.count])
  }
}
