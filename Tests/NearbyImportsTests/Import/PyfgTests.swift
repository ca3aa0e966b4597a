// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Factor graphs in the PyFG format")
struct PyfgTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A robot that goes 1 m a step and turns left by a quarter each time, a second robot, a landmark.
  static let planar = """
    VERTEX_SE2 0.000000000 A0 10 20 1.5707963267948966
    VERTEX_SE2 1.000000000 A1 10 21 3.141592653589793
    VERTEX_SE2 2.000000000 A2 9 21 -1.5707963267948966
    VERTEX_SE2 0.5 B0 5 5 0
    VERTEX_SE2 2.5 B1 6 5 0
    VERTEX_XY L0 12 20
    VERTEX_SE2:PRIOR 0 A0 10 20 1.57 1 0 0 1 0 1
    EDGE_SE2 1.000000000 A0 A1 1 0 1.5707963267948966 1 0 0 1 0 1
    EDGE_SE2 2.000000000 A1 A2 1.1 0 1.5707963267948966 1 0 0 1 0 1
    EDGE_SE2 2.000000000 A0 A2 1 1 3.14 1 0 0 1 0 1
    EDGE_RANGE 2.000000000 A2 B1 16.2 0.04
    EDGE_RANGE 0.000000000 L0 A0 2.1 0.010000
    EDGE_RANGE 0.000000000 B0 L0 2.1 0.010000
    EDGE_SE2_XY 1.0 A1 L0 -2 1 0.04 0 0.01

    """

  @Test("A planar graph: steps added up, ranges with sigmas, truth of robots and landmarks")
  func planarGraph() throws {
    try folder.write(Self.planar, to: "g.pyfg")
    var importer = PyfgImporter(path: folder.path("g.pyfg"))
    importer.options.kind = .odometry
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(
      report.leftOut == ["priors": 1, "loop closures": 1, "measurements of other robots": 1])
    let recording = try RecordingReader(folder: folder.path("out"))
    #expect(recording.manifest.frames == FrameConvention(up: .z, axes: .ros))
    #expect(recording.manifest.trajectory.isPlanar)
    #expect(
      recording.manifest.peers == [
        RecordingPeer(id: "L0"), RecordingPeer(id: "B", motion: .moving),
      ])
    var poses = try recording.trajectory()
    for (x, y) in [(10.0, 20.0), (10, 21), (8.9, 21)] {
      let row = try #require(try poses.next())
      #expect((row.worldFromDevice.translation - Vector3(x, y, 0)).length < 1e-8)
    }
    var samples = try recording.ranging()
    let first = try #require(try samples.next())
    #expect(first.peer == "L0")
    #expect(first.distance == 2.1)
    #expect(first.distanceSigma == 0.1)
    // Two metres behind and one to the left.
    let second = try #require(try samples.next())
    #expect(second.timestamp.seconds == 1)
    #expect(abs((second.distance ?? 0) - 5.0.squareRoot()) < 1e-9)
    #expect(abs((second.azimuthRadians ?? 0) - atan2(-1, -2)) < 1e-9)
    #expect(second.elevationRadians == nil)
    // u = (-2, 1) / √5: (4 · 0.04 + 0.01) / 5; across: (0.04 + 4 · 0.01) / 5, over the distance.
    #expect(abs((second.distanceSigma ?? 0) - (0.17 / 5).squareRoot()) < 1e-9)
    #expect(abs((second.azimuthSigmaRadians ?? 0) - (0.08 / 25).squareRoot()) < 1e-9)
    let third = try #require(try samples.next())
    #expect(third.peer == "B")
    #expect(third.timestamp.seconds == 2)
    #expect(
      try folder.text("out/truth/peers.csv") == """
        timestamp,peer,x,y,z
        0.000000,L0,12,20,0
        0.500000,B,5,5,0
        2.500000,B,6,5,0

        """)
    importer.robot = "B"
    importer.options.replacesRecording = true
    let other = try importer.importRecording(to: folder.path("out"))
    #expect(other.posesRead == 2)
    #expect(other.samples == 2)
    importer.robot = "C"
    let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
    #expect(error?.remedy == "name one of A, B")
  }

  @Test("A landmark's position and covariance become angles and their sigmas")
  func bearing() throws {
    // Sigmas of the angles by finite differences of the angles themselves.
    let place = Vector3(3, 1, 0.5)
    try folder.write(
      """
      VERTEX_SE3:QUAT 5 A0 0 0 0 0 0 0 1
      VERTEX_XYZ L7 3 1 0.5
      EDGE_SE3_XYZ 5 A0 L7 3 1 0.5 0.04 0.01 0.002 0.09 -0.003 0.16

      """, to: "g")
    _ = try PyfgImporter(path: folder.path("g")).importRecording(to: folder.path("out"))
    var samples = try RecordingReader(folder: folder.path("out")).ranging()
    let row = try #require(try samples.next())
    let covariance = SymmetricMatrix3(xx: 0.04, xy: 0.01, xz: 0.002, yy: 0.09, yz: -0.003, zz: 0.16)
    func values(_ d: Vector3) -> [Double] {
      [d.length, atan2(-d.y, d.x), atan2(d.z, (d.x * d.x + d.y * d.y).squareRoot())]
    }
    let measured = [row.distance, row.azimuthRadians, row.elevationRadians]
    let sigmas = [row.distanceSigma, row.azimuthSigmaRadians, row.elevationSigmaRadians]
    for index in 0..<3 {
      func slope(_ axis: Vector3) -> Double {
        (values(place + 1e-6 * axis)[index] - values(place - 1e-6 * axis)[index]) / 2e-6
      }
      let gradient = Vector3(
        slope(Vector3(1, 0, 0)), slope(Vector3(0, 1, 0)), slope(Vector3(0, 0, 1)))
      #expect(abs((measured[index] ?? 0) - values(place)[index]) < 1e-9)
      #expect(
        abs((sigmas[index] ?? 0) - covariance.quadraticForm(gradient).squareRoot()) < 1e-7)
    }
  }

  @Test("A graph of vertices alone is a true trajectory")
  func vertices() throws {
    try folder.write(
      "VERTEX_SE2 0 A0 1 2 0\nVERTEX_SE2 1 A5 2 2 0\n", to: "g")
    let report = try PyfgImporter(path: folder.path("g")).importRecording(to: folder.path("out"))
    #expect(report.posesRead == 2)
    #expect(report.truePosesWritten == 2)
    #expect(report.pathLength == 1)
  }

  @Test("A recording goes out as a graph and comes in again, antenna and frames aside")
  func roundTrip() throws {
    var manifest = RecordingManifest(name: "walk")
    manifest.device.antenna = Vector3(0.1, -0.2, 0.3)
    var writer = try RecordingWriter(
      path: folder.path("walk"), manifest: manifest,
      options: {
        var options = RecordingWriter.Options()
        options.lengthDecimals = 12
        options.angleDecimals = 14
        options.columns = [.distanceSigma, .azimuthSigma, .elevationSigma]
        return options
      }())
    for index in 0...20 {
      let turn = Rotation(angleRadians: 0.1 * Double(index), about: Vector3(0.1, 1, 0.2))
      let pose = PoseRow(
        timestamp: Timestamp(nanoseconds: Int64(index) * 100_000_000),
        worldFromDevice: RigidTransform(
          rotation: turn, translation: Vector3(Double(index), 1, 0.5 * Double(index))))
      try writer.append(pose)
      try writer.appendTruth(pose)
    }
    for index in 0..<30 {
      try writer.append(
        RangingRow(
          timestamp: Timestamp(nanoseconds: Int64(index) * 70_000_000), peer: "keys",
          distance: 3 + 0.1 * Double(index),
          azimuthRadians: index % 3 == 0 ? nil : -0.05 * Double(index),
          elevationRadians: 0.02 * Double(index), distanceSigma: 0.2,
          azimuthSigmaRadians: index % 3 == 0 ? nil : 0.05, elevationSigmaRadians: 0.1))
    }
    try writer.appendTruth(
      TruthPeerRow(
        timestamp: Timestamp(nanoseconds: 0), peer: "keys", positionInWorld: Vector3(1, 2, 3)))
    try writer.finish()

    let exporter = try PyfgExporter(RecordingReader(folder: folder.path("walk")))
    let report = try exporter.export(to: folder.path("walk.pyfg"))
    // 29 moments within the trajectory, 28 steps, 29 samples and a landmark.
    #expect(report.lines == 29 + 28 + 29 + 1)
    #expect(
      report.leftOut == [
        "angles that come alone": 10, "samples before the first pose or behind the last": 1,
      ])
    var importer = PyfgImporter(path: folder.path("walk.pyfg"))
    importer.options.kind = .odometry
    _ = try importer.importRecording(to: folder.path("again"))
    let again = try RecordingReader(folder: folder.path("again"))
    // z is up now: y to z, z to -y.
    #expect(try folder.text("again/truth/peers.csv").hasSuffix("L0,1,-3,2\n"))
    var interpolator = try PoseInterpolator(
      try RecordingReader(folder: folder.path("walk")).trajectory())
    var poses = try again.trajectory()
    while let row = try poses.next() {
      let original = try #require(try interpolator.pose(at: row.timestamp))
      let antenna = original.act(manifest.device.antenna)
      let place = again.manifest.frames.engineWorldFromWorld.act(row.worldFromDevice.translation)
      #expect((place - antenna).length < 1e-7)
      let engine = row.devicePose(from: again.manifest.frames).worldFromDevice.rotation
      #expect(engine.angle(to: original.rotation) < 1e-7)
    }
    var before = try RecordingReader(folder: folder.path("walk")).ranging()
    var after = try again.ranging()
    while let row = try after.next() {
      let original = try #require(try before.next())
      #expect(abs((row.distance ?? 0) - (original.distance ?? 0)) < 1e-8)
      #expect(abs((row.distanceSigma ?? 0) - 0.2) < 1e-8)
      guard let azimuth = original.azimuthRadians, let elevation = original.elevationRadians else {
        #expect(row.azimuthRadians == nil)
        continue
      }
      #expect(abs((row.azimuthRadians ?? 9) - azimuth) < 1e-8)
      #expect(abs((row.elevationRadians ?? 9) - elevation) < 1e-8)
      #expect(abs((row.elevationSigmaRadians ?? 0) - 0.1) < 1e-7)
      #expect(abs((row.azimuthSigmaRadians ?? 0) - 0.05) < 1e-7)
    }
  }

  @Test(
    "Faults are found where they are",
    arguments: [
      ("", RecordingError.Code.noSamples, nil), ("VERTEX_SE4 1\n", .malformedField, 1),
      ("VERTEX_SE2 0 A0 1 2\n", .wrongFieldCount, 1),
      ("VERTEX_SE2 0 7 1 2 0\n", .malformedField, 1),
      ("VERTEX_SE2 0 A0 1 2 0\nVERTEX_XYZ L0 1 2 3\n", .malformedField, 2),
      ("VERTEX_SE2 0 A0 1 2 0\nEDGE_RANGE 0 A0 L0 1 0\n", .valueOutOfRange, 2),
      ("VERTEX_SE2 0 A0 1 2 0\nEDGE_RANGE 0 A0 L0 x 1\n", .malformedNumber, 2),
      ("VERTEX_XY L0 1 2\nVERTEX_XY L0 1 2\n", .malformedField, 2),
      (
        "VERTEX_SE2 0 A0 0 0 0\nVERTEX_SE2 1 A1 0 0 0\nVERTEX_SE2 2 A2 0 0 0\n"
          + "EDGE_SE2 1 A0 A1 1 0 0 1 0 0 1 0 1\n", .missingValue, nil
      ),
      ("VERTEX_SE2 1 A0 1 2 0\nVERTEX_SE2 0 A1 1 2 0\n", .timeWentBack, nil),
    ] as [(String, RecordingError.Code, Int?)])
  func faults(text: String, code: RecordingError.Code, line: Int?) throws {
    try folder.write(text, to: "g")
    let error = recordingError {
      _ = try PyfgImporter(path: folder.path("g")).importRecording(to: folder.path("out"))
    }
    #expect(error?.code == code)
    #expect(error?.line == line)
    #expect(error?.file == folder.path("g"))
  }

  @Test("Damage is an error, never a trap")
  func damage() throws {
    try expectNoTrap(Array(Self.planar.utf8)) { path in
      let graph = try PyfgGraph(path: path)
      _ = try PyfgWalk(graph, robot: graph.firstPrefix ?? "", file: path)
    }
  }

  private func manifest(
    of graph: String, _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> RecordingManifest {
    try folder.write(graph, to: "g.pyfg")
    var importer = PyfgImporter(path: folder.path("g.pyfg"))
    importer.options.kind = .odometry
    importer.options.replacesRecording = true
    change(&importer.options)
    _ = try importer.importRecording(to: folder.path("drift"))
    return try RecordingReader(folder: folder.path("drift")).manifest
  }

  @Test("The covariances of steps in the plane are the drift, and a pause does not count")
  func planarDrift() throws {
    let graph = """
      VERTEX_SE2 0 A0 0 0 0
      EDGE_SE2 1 A0 A1 1 0 0 0.01 0 0 0.03 0 0.0004
      EDGE_SE2 2 A1 A2 2 0 0 0.02 0 0 0.06 0 0.0008
      EDGE_SE2 90 A2 A3 0.01 0 0 9 0 0 9 0 1
      EDGE_SE2 91 A3 A4 0 0 0 1 0 0 1 0 1
      EDGE_RANGE 0 A0 L0 2 0.01

      """
    // √0.02 m and 0.02 rad in a root metre, rounded up.
    let drift = try manifest(of: graph).trajectory
    #expect(drift.positionDrift == 0.15)
    #expect(drift.yawDriftDegrees == 1.2)
    let stated = try manifest(of: graph) { $0.yawDriftDegrees = 5 }.trajectory
    #expect(stated.positionDrift == 0.15 && stated.yawDriftDegrees == 5)
    let silent = graph.replacing("0.01 0 0 0.03 0 0.0004", with: "0 0 0 0 0 0")
      .replacing("0.02 0 0 0.06 0 0.0008", with: "0 0 0 0 0 0")
    #expect(try manifest(of: silent).trajectory.positionDrift == 0.01)
  }

  @Test("In space the drift of yaw is the part of the rotation's covariance about the vertical")
  func spatialDrift() throws {
    let half = 0.5.squareRoot()
    // The device lies on its side: its y axis points up.
    let graph = """
      VERTEX_SE3:QUAT 0 A0 0 0 0 \(half) 0 0 \(half)
      EDGE_SE3:QUAT 1 A0 A1 0 0 -1 0 0 0 1 0.01 0 0 0 0 0 0.02 0 0 0 0 0.03 0 0 0 1 0 0 4e-4 0 1
      EDGE_RANGE 0 A0 L0 2 0.01

      """
    let drift = try manifest(of: graph).trajectory
    #expect(drift.positionDrift == 0.15)
    #expect(drift.yawDriftDegrees == 1.2)
  }

  @Test("A variance below zero is an error with its column")
  func negativeVariance() throws {
    try folder.write(
      "VERTEX_SE2 0 A0 0 0 0\nEDGE_SE2 1 A0 A1 1 0 0 0.01 0 0 -0.03 0 0.0004\n", to: "g.pyfg")
    let error = recordingError {
      _ = try PyfgImporter(path: folder.path("g.pyfg")).importRecording(to: folder.path("out"))
    }
    #expect(error?.code == .valueOutOfRange)
    #expect(error?.line == 2 && error?.column == 33)
  }
}
