// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Importing trajectories of other formats")
struct ForeignTrajectoryTests {
  private static func report(
    _ input: TrajectoryInput, to output: String, thinning: TrajectoryThinning? = nil
  ) throws -> ImportReport {
    var importer = RecordingImporter(trajectory: input)
    importer.options.thinning = thinning
    return try importer.importRecording(to: output)
  }

  @Test("TUM as evo writes it")
  func tum() throws {
    let folder = try TemporaryFolder()
    let input = TrajectoryInput(
      path: Fixture.path("walk.tum"), format: .tum, frames: ImportFrames(up: .z, axes: .ros))
    var importer = RecordingImporter(trajectory: input)
    importer.truth = input
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.name == "out")
    #expect(report.posesRead == 21)
    #expect(report.posesWritten == 21)
    #expect(report.truePosesWritten == 21)
    #expect(report.samples == 0)
    #expect(report.durationSeconds == 2)
    // Chords of 0.1 rad on a radius of 2 m, a centimetre up each.
    let chord = 4 * sin(0.05)
    #expect(abs(report.pathLength - 20 * (chord * chord + 1e-4).squareRoot()) < 1e-9)
    try Fixture.expectMotion(in: folder.path("out"))
    let recording = try RecordingReader(folder: folder.path("out"))
    #expect(recording.manifest.frames == FrameConvention(up: .z, axes: .ros))
    #expect(recording.manifest.source == "imported from walk.tum")
    #expect(recording.warnings.isEmpty)
    #expect(
      try folder.text("out/ranging.csv") == "timestamp,peer,distance,azimuth,elevation\n")
    #expect(try folder.text("out/truth/trajectory.txt") == folder.text("out/trajectory.txt"))
  }

  @Test("EuRoC with either number of columns keeps every nanosecond", arguments: [8, 17])
  func euroc(columns: Int) throws {
    let folder = try TemporaryFolder()
    let input = TrajectoryInput(
      path: Fixture.path("walk-\(columns).euroc.csv"), format: .euroc,
      frames: ImportFrames(up: .z, axes: .ros))
    _ = try Self.report(input, to: folder.path("out"))
    try Fixture.expectMotion(in: folder.path("out"), from: Fixture.epoch)
    #expect(try folder.text("out/trajectory.txt").contains("\n1403715273.262142976 2 0 1 "))
  }

  @Test("The body of the EuRoC drone is turned to ARKit's axes")
  func eurocBody() {
    let frames = ImportFrames(up: .z, axes: .euroc)
    #expect(frames.recorded == FrameConvention(up: .z, axes: .arkit))
    let rotation = frames.recordedPose(.identity).rotation
    // Right is the body's y, up its x, and back is against its z.
    #expect((rotation.xAxis - Vector3(0, 1, 0)).length < 1e-15)
    #expect((rotation.yAxis - Vector3(1, 0, 0)).length < 1e-15)
    #expect((rotation.zAxis - Vector3(0, 0, -1)).length < 1e-15)
  }

  @Test("KITTI as evo writes it, its world turned upright")
  func kitti() throws {
    let folder = try TemporaryFolder()
    let input = TrajectoryInput(
      path: Fixture.path("walk.kitti"), format: .kitti(times: Fixture.path("walk.times")),
      frames: ImportFrames(up: .yDown, axes: .camera))
    let report = try Self.report(input, to: folder.path("out"))
    #expect(report.frames == FrameConvention(up: .y, axes: .camera))
    let turn = Rotation(angleRadians: .pi, about: Vector3(1, 0, 0))
    try Fixture.expectMotion(in: folder.path("out")) {
      RigidTransform(rotation: turn, translation: .zero) * $0
    }
    #expect(ImportFrames(up: .yDown).recordedPlace(Vector3(1, 2, 3)) == Vector3(1, -2, -3))
  }

  @Test("Files of KITTI that do not belong together", arguments: [1, -1])
  func kittiMismatch(more: Int) throws {
    let folder = try TemporaryFolder()
    let pose = "1 0 0 0 0 1 0 0 0 0 1 0\n"
    try folder.write(String(repeating: pose, count: 3), to: "poses")
    try folder.write((0..<3 + more).map { "\($0)\n" }.joined(), to: "times")
    let error = recordingError {
      var reader = try KittiReader(poses: folder.path("poses"), times: folder.path("times"))
      while try reader.next() != nil {}
    }
    #expect(error?.code == .wrongFieldCount)
    #expect(error?.line == (more > 0 ? 4 : 3))
    #expect(error?.file == folder.path(more > 0 ? "times" : "poses"))
  }

  static let stray = """
    timestamp, frame, x, y, z, qx, qy, qz, qw, fx, fy, cx, cy
    2345.123456789, 000000, 1, 2, 3, 1, 0, 0, 0, 1, 1, 1, 1
    2345.140123456, 000001, 1, 2, 2.5, 0.707106781187, 0, 0, 0.707106781187, , , ,

    """

  @Test("Stray Scanner's half turn is undone")
  func strayScanner() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.stray, to: "odometry.csv")
    let input = TrajectoryInput(
      path: folder.path("odometry.csv"), format: .stray, frames: ImportFrames())
    let report = try Self.report(input, to: folder.path("out"))
    #expect(report.frames == .engine)
    var poses = try RecordingReader(folder: folder.path("out")).trajectory()
    let first = try #require(try poses.next())
    #expect(first.timestamp.nanoseconds == 2_345_123_456_789)
    #expect(first.worldFromDevice.translation == Vector3(1, 2, 3))
    // q_WA * (1, 0, 0, 0) with q_WA the identity.
    #expect(first.worldFromDevice.rotation.angle(to: .identity) < 1e-9)
    let second = try #require(try poses.next())
    // A quarter turn about x in OpenCV's axes: ARKit's camera looks down.
    let look = second.worldFromDevice.rotation.act(Vector3(0, 0, -1))
    #expect((look - Vector3(0, -1, 0)).length < 1e-9)
  }

  @Test("Thinning while streaming keeps what thinning at once keeps")
  func thinning() throws {
    let folder = try TemporaryFolder()
    var thinning = TrajectoryThinning()
    thinning.maximumAngleErrorRadians = 1
    let input = TrajectoryInput(
      path: Fixture.path("walk.tum"), format: .tum, frames: ImportFrames(up: .z, axes: .ros))
    let report = try Self.report(input, to: folder.path("out"), thinning: thinning)
    let rows = (0..<Fixture.count).map {
      PoseRow(
        timestamp: Timestamp(nanoseconds: Fixture.start + 100_000_000 * Int64($0)),
        worldFromDevice: Fixture.pose($0))
    }
    #expect(report.posesRead == 21)
    #expect(report.posesWritten == thinning.thinned(rows).count)
    #expect(report.posesWritten == 11)
  }

  @Test(
    "Faults are found where they are",
    arguments: [
      ("1,0,0,0,1,0,0\n", RecordingError.Code.wrongFieldCount, 1, nil),
      ("#h\n1,0,0,x,1,0,0,0\n", .malformedNumber, 2, 7),
      ("1,0,0,0,1,0,0,0\n0,0,0,0,1,0,0,0\n", .timeWentBack, 2, nil),
      ("1,0,0,0,1,1,0,0\n", .invalidRotation, 1, nil),
      ("1.5e40,0,0,0,1,0,0,0\n", .malformedNumber, 1, 1),
      ("1,0,nan,0,1,0,0,0\n", .notFinite, 1, 5), ("1,1e8,0,0,1,0,0,0\n", .valueOutOfRange, 1, 3),
      ("#h\n", .noSamples, nil, nil), ("1,\"0,0,0,1,0,0,0\n", .malformedField, 1, 3),
    ] as [(String, RecordingError.Code, Int?, Int?)])
  func faults(text: String, code: RecordingError.Code, line: Int?, column: Int?) throws {
    let folder = try TemporaryFolder()
    try folder.write(text, to: "data.csv")
    let error = recordingError {
      _ = try Self.report(
        TrajectoryInput(path: folder.path("data.csv"), format: .euroc, frames: ImportFrames()),
        to: folder.path("out"))
    }
    #expect(error?.code == code)
    #expect(error?.file == folder.path("data.csv"))
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(try folder.contents("") == ["data.csv"])
  }

  @Test("Poses of one stamp are counted as left out")
  func duplicates() throws {
    let folder = try TemporaryFolder()
    try folder.write("1,0,0,0,1,0,0,0\n1,5,0,0,1,0,0,0\n2,0,0,0,1,0,0,0\n", to: "data.csv")
    let report = try Self.report(
      TrajectoryInput(path: folder.path("data.csv"), format: .euroc, frames: ImportFrames()),
      to: folder.path("out"))
    #expect(report.posesWritten == 2)
    #expect(report.leftOut == ["poses with the stamp of the pose before": 1])
  }

  @Test("Damage is an error, never a trap")
  func damage() throws {
    let euroc = "#t\n1403715273262142976,1,2,3,1,0,0,0\n1403715273262142977,1,2,3,0.6,0.8,0,0\n"
    try expectNoTrap(Array(euroc.utf8)) {
      var reader = try EurocReader(path: $0)
      while try reader.next() != nil {}
    }
    try expectNoTrap(Array(Self.stray.utf8)) {
      var reader = try StrayReader(path: $0)
      while try reader.next() != nil {}
    }
    let times = try TemporaryFolder()
    try times.write("0\n1\n", to: "times")
    try expectNoTrap(Array("1 0 0 0 0 1 0 0 0 0 1 0\n0 -1 0 1 1 0 0 2 0 0 1 3\n".utf8)) { path in
      do throws(RecordingError) {
        var reader = try KittiReader(poses: path, times: times.path("times"))
        while try reader.next() != nil {}
      } catch {
        // The error may name either of the two files.
        var error = error
        if error.file == times.path("times") { error.file = path }
        throw error
      }
    }
  }
}
