// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation
import PhoneRecorder
import Testing

@testable import NearbyInteraction

/// The recorder for phones on simulated devices, whose recordings are replayed.
struct PhoneRecorderTests {
  private static let tagPlace = Vector3(1.5, 0.8, -2.5)
  /// How late the callbacks of the simulated phone are.
  private static let latency = 0.1

  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "recorder-\(UUID().uuidString.prefix(8))")

  /// What was recorded, and what is true of it.
  private struct Walk {
    var reader: RecordingReader
    /// The odometry's poses.
    var poses: [DevicePose]
    /// The tag in the odometry's world at the end.
    var tag: Vector3
  }

  /// Poses that a device reports.
  private final class Poses: @unchecked Sendable {
    // Unchecked: a stepped world calls on the thread that advances it.
    var all: [DevicePose] = []
  }

  /// Walks about and records a tag.
  private func record(seconds: Double, usesCamera: Bool) throws -> Walk {
    let world = SimulatedWorld()
    let phone = world.makeDevice(motion: .carried(ScenarioMotion(.wanderingWalk, seed: 5)))
    let tag = world.makeDevice(
      motion: .resting(at: RigidTransform(rotation: .identity, translation: Self.tagPlace)))
    let poses = Poses()
    let follower = phone.follow { event in
      if case .pose(let pose) = event { poses.all.append(pose) }
    }
    defer { phone.unfollow(follower) }
    var settings = PhoneRecorder.Settings(name: "walk")
    settings.usesCameraAssistance = usesCamera
    let antenna = SimulatedWorldSettings().radio.antennaInDevice
    settings.antenna = simd_float3(Float(antenna.x), Float(antenna.y), Float(antenna.z))
    settings.latency = Self.latency
    let queue = DispatchQueue(label: "recorder")
    let recorder = try PhoneRecorder(
      in: folder, settings, arSession: ARSession(on: phone), queue: queue,
      clock: { phone.now.seconds + Self.latency })
    let (here, there) = (NISession(on: phone), NISession(on: tag))
    there.run(NINearbyPeerConfiguration(peerToken: try #require(here.discoveryToken)))
    recorder.range(try #require(there.discoveryToken), as: "tag", on: here)
    for _ in 0..<Int(60 * seconds) {
      world.advance(bySeconds: 1.0 / 60)
      queue.sync {}
    }
    try recorder.finish()
    let last = try #require(poses.all.last).worldFromDevice
    return Walk(
      reader: try RecordingReader(folder: folder.path), poses: poses.all,
      tag: last.act(phone.truePose.inverse.act(Self.tagPlace)))
  }

  private func rows(of reader: RecordingReader) throws -> [RangingRow] {
    var ranging = try reader.ranging()
    var rows: [RangingRow] = []
    while let row = try ranging.next() { rows.append(row) }
    return rows
  }

  @Test func posesAreThoseOfTheDevice() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let walk = try record(seconds: 3, usesCamera: false)
    #expect(walk.reader.warnings.isEmpty)
    var trajectory = try walk.reader.trajectory()
    var count = 0
    while let row = try trajectory.next() {
      let pose = row.devicePose(from: walk.reader.manifest.frames)
      let same = try #require(
        walk.poses.min { a, b in
          abs(a.timestamp.seconds(since: pose.timestamp))
            < abs(b.timestamp.seconds(since: pose.timestamp))
        })
      #expect(abs(same.timestamp.seconds(since: pose.timestamp)) < 1e-6)
      let (read, told) = (pose.worldFromDevice, same.worldFromDevice)
      #expect((read.translation - told.translation).length < 1e-5)
      #expect(read.rotation.angle(to: told.rotation) < 1e-3)
      count += 1
    }
    #expect(count > 170)
    let text = try String(contentsOf: folder.appending(path: "tracking.csv"), encoding: .utf8)
    #expect(text.split(separator: "\n").dropFirst().first?.hasSuffix(",normal,,1000") == true)
  }

  /// What was recorded finds the tag again, by its name and without another session.
  @Test func aRecordingIsReplayed() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let walk = try record(seconds: 40, usesCamera: false)
    let rows = try rows(of: walk.reader)
    #expect(rows.count > 300)
    #expect(rows.count { $0.azimuthRadians != nil && $0.elevationRadians != nil } > 20)
    let environment = try ReplayEnvironment(walk.reader)
    #expect(environment.fusion.ranging.clockOffset == Self.latency)
    let (session, recorder) = (NISession(on: environment), SessionRecorder())
    recorder.attach(to: session)
    let token = NIDiscoveryToken(peer: "tag", of: environment)
    #expect(token == NIDiscoveryToken(peer: "tag", of: environment))
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
    while !environment.hasEnded {
      environment.advance(bySeconds: 0.5)
      recorder.drain()
    }
    #expect(recorder.objects.count == rows.count && environment.failure == nil)
    let found = try #require(recorder.transforms.last.flatMap { $0 }).columns.3
    let error = Vector3(Double(found.x), Double(found.y), Double(found.z)) - walk.tag
    #expect(error.length < 0.4)
  }

  @Test func withCameraAssistanceThereAreNoAngles() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let walk = try record(seconds: 10, usesCamera: true)
    let rows = try rows(of: walk.reader)
    #expect(rows.count > 80)
    #expect(rows.allSatisfy { $0.distance != nil && $0.azimuthRadians == nil })
    #expect(walk.reader.manifest.description?.contains("With camera assistance") == true)
  }

  @Test func peersAreReplayedByTheirNames() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    for (name, text) in [
      (
        "recording.json",
        #"""
        {"format": "nearby-recording", "version": 1, "name": "two",
         "peers": [{"id": "a"}, {"id": "b", "motion": "moving"}]}
        """#
      ), ("trajectory.txt", "1 0 0 0 0 0 0 1\n9 0 0 0 0 0 0 1\n"),
      (
        "ranging.csv",
        "timestamp,peer,distance,azimuth,elevation\n2,a,1,,\n3,b,2,,\n4,c,3,,\n5,a,1,,\n"
      ),
    ] { try Data(text.utf8).write(to: folder.appending(path: name)) }
    let environment = try ReplayEnvironment(RecordingReader(folder: folder.path))
    func run(_ token: NIDiscoveryToken) -> (NISession, SessionRecorder) {
      let (session, recorder) = (NISession(on: environment), SessionRecorder())
      recorder.attach(to: session)
      session.run(NINearbyPeerConfiguration(peerToken: token))
      return (session, recorder)
    }
    // In another order than the recording's, and beside a token without a name, which stands for the first.
    let sessions = ["c", "b", "nobody"].map { run(NIDiscoveryToken(peer: $0, of: environment)) }
    let first = run(NIDiscoveryToken(.random(on: .watch)))
    #expect(environment.motion(of: environment.peerToken("b")) == .moving)
    #expect(environment.motion(of: environment.peerToken("c")) == .stationary)
    environment.advance(bySeconds: 8)
    for (_, recorder) in sessions + [first] { recorder.drain() }
    #expect(sessions.map { $0.1.objects.compactMap(\.distance) } == [[3], [2], []])
    #expect(first.1.objects.compactMap(\.distance) == [1, 1])
  }

  @Test func theRecorderUsesApplesNamesOnly() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/PhoneRecorder/PhoneRecorder.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let imports = text.split(separator: "\n").filter { $0.contains("import ") }
    #expect(imports == ["import ARKit", "import Foundation", "import NearbyInteraction"])
  }
}
