// SPDX-License-Identifier: Apache-2.0
import CNearby
import Foundation
import NearbyC
import NearbyFusion
import NearbyRecordings
import Testing

@Suite("C: recordings")
struct RecordingCallTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Datasets/plaza2").standardized.path

  private func open() -> OpaquePointer? {
    var recording: OpaquePointer?
    #expect(nearby_recording_open(Self.folder, &recording) == NEARBY_OK)
    return recording
  }

  private func read(_ recording: OpaquePointer?, _ table: nearby_table) -> ArrowTable {
    let columns = ArrowTable()
    #expect(
      nearby_recording_read(recording, table, &columns.schema, &columns.array) == NEARBY_OK)
    return columns
  }

  @Test func aRunIsThatOfTheReplay() throws {
    let recording = open()
    defer { _ = nearby_recording_destroy(recording) }
    let table = ArrowTable()
    var summary: UnsafeMutablePointer<CChar>?
    #expect(
      nearby_recording_run(recording, nil, &table.schema, &table.array, &summary) == NEARBY_OK)
    #expect(summary.map { String(cString: $0).contains("\"samples\" : 1816") } == true)
    nearby_text_free(summary)

    let reader = try RecordingReader(folder: Self.folder)
    let (means, peers, statuses, uses) = (
      table.numbers("mean_x"), table.words("peer"), table.words("status"), table.words("used")
    )
    var (row, differing) = (0, 0)
    _ = try RecordingReplay(reader).run { (ranging, report, estimate) throws(RecordingError) in
      let mean = estimate.positionInWorld.map(reader.manifest.frames.worldVector(fromEngine:))
      if means[row] != mean?.x || peers[row] != ranging.peer { differing += 1 }
      if (statuses[row] == "converged") != (estimate.convergence == .converged) { differing += 1 }
      if uses[row] != report.use.rawValue { differing += 1 }
      row += 1
    }
    #expect(row == table.rows && row == 1816 && differing == 0)
  }

  @Test func itsTablesRunAsArraysGiveTheSame() throws {
    let recording = open()
    defer { _ = nearby_recording_destroy(recording) }
    let (poses, ranging) = (
      read(recording, NEARBY_TABLE_POSES), read(recording, NEARBY_TABLE_RANGING)
    )
    let table = ArrowTable()
    #expect(nearby_recording_run(recording, nil, &table.schema, &table.array, nil) == NEARBY_OK)

    var (frames, json) = (nearby_frames(), UnsafeMutablePointer<CChar>?.none)
    #expect(nearby_recording_frames(recording, &frames) == NEARBY_OK)
    #expect(nearby_recording_configuration(recording, nil, &json) == NEARBY_OK)
    let settings = try #require(json.map { String(cString: $0) })
    nearby_text_free(json)
    let engine = makeEngine(settings, frames, peers: 0)
    defer { _ = nearby_engine_destroy(engine) }
    let words = ranging.column("peer").values.dictionary.pointee.length
    for _ in 0..<words { _ = nearby_engine_add_peer(engine, nil, NEARBY_PEER_STATIONARY, nil) }

    func column(_ table: ArrowTable, _ name: String, _ type: nearby_type) -> nearby_column {
      nearby_column_of(table.column(name).values.buffers[1], type == NEARBY_INT32 ? 4 : 8, type)
    }
    var given = nearby_poses()
    given.count = Int64(poses.rows)
    given.time = column(poses, "time_ns", NEARBY_INT64)
    (given.x, given.y, given.z) = (
      column(poses, "x", NEARBY_FLOAT64), column(poses, "y", NEARBY_FLOAT64),
      column(poses, "z", NEARBY_FLOAT64)
    )
    (given.qx, given.qy, given.qz, given.qw) = (
      column(poses, "qx", NEARBY_FLOAT64), column(poses, "qy", NEARBY_FLOAT64),
      column(poses, "qz", NEARBY_FLOAT64), column(poses, "qw", NEARBY_FLOAT64)
    )
    var samples = nearby_samples()
    samples.count = Int64(ranging.rows)
    samples.time = column(ranging, "time_ns", NEARBY_INT64)
    samples.peer = column(ranging, "peer", NEARBY_INT32)
    samples.distance = column(ranging, "distance", NEARBY_FLOAT64)
    let again = ArrowTable()
    #expect(
      nearby_engine_run(engine, &given, &samples, nil, &again.schema, &again.array, nil)
        == NEARBY_OK)
    for name in table.names where name != "peer" {
      #expect(again.contents[name] == table.contents[name], "\(name)")
    }
  }

  @Test func theTablesHaveTheFilesRows() {
    let recording = open()
    defer { _ = nearby_recording_destroy(recording) }
    let expected = [2349, 1816, 0, 2459, 4]
    for (number, rows) in expected.enumerated() {
      let table = read(recording, nearby_table(rawValue: UInt32(number)))
      #expect(table.rows == rows)
      #expect(table.names.prefix(2) == ["timestamp", "time_ns"])
    }
    let table = ArrowTable()
    #expect(
      nearby_recording_read(recording, nearby_table(rawValue: 5), &table.schema, &table.array)
        == NEARBY_INVALID_ARGUMENT)
    var json: UnsafeMutablePointer<CChar>?
    #expect(nearby_recording_info(recording, &json) == NEARBY_OK)
    #expect(json.map { String(cString: $0).contains("\"poseCount\" : 2349") } == true)
    nearby_text_free(json)
  }

  @Test func smoothingIsThatOfTheSmootherItself() {
    let recording = open()
    defer { _ = nearby_recording_destroy(recording) }
    let table = ArrowTable()
    #expect(
      nearby_recording_smooth(recording, nil, &table.schema, &table.array) == NEARBY_OK)
    #expect(table.rows == 1816 && table.names.count == 18)
    #expect(table.numbers("mean_x").allSatisfy { $0 != nil })

    let walk = WalkArrays()
    var smoother: OpaquePointer?
    #expect(nearby_smoother_create(nil, nil, &smoother) == NEARBY_OK)
    defer { _ = nearby_smoother_destroy(smoother) }
    for _ in 0..<2 { _ = nearby_smoother_add_peer(smoother, nil, NEARBY_PEER_STATIONARY, nil) }
    var poses = nearby_poses_of(walk.poses, Int64(walk.poses.count))
    var samples = nearby_samples_of(walk.samples, Int64(walk.samples.count))
    #expect(nearby_smoother_add(smoother, &poses, &samples, nil, nil) == NEARBY_OK)
    let smoothed = ArrowTable()
    #expect(nearby_smoother_solve(smoother, &smoothed.schema, &smoothed.array) == NEARBY_OK)
    #expect(smoothed.rows == walk.samples.count)
    #expect(abs((smoothed.numbers("mean_x")[0] ?? 0) - 4) < 0.3, "the first row knows the end")
  }

  @Test func aFaultOfAFileHasItsPlace() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: URL(filePath: Self.folder), to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "ranging.csv")
    var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    lines[16] = "12.5,beacon-1,abc"
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)

    var recording: OpaquePointer?
    #expect(nearby_recording_open(folder.path, &recording) == NEARBY_OK)
    defer { _ = nearby_recording_destroy(recording) }
    let table = ArrowTable()
    #expect(
      nearby_recording_run(recording, nil, &table.schema, &table.array, nil)
        == NEARBY_INVALID_FILE)
    let failure = LastFailure()
    #expect(failure.file == file.path && failure.line == 17)
    #expect(nearby_recording_open("/no/such/folder", &recording) == NEARBY_INVALID_FILE)
    #expect(LastFailure().code == "missingFolder")
  }
}
