// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite("Writing recordings")
struct RecordingWriterTests {
  static func time(_ seconds: Double) throws -> Timestamp {
    try #require(Timestamp(seconds: seconds))
  }

  static func pose(_ seconds: Double, x: Double = 0, yaw: Double = 0) throws -> PoseRow {
    PoseRow(
      timestamp: try time(seconds),
      worldFromDevice: RigidTransform(
        rotation: Rotation(angleRadians: yaw, about: Vector3(0.1, 1, -0.2)),
        translation: Vector3(x, 1.25, -0.5)))
  }

  static func sample(_ seconds: Double, peer: String = "peer") throws -> RangingRow {
    RangingRow(timestamp: try time(seconds), peer: peer, distance: 3.25)
  }

  /// A recording of two poses and two samples.
  static func writeSmall(
    _ path: String, name: String = "small", replacing: Bool = false
  ) throws(any Error) {
    var options = RecordingWriter.Options()
    options.replacesRecording = replacing
    var writer = try RecordingWriter(
      path: path, manifest: RecordingManifest(name: name), options: options)
    try writer.append(pose(0))
    try writer.append(sample(0.1))
    try writer.append(pose(1, x: 2))
    try writer.append(sample(0.9))
    try writer.finish()
  }

  @Test("Written recordings are read back")
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    var manifest = RecordingManifest(name: "all \"of\" it")
    manifest.device.antenna = Vector3(0.02, 0.05, -0.01)
    manifest.trajectory.kind = .odometry
    manifest.peers = [RecordingPeer(id: "a"), RecordingPeer(id: "b, \"b\"", motion: .moving)]
    var options = RecordingWriter.Options()
    options.columns = Set(RecordingWriter.OptionalColumn.allCases)
    let full = RangingRow(
      timestamp: Timestamp(nanoseconds: 1_500_000_001), peer: "b, \"b\"", peerIndex: 1,
      distance: 3.25, azimuthRadians: -0.5, elevationRadians: 0.125, distanceSigma: 0.1,
      azimuthSigmaRadians: 0.05, elevationSigmaRadians: 0.0625, azimuthFigureOfMerit: 80,
      elevationFigureOfMerit: 0.5, rssi: -78.25, isNonLineOfSight: true, heightDifference: -2.5,
      heightDifferenceSigma: 0.125)
    let tracking = [
      TrackingSample.Quality.normal, .limited(.excessiveMotion), .limited(.unspecified),
      .notAvailable,
    ]

    var writer = try RecordingWriter(
      path: folder.path("all"), manifest: manifest, options: options)
    for index in 0..<500 {
      try writer.append(Self.pose(Double(index), x: 0.01 * Double(index), yaw: 0.1))
      try writer.append(Self.sample(Double(index), peer: "a"))
      try writer.appendTruth(Self.pose(Double(index), yaw: -3))
    }
    var late = full
    late.timestamp = try Self.time(498.5)
    try writer.append(late)
    for (index, quality) in tracking.enumerated() {
      try writer.append(
        TrackingRow(
          sample: TrackingSample(
            timestamp: try Self.time(Double(index)), quality: quality,
            ambientIntensityLumens: index == 0 ? 1000 : nil)))
    }
    try writer.appendTruth(
      TruthPeerRow(
        timestamp: try Self.time(0), peer: "b, \"b\"", positionInWorld: Vector3(1, -2, 0.5)))
    try writer.finish()

    let recording = try RecordingReader(folder: folder.path("all"))
    #expect(recording.manifest == manifest)
    #expect(recording.warnings.isEmpty)
    var poses = try recording.trajectory()
    for index in 0..<500 {
      let next = try poses.next()
      let row = try #require(next)
      let written = try Self.pose(Double(index), x: 0.01 * Double(index), yaw: 0.1)
      #expect(row.timestamp == written.timestamp)
      let error = row.worldFromDevice.translation - written.worldFromDevice.translation
      #expect(error.length < 1e-6)
      #expect(row.worldFromDevice.rotation.angle(to: written.worldFromDevice.rotation) < 1e-8)
    }
    let end = try poses.next()
    #expect(end == nil)
    var samples = try recording.ranging()
    var rows: [RangingRow] = []
    while let row = try samples.next() { rows.append(row) }
    #expect(rows.count == 501)
    var read = try #require(rows.first { $0.peer == "b, \"b\"" })
    read.line = 0
    #expect(read == late)
    var qualities = try TrackingReader(path: folder.path("all/tracking.csv"))
    let first = try qualities.next()
    #expect(first?.sample.ambientIntensityLumens == 1000)
    for quality in tracking.dropFirst() {
      let row = try qualities.next()
      #expect(row?.sample.quality == quality)
    }
    var peers = try TruthPeersReader(path: folder.path("all/truth/peers.csv"))
    let peer = try peers.next()
    #expect(peer?.peer == "b, \"b\"")
    #expect(peer?.positionInWorld == Vector3(1, -2, 0.5))
  }

  @Test("The files look as the format's page shows them")
  func text() throws {
    let folder = try TemporaryFolder()
    try Self.writeSmall(folder.path("small"))
    #expect(
      try folder.text("small/trajectory.txt") == """
        # timestamp tx ty tz qx qy qz qw
        0.000000 0 1.25 -0.5 0 0 0 1
        1.000000 2 1.25 -0.5 0 0 0 1

        """)
    #expect(
      try folder.text("small/ranging.csv") == """
        timestamp,peer,distance,azimuth,elevation
        0.100000,peer,3.25,,
        0.900000,peer,3.25,,

        """)
    #expect(try folder.contents("small") == ["ranging.csv", "recording.json", "trajectory.txt"])
  }

  @Test("An unfinished recording leaves no files")
  func unfinished() throws {
    let folder = try TemporaryFolder()
    do {
      var writer = try RecordingWriter(
        path: folder.path("a/b"), manifest: RecordingManifest(name: "b"))
      try writer.append(Self.pose(0))
    }
    #expect(try folder.contents("a") == [])
    var writer = try RecordingWriter(
      path: folder.path("a/c"), manifest: RecordingManifest(name: "c"))
    try writer.append(Self.pose(0))
    let error = Self.finishError(writer)
    #expect(error?.code == .noSamples)
    #expect(error?.file == "ranging.csv")
    #expect(try folder.contents("a") == [])
  }

  private func code(of body: () throws -> Void) -> RecordingError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? RecordingError)?.code }
  }

  private static func finishError(_ writer: consuming RecordingWriter) -> RecordingError? {
    do {
      try writer.finish()
      return nil
    } catch { return error }
  }

  @Test("A folder in use is not touched, a recording is replaced on request")
  func overwriting() throws {
    let folder = try TemporaryFolder()
    try Self.writeSmall(folder.path("r/"))
    let refused = try #require(throws: RecordingError.self) {
      try Self.writeSmall(folder.path("r"), name: "new")
    }
    #expect(refused.code == .occupiedOutput)
    #expect(try RecordingReader(folder: folder.path("r")).manifest.name == "small")
    try Self.writeSmall(folder.path("r"), name: "new", replacing: true)
    #expect(try RecordingReader(folder: folder.path("r")).manifest.name == "new")

    try folder.write("precious", to: "other/letter.txt")
    #expect(throws: RecordingError.self) {
      try Self.writeSmall(folder.path("other"), replacing: true)
    }
    #expect(throws: RecordingError.self) {
      try Self.writeSmall(folder.path("other/letter.txt"), replacing: true)
    }
    #expect(try folder.text("other/letter.txt") == "precious")

    try folder.makeFolder("empty")
    try Self.writeSmall(folder.path("empty"))
    #expect(try folder.contents("") == ["empty", "other", "r"])
  }

  @Test("An invalid row is refused, and leaves no trace")
  func refusedRows() throws {
    let folder = try TemporaryFolder()
    var writer = try RecordingWriter(
      path: folder.path("r"), manifest: RecordingManifest(name: "r"))
    try writer.append(Self.pose(5))
    try writer.append(Self.sample(5))
    try writer.appendTruth(
      TruthPeerRow(timestamp: try Self.time(1), peer: "peer", positionInWorld: .zero))
    var withSignal = try Self.sample(7)
    withSignal.rssi = -80
    let tooLate = TruthPeerRow(timestamp: try Self.time(0), peer: "peer", positionInWorld: .zero)
    let tooFar = RangingRow(timestamp: Timestamp(nanoseconds: .max), peer: "peer")
    let codes = [
      code { try writer.append(Self.pose(4.9)) },
      code { try writer.append(Self.pose(6, x: .nan)) },
      code { try writer.appendTruth(Self.pose(6, x: 2e7)) },
      code { try writer.append(Self.sample(3.9)) },
      code { try writer.append(Self.sample(7, peer: "")) },
      code { try writer.append(Self.sample(7, peer: "a\nb")) },
      code { try writer.append(withSignal) },
      code { try writer.appendTruth(tooLate) },
      code { try writer.append(tooFar) },
    ]
    #expect(
      codes == [
        .timeWentBack, .notFinite, .valueOutOfRange, .timeWentBack, .emptyPeer, .malformedField,
        .missingColumn, .timeWentBack, .valueOutOfRange,
      ])
    try writer.append(Self.sample(4))
    try writer.finish()
    #expect(try folder.text("r/ranging.csv").split(separator: "\n").count == 3)
    #expect(try folder.text("r/trajectory.txt").split(separator: "\n").count == 2)
    #expect(try folder.contents("r/truth") == ["peers.csv"])
  }

  @Test(
    "An invalid manifest is refused",
    arguments: [Double.nan, .infinity])
  func nonFinite(value: Double) throws {
    let folder = try TemporaryFolder()
    var manifest = RecordingManifest(name: "r")
    manifest.trajectory.positionDrift = value
    let refusal = recordingError {
      _ = try RecordingWriter(path: folder.path("r"), manifest: manifest)
    }
    #expect(refusal?.file == "recording.json")
    #expect(try folder.contents("") == [])
  }

  @Test("Measured values are written as they were, even those that no radio can mean")
  func strangeMeasurements() throws {
    let folder = try TemporaryFolder()
    var writer = try RecordingWriter(
      path: folder.path("r"), manifest: RecordingManifest(name: "r"))
    try writer.append(Self.pose(0))
    var sample = RangingRow(timestamp: try Self.time(0), peer: "a", distance: -1)
    (sample.azimuthRadians, sample.elevationRadians) = (.nan, -.infinity)
    try writer.append(sample)
    try writer.finish()
    #expect(try folder.text("r/ranging.csv").hasSuffix("\n0.000000,a,-1,nan,-inf\n"))
    var samples = try RecordingReader(folder: folder.path("r")).ranging()
    let row = try #require(try samples.next())
    #expect(row.azimuthRadians?.isNaN == true && row.elevationRadians == -.infinity)
  }
}
