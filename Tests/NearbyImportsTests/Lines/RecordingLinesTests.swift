// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Recordings as JSON lines")
struct RecordingLinesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static let text = """
    {"type":"manifest","manifest":{"format":"nearby-recording","version":1,"name":"walk","world":{"up":"z"},"device":{"axes":"ros"},"peers":[{"id":"keys","motion":"moving"}]}}
    {"type":"pose","timestamp":1700000000.123456789,"tx":1,"ty":-2.5e-3,"tz":3,"qx":0,"qy":0,"qz":0.6,"qw":0.8}
    { "timestamp" : 1700000000.2 , "peer" : "a \\"b\\" \\u00e9" , "distance" : 3.25 , "type" : "range", "azimuth": null, "elevation": -0.5, "nlos": true, "rssi": "nan", "more": {"x": ["}"]} }

    {"type":"tracking","timestamp":1700000000.3,"state":"limited","reason":"excessiveMotion","ambient_intensity":120}
    {"type":"truePose","timestamp":1700000000.1,"tx":0,"ty":0,"tz":0,"qx":0,"qy":0,"qz":0,"qw":1}
    {"type":"truePeer","timestamp":0,"peer":"keys","x":1,"y":2,"z":3}

    """

  private func lines(_ text: String) throws -> [RecordingLine] {
    try folder.write(text, to: "lines")
    var reader = try RecordingLineReader(path: folder.path("lines"))
    var lines: [RecordingLine] = []
    while let line = try reader.next() { lines.append(line) }
    return lines
  }

  @Test("Every type of line is read, numbers exactly")
  func reads() throws {
    let lines = try lines(Self.text)
    #expect(lines.count == 6)
    guard case .manifest(let manifest) = lines[0], case .pose(let pose) = lines[1],
      case .range(let range) = lines[2], case .tracking(let tracking) = lines[3]
    else { return #expect(Bool(false), "\(lines)") }
    #expect(manifest.name == "walk")
    #expect(manifest.peers == [RecordingPeer(id: "keys", motion: .moving)])
    #expect(pose.timestamp.nanoseconds == 1_700_000_000_123_456_789)
    #expect(pose.worldFromDevice.translation == Vector3(1, -0.0025, 3))
    #expect(pose.worldFromDevice.rotation.z == 0.6)
    #expect(range.peer == "a \"b\" é")
    #expect(range.distance == 3.25)
    #expect(range.azimuthRadians == nil)
    #expect(range.elevationRadians == -0.5)
    #expect(range.rssi?.isNaN == true)
    #expect(range.isNonLineOfSight == true)
    #expect(range.line == 3)
    #expect(tracking.sample.quality == .limited(.excessiveMotion))
    #expect(tracking.sample.ambientIntensityLumens == 120)
    #expect(tracking.line == 5)
  }

  @Test("Lines that are written read back the same, to the last bit")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 7)
    var written: [RecordingLine] = [.manifest(RecordingManifest(name: "a \"b\"\n"))]
    for index in 0..<200 {
      func number() -> Double { Double.random(in: -10...10, using: &generator) }
      let pose = PoseRow(
        timestamp: Timestamp(nanoseconds: Int64.random(in: 0...1 << 60, using: &generator)),
        worldFromDevice: RigidTransform(
          rotation: Rotation(
            angleRadians: number(), about: Vector3(number(), number(), number())),
          translation: Vector3(number(), number() * 1e-9, number() * 1e5)),
        line: 3 * index + 2)
      written.append(index % 2 == 0 ? .pose(pose) : .truePose(pose))
      written.append(
        .range(
          RangingRow(
            timestamp: pose.timestamp, peer: "p\(index % 3)", distance: number(),
            azimuthRadians: index % 2 == 0 ? nil : number(), elevationRadians: number(),
            distanceSigma: number(), azimuthSigmaRadians: number(),
            elevationSigmaRadians: number(), azimuthFigureOfMerit: number(),
            elevationFigureOfMerit: number(), rssi: .infinity, isNonLineOfSight: index % 2 == 0,
            heightDifference: index % 5 == 0 ? nil : number(), heightDifferenceSigma: number(),
            line: 3 * index + 3)))
      written.append(
        .tracking(
          TrackingRow(
            sample: TrackingSample(
              timestamp: pose.timestamp, quality: .limited(.unspecified),
              ambientIntensityLumens: abs(number())), line: 3 * index + 4)))
    }
    var text = OutputText()
    for line in written { text.append(line) }
    let read = try lines(String(decoding: text.bytes, as: UTF8.self))
    #expect(read == written)
  }

  @Test("A recording goes out and comes in the same")
  func exportImport() throws {
    try folder.write(Self.text, to: "in.jsonl")
    let report = try LinesImporter(path: folder.path("in.jsonl"))
      .importRecording(to: folder.path("walk"))
    #expect(report.name == "walk")
    #expect(report.samples == 1)
    #expect(report.frames == FrameConvention(up: .z, axes: .ros))
    #expect(report.leftOut.keys.sorted() == ["range: unknown key \"more\""])
    #expect(
      try folder.text("walk/ranging.csv") == """
        timestamp,peer,distance,azimuth,elevation,rssi,nlos
        1700000000.200000,"a ""b"" é",3.25,,-0.5,nan,1

        """)
    let written = try LinesExporter(RecordingReader(folder: folder.path("walk")))
      .export(to: folder.path("out.jsonl"))
    #expect(written.lines == 6)
    var again = LinesImporter(path: folder.path("out.jsonl"))
    again.options.name = "walk"
    _ = try again.importRecording(to: folder.path("again"))
    for file in [
      "recording.json", "trajectory.txt", "ranging.csv", "tracking.csv", "truth/trajectory.txt",
      "truth/peers.csv",
    ] {
      #expect(try folder.text("again/\(file)") == folder.text("walk/\(file)"), "\(file)")
    }
  }

  @Test("A live run over the lines of a recording gives its estimates", arguments: ["plaza2"])
  func live(name: String) throws {
    let recording = try RecordingReader(folder: Datasets.folder.appending(path: name).path)
    _ = try LinesExporter(recording).export(to: folder.path("lines"))
    var reader = try RecordingLineReader(path: folder.path("lines"))
    var live = try LiveRun(
      manifest: recording.manifest, configuration: recording.manifest.fusionConfiguration())
    var fromLines = OutputText()
    while let line = try reader.next() {
      switch line {
      case .pose(let row):
        let outcome = live.add(row)
        #expect(outcome != .rejectedNotLater)
      case .tracking(let row): live.add(row)
      case .range(let row):
        let answer = live.add(row)
        let (report, estimate) = try #require(answer)
        fromLines.appendEstimate(row, report, estimate, frames: recording.manifest.frames)
      default: break
      }
    }
    var fromRun = OutputText()
    _ = try RecordingReplay(recording).run { (row, report, estimate) throws(RecordingError) in
      fromRun.appendEstimate(row, report, estimate, frames: recording.manifest.frames)
    }
    #expect(fromRun.count > 100_000)
    #expect(fromLines.bytes == fromRun.bytes)
  }

  @Test(
    "Faults are found where they are, and the next line can be read",
    arguments: [
      ("[1]", RecordingError.Code.malformedField, 1), ("{", .malformedField, 2),
      ("{\"type\":\"pose\"", .malformedField, 15), ("{\"type\" 1}", .malformedField, 9),
      ("{\"a\":tru}", .malformedField, 6), ("{} x", .malformedField, 4), ("{}", .missingValue, nil),
      ("{\"type\":\"poes\"}", .valueOutOfRange, 10), ("{\"type\":1}", .wrongType, 9),
      ("{\"type\":\"range\",\"timestamp\":1}", .emptyPeer, nil),
      ("{\"type\":\"range\",\"timestamp\":\"1\",\"peer\":\"a\"}", .malformedNumber, 30),
      (
        "{\"type\":\"range\",\"timestamp\":1,\"peer\":\"a\",\"distance\":\"3\"}", .malformedNumber,
        54
      ),
      ("{\"type\":\"range\",\"timestamp\":1,\"peer\":\"\\x\"}", .malformedField, 39),
      ("{\"type\":\"tracking\",\"timestamp\":1,\"state\":\"bad\"}", .malformedField, 43),
      ("{\"type\":\"manifest\"}", .valueOutOfRange, nil),
      ("{\"type\":\"pose\nx", .malformedField, 14),
      (
        "{\"type\":\"pose\",\"timestamp\":1,\"tx\":0,\"ty\":0,\"tz\":0,\"qx\":0,\"qy\":0,\"qz\":0,\"qw\":2}",
        .invalidRotation, nil
      ),
    ] as [(String, RecordingError.Code, Int?)])
  func faults(line: String, code: RecordingError.Code, column: Int?) throws {
    let peer = "{\"type\":\"truePeer\",\"timestamp\":0,\"peer\":\"k\",\"x\":1,\"y\":2,\"z\":3}\n"
    try folder.write(peer + line + "\n" + peer, to: "lines")
    var reader = try RecordingLineReader(path: folder.path("lines"))
    _ = try reader.next()
    var errors: [RecordingError] = []
    var last: RecordingLine?
    while true {
      do {
        guard let line = try reader.next() else { break }
        last = line
      } catch { errors.append(error) }
    }
    #expect(errors.first?.code == code)
    #expect(errors.first?.line == 2)
    #expect(errors.first?.column == column)
    #expect(errors.allSatisfy { $0.file == folder.path("lines") })
    #expect(errors.allSatisfy(RecordingLineReader.canGoOn))
    guard case .truePeer = last else { return #expect(Bool(false), "the next line was lost") }
  }

  @Test("A fault in the manifest is found in its line")
  func manifestFault() throws {
    let error = recordingError {
      _ = try lines(
        "{\"type\":\"manifest\",\"manifest\":{\"format\":\"nearby-recording\",\"version\":2,\"name\":\"n\"}}"
      )
    }
    #expect(error?.code == .unsupportedVersion)
    #expect(error?.line == 1)
    #expect(error?.column == 70)
  }

  @Test("Damage is an error, never a trap")
  func damage() throws {
    try expectNoTrap(Array(Self.text.utf8)) { path in
      var reader = try RecordingLineReader(path: path)
      while try reader.next() != nil {}
    }
  }
}
