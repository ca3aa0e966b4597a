// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyImports
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite("Importing the Plaza runs")
struct PlazaImporterTests {
  /// A mower that goes 1 m a step along a circle of 60 steps, twice, and reads every range 10 % long.
  ///
  /// Its wheels are right; its gyroscope adds 0.001 rad a step. Its recorded heading looks backward,
  /// as that of Plaza2 does.
  static func circle(gyroBias: Double = 0.001) -> MatlabSketch {
    let turn = 2 * Double.pi / 60
    var (x, y, heading) = (3.0, -4.0, 0.5)
    var (truth, steps, path, tags): ([[Double]], [[Double]], [[Double]], [[Double]]) =
      ([[100, x, y, heading - .pi]], [], [[100, 0, 0, 0]], [])
    let beacons = [[7.0, 20, 0], [2, -10, 12]]
    for step in 1...120 {
      let time = 100 + 0.25 * Double(step)
      x += cos(heading + turn / 2)
      y += sin(heading + turn / 2)
      heading += turn
      truth.append([time, x, y, heading - .pi])
      steps.append([time, 1, turn + gyroBias])
      path.append([time, 2 * Double(step), 0, 0])
      let beacon = beacons[step % 2]
      let range =
        1.1
        * ((beacon[1] - x) * (beacon[1] - x) + (beacon[2] - y) * (beacon[2] - y))
        .squareRoot()
      tags.append([time, 2, beacon[0], range])
    }
    // Two blocks that overlap in time, as those of Plaza1.
    tags = Array(tags[60...] + tags[..<60])
    return MatlabSketch(tables: [
      ("GT", truth), ("DR", steps), ("DRp", path), ("TD", tags), ("TL", beacons),
    ])
  }

  @Test("A run becomes a recording", arguments: [false, true])
  func importsRun(isCompressed: Bool) throws {
    let folder = try TemporaryFolder()
    var sketch = Self.circle()
    sketch.isCompressed = isCompressed
    try folder.write(sketch.bytes, to: "in/Plaza2_.mat")
    var importer = PlazaImporter()
    importer.thinning = nil
    let report = try importer.importRecording(from: folder.path("in"), to: folder.path("out"))
    #expect(report.name == "plaza2")
    #expect(report.samples == 120)
    #expect(report.peers == 2)
    #expect(report.posesRead == 121)
    #expect(report.posesWritten == 121)
    #expect(report.durationSeconds == 30)
    #expect(abs(report.pathLength - 120) < 1e-9)
    #expect(abs(report.rangeErrors.scaleError - 0.1) < 1e-9)
    #expect(report.rangeErrors.rootMeanSquareAfterScale < 1e-9)
    // 0.001 rad a metre: over the longer length, 50 m, 0.05 rad a root of 50 m.
    let density = 0.05 / 50.0.squareRoot()
    #expect(abs(report.drift.yawDensityDegrees - density.radiansAsDegrees) < 0.001)
    #expect(abs(report.drift.finalYawDegrees - 0.12.radiansAsDegrees) < 0.01)
    #expect(report.drift.positionDensity < 0.01)

    let recording = try RecordingReader(folder: folder.path("out"))
    #expect(recording.warnings.isEmpty)
    #expect(recording.manifest.frames == FrameConvention(up: .z, axes: .ros))
    #expect(recording.manifest.trajectory.kind == .odometry)
    #expect(recording.manifest.trajectory.isPlanar)
    #expect(recording.manifest.peers.map(\.id) == ["beacon-2", "beacon-7"])
    #expect(recording.manifest.ranging.rangeSigma == 1)
    #expect(recording.manifest.trajectory.yawDriftDegrees >= report.drift.yawDensityDegrees)

    // The odometry starts in the origin and turns by its own, wrong, angle.
    var poses = try recording.trajectory()
    let first = try poses.next()?.worldFromDevice
    #expect(first == .identity)
    let step = 2 * Double.pi / 60 + 0.001
    let second = try poses.next()?.worldFromDevice
    let expected = Vector3(cos(step / 2), sin(step / 2), 0)
    #expect(try #require(second).translation.distance(to: expected) < 1e-4)
    #expect(
      try #require(second).rotation.angle(
        to: Rotation(angleRadians: step, about: Vector3(0, 0, 1))) < 2e-5)

    // The true heading is that of the path, not the one recorded.
    var truth = try TrajectoryReader(path: folder.path("out/truth/trajectory.txt"))
    for index in 0...120 {
      let next = try truth.next()
      let row = try #require(next)
      let heading = 0.5 + 2 * Double.pi / 60 * Double(index)
      let angle = Rotation(angleRadians: heading, about: Vector3(0, 0, 1))
      #expect(row.worldFromDevice.rotation.angle(to: angle) < 2e-5)
    }

    var samples = try recording.ranging()
    var latest = -1.0
    var count = 0
    while let row = try samples.next() {
      #expect(row.timestamp.seconds > latest)
      latest = row.timestamp.seconds
      count += 1
    }
    #expect(count == 120)
    #expect(samples.warnings.isEmpty)
    #expect(
      try folder.text("out/truth/peers.csv") == """
        timestamp,peer,x,y,z
        0.000000,beacon-2,-10,12,0
        0.000000,beacon-7,20,0,0

        """)
  }

  @Test("Thinning leaves out what interpolation restores")
  func thinning() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.circle().bytes, to: "Plaza1_.mat")
    var importer = PlazaImporter()
    var thinning = TrajectoryThinning()
    // Chords of three steps: 6 degrees each, 0.16 m away from the arc of 9.5 m radius at most.
    thinning.maximumPositionError = 0.16
    thinning.maximumAngleErrorRadians = 0.01
    thinning.maximumGapSeconds = 0.75
    importer.thinning = thinning
    let report = try importer.importRecording(from: folder.path(""), to: folder.path("out"))
    #expect(report.name == "plaza1")
    #expect(report.posesRead == 121)
    #expect(report.posesWritten == 41)
    #expect(report.truePosesWritten == 41)
    #expect(report.samples == 120)
  }

  @Test("The published path goes along its own direction")
  func path() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.circle().bytes, to: "Plaza1_.mat")
    var importer = PlazaImporter()
    importer.odometry = .path
    _ = try importer.importRecording(from: folder.path(""), to: folder.path("out"))
    var poses = try RecordingReader(folder: folder.path("out")).trajectory()
    while let row = try poses.next() {
      #expect(row.worldFromDevice.rotation.angle(to: .identity) < 1e-9)
      #expect(abs(row.worldFromDevice.translation.x - 8 * row.timestamp.seconds) < 1e-3)
    }
  }

  @Test("Which run it is must be clear")
  func detection() throws {
    let folder = try TemporaryFolder()
    var importer = PlazaImporter()
    func code() -> RecordingError.Code? {
      do {
        _ = try importer.importRecording(from: folder.path(""), to: folder.path("out"))
        return nil
      } catch { return error.code }
    }
    #expect(code() == .missingFile)
    importer.run = .plaza2
    #expect(code() == .missingFile)
    try folder.write(Self.circle().bytes, to: "Plaza1_.mat")
    #expect(code() == .missingFile)
    try folder.write(Self.circle().bytes, to: "Plaza2_.mat")
    importer.run = nil
    #expect(code() == .missingValue)
    importer.run = .plaza2
    #expect(code() == nil)
    // The recording exists now.
    #expect(code() == .occupiedOutput)
    importer.replacesRecording = true
    #expect(code() == nil)
  }

  @Test("Tables that do not fit are named")
  func wrongTables() throws {
    let folder = try TemporaryFolder()
    func error(
      _ table: String, _ change: (inout [[Double]]) -> Void
    ) throws -> RecordingError? {
      var sketch = Self.circle()
      let index = try #require(sketch.tables.firstIndex { $0.name == table })
      change(&sketch.tables[index].rows)
      try folder.write(sketch.bytes, to: "Plaza1_.mat")
      do {
        _ = try PlazaImporter().importRecording(from: folder.path(""), to: folder.path("out"))
        return nil
      } catch { return error }
    }
    #expect(try error("GT") { $0.removeLast() }?.code == .wrongFieldCount)
    #expect(try error("GT") { $0[7][0] = 100 }?.code == .timeWentBack)
    #expect(try error("DR") { $0[7][0] += 1 }?.code == .valueOutOfRange)
    #expect(try error("TL") { $0 = $0.map { [$0[0]] } }?.code == .wrongFieldCount)
    #expect(try error("TD") { $0[7][2] = 1.5 }?.code == .malformedField)
    let notFinite = try #require(try error("TD") { $0[7][3] = .nan })
    #expect(notFinite.code == .notFinite)
    #expect(notFinite.message.contains("row 8"))
    #expect(try folder.contents("") == ["Plaza1_.mat"])
  }

  @Test(
    "Numbers that would overflow are an error with table and row",
    arguments: ["GT", "DR", "DRp", "TD", "TL"], PlazaImporter.Odometry.allCases)
  func hugeNumbers(table: String, odometry: PlazaImporter.Odometry) throws {
    let folder = try TemporaryFolder()
    var sketch = Self.circle()
    let index = try #require(sketch.tables.firstIndex { $0.name == table })
    sketch.tables[index].rows[1][2] = -1e308
    try folder.write(sketch.bytes, to: "in/Plaza2_.mat")
    var importer = PlazaImporter()
    importer.odometry = odometry
    let error = try #require(throws: RecordingError.self) {
      try importer.importRecording(from: folder.path("in"), to: folder.path("out"))
    }
    #expect(error.file == "Plaza2_.mat")
    #expect(error.message == "\"\(table)\" holds -1e+308 in row 2")
  }

  @Test("Odometry that does not fit the truth is an error of the file, not of the output")
  func absurdDrift() throws {
    let folder = try TemporaryFolder()
    var sketch = Self.circle()
    for row in sketch.tables[1].rows.indices { sketch.tables[1].rows[row][1] = 1e6 }
    try folder.write(sketch.bytes, to: "in/Plaza2_.mat")
    let error = try #require(throws: RecordingError.self) {
      try PlazaImporter().importRecording(from: folder.path("in"), to: folder.path("out"))
    }
    #expect(error.file == "Plaza2_.mat")
    #expect(error.message.hasPrefix("the odometry drifts by"))
  }

  @Test("A file cut anywhere is an error, never a crash", arguments: [false, true])
  func truncated(isCompressed: Bool) throws {
    let folder = try TemporaryFolder()
    var sketch = MatlabSketch(tables: [
      ("GT", [[0, 0, 0, 0], [1, 1, 0, 0]]), ("DR", [[1, 1, 0]]),
      ("DRp", [[0, 0, 0, 0], [1, 1, 0, 0]]), ("TD", [[0.5, 2, 1, 3]]), ("TL", [[1, 3, 0]]),
    ])
    sketch.isCompressed = isCompressed
    let bytes = sketch.bytes
    for length in 0..<bytes.count {
      try folder.write(Array(bytes.prefix(length)), to: "Plaza1_.mat")
      do {
        _ = try PlazaImporter().importRecording(from: folder.path(""), to: folder.path("out"))
        Issue.record("\(length) of \(bytes.count) bytes were enough")
      } catch {
        #expect(error.file == "Plaza1_.mat")
      }
    }
    try folder.write(bytes, to: "Plaza1_.mat")
    _ = try PlazaImporter().importRecording(from: folder.path(""), to: folder.path("out"))
  }

  @Test("A file with any byte changed is an error or another run, never a crash")
  func corrupted() throws {
    let folder = try TemporaryFolder()
    let bytes = MatlabSketch(tables: [
      ("GT", [[0, 0, 0, 0], [1, 1, 0, 0]]), ("DR", [[1, 1, 0]]),
      ("DRp", [[0, 0, 0, 0], [1, 1, 0, 0]]), ("TD", [[0.5, 2, 1, 3]]), ("TL", [[1, 3, 0]]),
    ]).bytes
    // Nothing can be written below a file, so that an import that survives the reading ends there
    // quickly.
    let output = folder.path("Plaza1_.mat/out")
    for index in 128..<bytes.count {
      for flip in [0x01, 0x80, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= flip
        try folder.write(damaged, to: "Plaza1_.mat")
        let error = try #require(throws: RecordingError.self) {
          try PlazaImporter().importRecording(from: folder.path(""), to: output)
        }
        #expect(error.file == (error.code == .unwritableFile ? output : "Plaza1_.mat"))
      }
    }
  }

  @Test(
    "The runs as GTSAM has them",
    .enabled(if: ProcessInfo.processInfo.environment["NEARBY_PLAZA"] != nil),
    arguments: PlazaImporter.Run.allCases)
  func realRuns(run: PlazaImporter.Run) throws {
    let folder = try TemporaryFolder()
    let source = try #require(ProcessInfo.processInfo.environment["NEARBY_PLAZA"])
    var importer = PlazaImporter()
    importer.run = run
    let report = try importer.importRecording(from: source, to: folder.path("out"))
    #expect(abs(report.rangeErrors.scaleError - 0.07) < 0.001)
    for file in ["recording.json", "trajectory.txt", "ranging.csv", "truth/trajectory.txt"] {
      let committed = try String(
        contentsOf: Datasets.folder.appending(path: "\(run.rawValue)/\(file)"), encoding: .utf8)
      #expect(try folder.text("out/\(file)") == committed, "\(file) differs")
    }
    // The path in the file ends tens of metres from the truth.
    importer.odometry = .path
    importer.replacesRecording = true
    let path = try importer.importRecording(from: source, to: folder.path("out"))
    #expect(path.drift.largestPositionError > 40)
  }
}

extension Vector3 {
  fileprivate func distance(to other: Vector3) -> Double { (self - other).length }
}
