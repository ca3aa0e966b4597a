// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyFusion
import NearbyGeometry
import NearbyLive
import NearbyRecordings
import Testing

@Suite("What the page shows")
struct LiveSessionTests {
  /// The fields of a state that the tests read.
  private struct State: Decodable {
    struct Peer: Decodable {
      var s: String
      var r: [String]?
      var say: String
      var m: [Double]?
      var k: [Double]?
      var o: [Mode]?
      var d: Double?
      var x: Double?
    }
    struct Mode: Decodable {
      var w: Double
      var m: [Double]
      var c: [Double]
    }

    var n: Int
    var t: Double
    var d: [Double]
    var p: [Peer]
  }

  private struct Setup: Decodable {
    var version: Int
    var title: String
    var peers: [String]
    var walls: [[Double]]
    var isWorld: Bool
  }

  private static func decode<Value: Decodable>(_ bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(bytes))
  }

  /// A walk in the scene, the states ten times a second.
  private func walk(
    _ legs: [(LiveInput, steps: Int)], each: (State) -> Void
  ) throws -> LiveLog {
    let scene = LiveWorldTests.keys()
    var world = LiveWorld(scene)
    var session = LiveSession(manifest: scene.manifest)
    for (input, steps) in legs {
      for step in 0..<steps {
        if step % 20 == 0 { world.apply(input) }
        for line in world.advance() { try session.add(line) }
        if step % 6 == 0, let bytes = session.state() { each(try Self.decode(bytes)) }
      }
    }
    return session.log
  }

  private static let search: [(LiveInput, steps: Int)] = [
    (.go(x: 0, y: -2.2), 120), (.go(x: 0, y: 0.6), 200), (.go(x: 0, y: 2.5), 200),
    (.walk(x: 0, y: 0, up: 1, isSlow: false), 60), (.walk(x: 0, y: 0, up: -1, isSlow: false), 120),
    (.go(x: 2, y: 2.5), 120), (.go(x: 2, y: 4), 120), (.go(x: 3.2, y: 4.4), 150),
  ]

  @Test func theKeysAreFoundByWalkingThere() throws {
    var (seen, states): (Set<String>, [State]) = ([], [])
    var mostModes = 0
    _ = try walk(Self.search) { state in
      seen.insert(state.p[0].s)
      mostModes = max(mostModes, state.p[0].o?.count ?? 0)
      states.append(state)
    }
    #expect(seen.contains("notConverged"))
    #expect(mostModes > 2)
    let last = try #require(states.last)
    #expect(last.p[0].s == "converged")
    #expect(last.p[0].o == nil)
    let (mean, truth) = (try #require(last.p[0].m), try #require(last.p[0].k))
    for axis in 0..<3 { #expect(abs(mean[axis] - truth[axis]) < 0.6) }
    // Shown in the world of the walls, where the walk ended.
    #expect(abs(last.d[0] - 3.2) < 0.3)
    #expect(abs(last.d[1] - 4.4) < 0.3)
    #expect(states.map(\.n) == Array(1...states.count))
  }

  @Test func theCoachNamesAnActionUntilThePeerIsFound() throws {
    var sentences: [(status: String, say: String)] = []
    _ = try walk(Self.search) { sentences.append(($0.p[0].s, $0.p[0].say)) }
    for (status, say) in sentences {
      #expect(say.hasPrefix("keys: "))
      let asks = ["Walk", "Raise", "Come closer", "Turn on"].contains { say.contains($0) }
      #expect(asks == (status == "notConverged") || status == "unknown", "\(status) \(say)")
    }
    #expect(
      sentences.last?.say.contains("here") == true || sentences.last?.say.contains("m,") == true)
  }

  @Test func modesHaveWeightsOfOneAndFullCovariances() throws {
    _ = try walk(Array(Self.search.prefix(2))) { state in
      for peer in state.p {
        guard let modes = peer.o else { continue }
        let sum = modes.reduce(0) { $0 + $1.w }
        #expect(sum > 0.85 && sum < 1.02)
        for mode in modes {
          #expect(mode.m.count == 3)
          #expect(mode.c.count == 6)
        }
      }
    }
  }

  @Test func aSavedRecordingIsReadAndGivesTheSameEstimates() throws {
    var last: State?
    let log = try walk(Array(Self.search.prefix(4))) { last = $0 }
    let folder = FileManager.default.temporaryDirectory.appending(path: "live-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try log.write(to: folder, name: "live-1")
    let recording = try RecordingReader(folder: folder)
    #expect(recording.manifest.name == "live-1")
    #expect(recording.manifest.peers.map(\.id) == KeysScene.peers)
    var count = 0
    var poses = try recording.trajectory()
    while try poses.next() != nil { count += 1 }
    #expect(count == 580)
    #expect(try recording.truthTrajectory() != nil)
    #expect(last?.p.count == 3)
  }

  @Test func theSetupChangesWithWhatItHolds() throws {
    var session = LiveSession()
    var setup: Setup = try Self.decode(session.setup())
    #expect(setup.peers.isEmpty && !setup.isWorld)
    let version = setup.version
    try session.add(
      .range(RangingRow(timestamp: Timestamp(nanoseconds: 0), peer: "a", distance: 1)))
    session.setting.walls = [LiveWall(0, 0, 1, 0)]
    setup = try Self.decode(session.setup())
    #expect(setup.peers == ["a"])
    #expect(setup.walls == [[0, 0, 1, 0]])
    #expect(setup.version > version)
    #expect(session.state() == nil)
  }

  @Test func namesAreEscapedForAPage() throws {
    var session = LiveSession()
    let name = "</script><img src=x onerror=alert(1)>\u{2028}\"\\"
    try session.add(
      .range(RangingRow(timestamp: Timestamp(nanoseconds: 0), peer: name, distance: 1)))
    let text = String(decoding: session.setup(), as: UTF8.self)
    #expect(!text.contains("<"))
    #expect(!text.contains("\n"))
    let setup: Setup = try Self.decode(session.setup())
    #expect(setup.peers == [name])
  }

  @Test func aLogHoldsTenMinutesAndOnlyWhatTheFormatHolds() {
    var log = LiveLog(manifest: RecordingManifest(name: "a"))
    func pose(_ seconds: Double) -> RecordingLine {
      .pose(
        PoseRow(
          timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: seconds),
          worldFromDevice: .identity))
    }
    for second in 0..<3600 { log.add(pose(Double(second))) }
    #expect(log.count > 600 && log.count <= 661)
    let count = log.count
    log.add(pose(10))
    #expect(log.count == count)
  }
}
