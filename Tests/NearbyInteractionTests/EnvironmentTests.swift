// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@testable import NearbyEnvironment
@testable import NearbyInteraction

/// Replays, live input, and worlds that are shared between processes.
struct EnvironmentTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  // MARK: Places

  @Test(
    "the devices of one program face each other in pairs, at distinct positions",
    arguments: 0..<8)
  func roommatesFaceEachOther(slot: Int) {
    let settings = SimulatedWorldSettings()
    let motions = (0..<6).map { settings.motion(slot, roommate: $0) }
    for seconds in stride(from: 0.0, through: 12, by: 0.25) {
      let poses = motions.map { $0.pose(at: seconds) }
      for (index, pose) in poses.enumerated() {
        let toOther = poses[index ^ 1].translation - pose.translation
        #expect(
          (-pose.rotation.zAxis).dot(toOther.normalized) > cos(0.5),
          "\(index) after \(seconds) s")
      }
    }
    // The devices are swept about these positions.
    let places = motions.map { $0.pose(at: 0).translation }
    for (index, place) in places.enumerated() {
      #expect(places[..<index].allSatisfy { ($0 - place).length > 0.59 }, "\(index)")
    }
  }

  // MARK: Selection

  @Test(
    arguments: [
      ([:], .simulated), (["NEARBY_ENVIRONMENT": "simulated"], .simulated),
      (["NEARBY_ENVIRONMENT": "simulated:/tmp/a:b"], .shared(folder: "/tmp/a:b")),
      (["NEARBY_ENVIRONMENT": "replay:plaza"], .replay(folder: "plaza")),
      (["NEARBY_ENVIRONMENT": "none"], .none), (["NEARBY_ENVIRONMENT": "telepathy"], .none),
      (["NEARBY_ENVIRONMENT": "alone"], .alone), (["NEARBY_ENVIRONMENT": "alone:a"], .none),
      (["NEARBY_ENVIRONMENT": "replay"], .none), (["NEARBY_SEED": "x"], .none),
      (["NEARBY_SPEED": "-1"], .none), (["NEARBY_PHONE": "fax"], .none),
      (["NEARBY_DEVICES": "two"], .none), (["NEARBY_PERMISSION": "perhaps"], .none),
    ] as [([String: String], EnvironmentSelection.Choice)])
  func variablesChoose(_ variables: [String: String], _ choice: EnvironmentSelection.Choice) {
    let selection = EnvironmentSelection(variables)
    #expect(selection.choice == choice)
    let isMistake = choice == .none && variables["NEARBY_ENVIRONMENT"] != "none"
    #expect((selection.failure != nil) == isMistake)
  }

  @Test func phonesDiffer() {
    #expect(EnvironmentSelection(["NEARBY_PHONE": "watch"]).settings.capabilities == .watch)
    #expect(
      EnvironmentSelection(["NEARBY_PHONE": "camera", "NEARBY_SEED": "9"]).settings.seed == 9)
    let array = EnvironmentSelection(["NEARBY_PHONE": "array"]).settings.capabilities
    #expect(array.contains(.direction) && array.contains(.cameraAssistance))
    // As phones since 2022, which have no antenna array.
    #expect(EnvironmentSelection([:]).settings.capabilities == .phoneWithoutAntennaArray)
    #expect(EnvironmentSelection(["NEARBY_DEVICES": "one"]).settings.sharesDefaultDevice)
  }

  @Test func anUnavailableEnvironmentReportsTheReason() throws {
    let environment = EnvironmentSelection(["NEARBY_ENVIRONMENT": "replay:/nowhere"]).environment()
    #expect(try #require(environment as? AbsentEnvironment).failure?.contains("nowhere") == true)
    let long = "/tmp/" + String(repeating: "x", count: 120)
    let shared = EnvironmentSelection(["NEARBY_ENVIRONMENT": "simulated:\(long)"]).environment()
    #expect((shared as? AbsentEnvironment)?.failure != nil)
    try? FileManager.default.removeItem(atPath: long)
  }

  /// In real time, since a shared world has no other clock.
  @Test func twoSessionsOfOneProgramMeetInAFolder() async throws {
    let folder = "/tmp/n-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let environment = EnvironmentSelection([
      "NEARBY_ENVIRONMENT": "simulated:\(folder)", "NEARBY_PHONE": "array",
    ])
    .environment()
    let sessions = (0..<2).map { _ in NISession(on: environment.defaultDevice()) }
    let recorder = SessionRecorder()
    recorder.attach(to: sessions[0])
    for (session, other) in zip(sessions, sessions.reversed()) {
      session.run(NINearbyPeerConfiguration(peerToken: try #require(other.discoveryToken)))
    }
    for _ in 0..<200 where recorder.queue.sync(execute: { recorder.objects.count < 3 }) {
      try await Task.sleep(for: .milliseconds(50))
    }
    recorder.drain()
    #expect(recorder.errors.isEmpty)
    #expect(abs(try #require(recorder.objects.last?.distance) - 4) < 2)
    withExtendedLifetime(sessions) {}
  }

  // MARK: Replay

  @Test func aReplayGivesWhatTheEngineGives() throws {
    let recording = try RecordingReader(folder: Self.folder + "/Datasets/plaza2")
    var expected: [Float?] = []
    var times: [Timestamp] = []
    // A session has this peer alone; with others it would share their drift.
    let replay = try RecordingReplay(recording, selection: [recording.manifest.peers[0].id])
    _ = try replay.run { row, _, estimate in
      guard row.peerIndex == 0, expected.count < 200 else { return }
      expected.append((estimate.distance.value ?? row.distance).map { Float($0) })
      times.append(row.timestamp)
    }
    let environment = try ReplayEnvironment(
      recording, capabilities: [.preciseDistance, .cameraAssistance])
    let recorder = SessionRecorder()
    let session = NISession(on: environment)
    recorder.attach(to: session)
    let configuration = NINearbyPeerConfiguration(
      peerToken: NIDiscoveryToken(.random(on: .watch)))
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
    while recorder.objects.count < 200, !environment.hasEnded {
      environment.advance(bySeconds: 5)
      recorder.drain()
    }
    #expect(expected.count == 200)
    #expect(recorder.objects.prefix(200).map(\.timestamp) == times)
    #expect(recorder.objects.prefix(200).map(\.distance) == expected)
    session.invalidate()
    environment.advanceToEnd()
    #expect(environment.failure == nil && environment.hasEnded)
  }

  // MARK: Live input

  @Test func suppliedDataIsDelivered() throws {
    let device = LiveDevice()
    let recorder = SessionRecorder()
    let session = NISession(on: device)
    recorder.attach(to: session)
    let peer = NIDiscoveryToken(.random(on: .watch))
    session.run(NINearbyPeerConfiguration(peerToken: peer))
    let time = Timestamp(nanoseconds: 5_000_000_000)
    device.add(
      RadioMeasurement(
        timestamp: time, distance: 2.5, azimuthRadians: 0.5, elevationRadians: 0.1,
        distanceSigma: 0.02))
    device.add(
      RadioMeasurement(timestamp: time.advanced(bySeconds: 1), distance: 3), of: peer.token)
    device.add(
      RadioMeasurement(timestamp: time.advanced(bySeconds: 1), distance: 9),
      of: .random(on: .watch))
    recorder.drain()
    #expect(device.peers == [peer.token])
    #expect(recorder.objects.map(\.distance) == [2.5, 3])
    #expect(recorder.objects.first?.measurement?.distanceSigma == 0.02)
    let sigma = (0.02 * 0.02 + 0.15 * 0.15 + pow(0.03 * 2.5, 2)).squareRoot()
    #expect(abs(try #require(recorder.objects.first?.distanceSigma) - sigma) < 1e-9)
    let direction = try #require(recorder.objects.first?.direction)
    #expect(abs(atan2(direction.x, -direction.z) - 0.5) < 1e-5)
    device.advance(to: time.advanced(bySeconds: 11.5))
    recorder.drain()
    #expect(recorder.removed.map(\.reason) == [.timeout])
    session.run(try #require(session.configuration))
    device.end(peer.token)
    recorder.drain()
    #expect(recorder.removed.map(\.reason) == [.timeout, .peerEnded])
    device.authorization = .denied
    recorder.drain()
    #expect((recorder.errors.first as? NIError)?.code == .userDidNotAllow)
  }

  /// Clocks that count from when a machine started, from 1970, from a recording's end.
  static let clocks = [-3.0, 0, 100, 5000, 1.7e9]

  private static func at(_ seconds: Double) throws -> Timestamp {
    try #require(Timestamp(seconds: seconds))
  }

  @Test(arguments: clocks, [false, true])
  func theFirstEventSetsTheClock(start: Double, isPoseFirst: Bool) throws {
    let (device, recorder) = (LiveDevice(), SessionRecorder())
    #expect(!device.isClockSet)
    let session = NISession(on: device)
    recorder.attach(to: session)
    let configuration = NINearbyPeerConfiguration(peerToken: NIDiscoveryToken(.random(on: .watch)))
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
    if isPoseFirst {
      device.add(DevicePose(timestamp: try Self.at(start), worldFromDevice: .identity))
    }
    for step in 0..<20 {
      device.add(
        RadioMeasurement(timestamp: try Self.at(start + Double(step) / 10), distance: 2))
    }
    recorder.drain()
    #expect(device.isClockSet)
    #expect(try device.now == Self.at(start + 1.9))
    #expect(recorder.removed.isEmpty && recorder.errors.isEmpty)
    #expect(recorder.objects.count == 20)
    // Silence is measured on that clock.
    device.advance(to: try Self.at(start + 11.8))
    recorder.drain()
    #expect(recorder.removed.isEmpty)
    device.advance(to: try Self.at(start + 12))
    recorder.drain()
    #expect(recorder.removed.map(\.reason) == [.timeout])
  }

  @Test(arguments: clocks)
  func whatBeginsBeforeTheClockIsSetCountsFromItsFirstMoment(start: Double) throws {
    let peer = NIDiscoveryToken(.random(on: .watch))
    let devices = [LiveDevice(), LiveDevice()]
    let recorders = [SessionRecorder(), SessionRecorder()]
    let sessions = zip(devices, recorders).map { device, recorder in
      let session = NISession(on: device)
      recorder.attach(to: session)
      session.run(NINearbyPeerConfiguration(peerToken: peer))
      return session
    }
    func advance(to seconds: Double) throws {
      for device in devices { device.advance(to: try Self.at(start + seconds)) }
      for recorder in recorders { recorder.drain() }
    }
    // One waits for its peer, the other is suspended.
    devices[1].undergo(.suspended)
    try advance(to: 0)
    try advance(to: 59)
    #expect(recorders[0].removed.isEmpty)
    try advance(to: 61)
    #expect(recorders[0].removed.map(\.reason) == [.timeout])
    try advance(to: 299)
    #expect(recorders[1].errors.isEmpty)
    try advance(to: 301)
    #expect((recorders[1].errors.first as? NIError)?.code == .sessionFailed)
    withExtendedLifetime(sessions) {}
  }

  // MARK: Worlds that are told to each other

  /// Transports lines to another world, with losses, duplicates and delays.
  private final class BadLink: WorldLink, @unchecked Sendable {
    // Unchecked: used by one thread.
    weak var other: SimulatedWorld?
    var isBad = true
    private var count = 0
    private var kept: [[UInt8]] = []

    func send(_ line: [UInt8]) {
      count += 1
      other?.receive(Array("no beacon".utf8))
      guard isBad else {
        other?.receive(line)
        return
      }
      if count % 5 == 0 { return }
      if count % 3 == 0 { return kept.append(line) }
      other?.receive(line)
      if count % 4 == 0 { other?.receive(line) }
      if kept.count == 3 {
        for line in kept.reversed() { other?.receive(line) }
        kept = []
      }
    }
  }

  private struct TwoWorlds {
    let worlds: [SimulatedWorld]
    let links: [BadLink]
    let sessions: [NISession]
    let recorders: [SessionRecorder]

    init(isBad: Bool) throws {
      worlds = (0..<2).map { _ in SimulatedWorld() }
      links = worlds.map { _ in BadLink() }
      for (index, world) in worlds.enumerated() {
        links[index].other = worlds[1 - index]
        links[index].isBad = isBad
        world.connect(links[index], slot: index)
      }
      sessions = worlds.map { NISession(on: $0.defaultDevice()) }
      recorders = sessions.map { session in
        let recorder = SessionRecorder()
        recorder.attach(to: session)
        return recorder
      }
      for (session, other) in zip(sessions, sessions.reversed()) {
        session.run(NINearbyPeerConfiguration(peerToken: try #require(other.discoveryToken)))
      }
    }

    func advance(_ seconds: Double) {
      for _ in 0..<Int((seconds * 60).rounded()) {
        for world in worlds { world.advance(bySeconds: 1.0 / 60) }
      }
      for recorder in recorders { recorder.drain() }
    }
  }

  @Test func messagesThatAreLostDoubledOrLateDoNoHarm() throws {
    let (good, bad) = (try TwoWorlds(isBad: false), try TwoWorlds(isBad: true))
    good.advance(10)
    bad.advance(10)
    for index in 0..<2 {
      let expected = Dictionary(
        uniqueKeysWithValues: good.recorders[index].objects.compactMap { object in
          object.timestamp.map { ($0, object.distance) }
        })
      let objects = bad.recorders[index].objects
      #expect(expected.count >= 98)
      #expect(objects.count > 60 && objects.count < 90)
      #expect(Set(objects.map(\.timestamp)).count == objects.count)
      for object in objects {
        #expect(expected[try #require(object.timestamp)] == object.distance)
      }
    }
    // Both ends measure the same values.
    let ends = good.recorders.map { recorder in
      Dictionary(uniqueKeysWithValues: recorder.objects.map { ($0.timestamp, $0.distance) })
    }
    let common = Set(ends[0].keys).intersection(ends[1].keys)
    #expect(common.count > 95)
    for time in common { #expect(ends[0][time] == ends[1][time]) }
    bad.sessions[0].invalidate()
    bad.advance(2)
    #expect(bad.recorders[1].removed.map(\.reason) == [.peerEnded])
  }

  @Test(arguments: [
    "", "{}", "nonsense", #"{"version":2}"#,
    #"{"version":1,"device":1,"exchange":10000,"pose":[0,0,0,0,0,0,0],"sessions":[],"ended":[]}"#,
    #"{"version":1,"device":1,"exchange":10000,"pose":[1],"sessions":[],"ended":[]}"#,
  ])
  func linesThatAreNoBeaconAreIgnored(_ line: String) {
    #expect(WorldBeacon(line: Array(line.utf8)) == nil)
    SimulatedWorld().receive(Array(line.utf8))
  }

  @Test func aBeaconSurvivesItsLine() {
    let beacon = WorldBeacon(
      device: .max, exchange: 7,
      pose: .init(standingAt: Vector3(1, 2, 3), facing: Vector3(0, 0, -9)),
      sessions: [.init(token: .random(on: .watch), peer: .random(on: .watch), isExtended: true)],
      ended: [.random(on: .watch)])
    #expect(WorldBeacon(line: beacon.line) == beacon)
    #expect(beacon.line.count { $0 == 10 } == 1)
  }
}
