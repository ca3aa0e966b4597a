// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyLive
import NearbyRecordings
import NearbySimulation
import Testing

@Suite("The world that is walked by hand")
struct LiveWorldTests {
  static func keys(seed: UInt64 = 1) -> LiveScene {
    var manifest = RecordingManifest(name: "keys")
    manifest.peers = KeysScene.peers.map { RecordingPeer(id: $0) }
    manifest.device.antenna = KeysScene.scenario.radio.antennaInDevice
    return KeysScene.scene(seed: seed, manifest: manifest)
  }

  private func place(after steps: Int, _ inputs: [LiveInput], in world: inout LiveWorld) -> Vector3
  {
    for input in inputs { world.apply(input) }
    for _ in 0..<steps { _ = world.advance() }
    return world.place
  }

  @Test func aHeldKeyWalksAndAReleasedOneStops() {
    var world = LiveWorld(Self.keys())
    let start = world.place
    let there = place(after: 30, [.walk(x: 1, y: 0, up: 0, isSlow: false)], in: &world)
    #expect(there.x - start.x > 0.3)
    #expect(there.y == start.y)
    let stopped = place(after: 60, [.walk(x: 0, y: 0, up: 0, isSlow: false)], in: &world)
    #expect(place(after: 60, [], in: &world).x - stopped.x < 0.01)
  }

  @Test func aPageThatIsGoneDoesNotWalkOn() {
    var world = LiveWorld(Self.keys())
    let start = world.place
    let end = place(after: 600, [.walk(x: 1, y: 0, up: 0, isSlow: false)], in: &world)
    #expect(end.x - start.x < 1.5)
  }

  @Test func nobodyWalksThroughAWall() {
    var world = LiveWorld(Self.keys())
    let start = world.place
    world.apply(.wall(LiveWall(start.x - 1, start.y + 0.5, start.x + 1, start.y + 0.5)))
    for _ in 0..<120 {
      world.apply(.walk(x: 0, y: 1, up: 0, isSlow: false))
      _ = world.advance()
    }
    #expect(world.place.y < start.y + 0.5)
    world.apply(.erase(x: start.x, y: start.y + 0.5))
    for _ in 0..<120 {
      world.apply(.walk(x: 0, y: 1, up: 0, isSlow: false))
      _ = world.advance()
    }
    #expect(world.place.y > start.y + 1)
  }

  @Test func theMouseIsWalkedTo() {
    var world = LiveWorld(Self.keys())
    let end = place(after: 300, [.go(x: 1, y: -2)], in: &world)
    #expect(abs(end.x - 1) < 0.2)
    #expect(abs(end.y + 2) < 0.2)
  }

  @Test func thePhoneIsRaisedWithinBounds() {
    var world = LiveWorld(Self.keys())
    let start = world.place
    for _ in 0..<600 {
      world.apply(.walk(x: 0, y: 0, up: 1, isSlow: false))
      _ = world.advance()
    }
    #expect(world.place.z - start.z > 0.8)
    #expect(world.place.z - start.z < 1)
  }

  /// The mean of a peer's ranges minus its distance over ten seconds.
  private func excess(_ world: inout LiveWorld, peer name: String, at place: Vector3) -> Double {
    var (sum, count, truth) = (0.0, 0.0, Vector3.zero)
    for _ in 0..<600 {
      for line in world.advance() {
        if case .truePose(let row) = line { truth = row.worldFromDevice.translation }
        guard case .range(let row) = line, row.peer == name, let distance = row.distance else {
          continue
        }
        sum += distance - (MapPlace.map(fromEngine: truth) - place).length
        count += 1
      }
    }
    #expect(count > 90)
    return sum / count
  }

  @Test func wallsAndPeopleMakeRangesTooLong() {
    let keys = Vector3(0, 3, 1.4)
    var scene = Self.keys()
    scene.walls = []
    scene.start = Vector3(0, 0, 1.4)
    scene.peers = [.init(name: "keys", path: PeerPath(restingAt: MapPlace.engine(fromMap: keys)))]
    var open = LiveWorld(scene)
    let inSight = excess(&open, peer: "keys", at: keys)
    var blocked = LiveWorld(scene)
    blocked.apply(.wall(LiveWall(-2, 1.5, 2, 1.5)))
    let throughWall = excess(&blocked, peer: "keys", at: keys) - inSight
    #expect(abs(throughWall - scene.radio.rangeExcess) < 0.1)
    var crowded = LiveWorld(scene)
    crowded.apply(.person(LivePerson(x: 0, y: 1.5)))
    let behind = excess(&crowded, peer: "keys", at: keys) - inSight
    #expect(abs(behind - LivePerson.excess) < 0.05)
  }

  @Test func thoseRangesSayThatTheyAreObstructed() {
    var scene = Self.keys()
    scene.walls = [LiveWall(-2, 1.5, 2, 1.5)]
    scene.start = Vector3(0, 0, 1.4)
    scene.peers = [
      .init(name: "keys", path: PeerPath(restingAt: MapPlace.engine(fromMap: Vector3(0, 3, 1.4))))
    ]
    var world = LiveWorld(scene)
    var flags: Set<Bool?> = []
    for _ in 0..<60 {
      for case .range(let row) in world.advance() { flags.insert(row.isNonLineOfSight) }
    }
    #expect(flags == [true])
  }

  @Test func aMovedPeerIsElsewhere() {
    var world = LiveWorld(Self.keys())
    world.apply(.movePeer(0, x: 2, y: -2))
    var place: Vector3?
    for case .truePeer(let row) in world.advance() where row.peer == "keys" {
      place = MapPlace.map(fromEngine: row.positionInWorld)
    }
    #expect(place?.x == 2)
    #expect(place?.y == -2)
    world.apply(.movePeer(99, x: 0, y: 0))
  }

  @Test func equalInputsGiveEqualLines() {
    func lines() -> [RecordingLine] {
      var world = LiveWorld(Self.keys(seed: 7))
      world.apply(.go(x: 1, y: 0))
      return (0..<120).flatMap { _ in world.advance() }
    }
    #expect(lines() == lines())
  }

  @Test(arguments: [
    "{}", "{\"do\":\"go\"}", "{\"do\":\"go\",\"x\":1e9,\"y\":0}", "[1,2]",
    "{\"do\":\"wall\",\"x\":0,\"y\":0}",
    "{\"do\":\"fly\",\"x\":0,\"y\":0}", "{\"do\":\"go\",\"x\":null,\"y\":0}",
    "{\"do\":\"wall\",\"x\":0,\"y\":0,\"x2\":0.01,\"y2\":0}",
  ])
  func whatIsNoInputIsRefused(body: String) { #expect(LiveInput(Array(body.utf8)) == nil) }

  @Test func inputsAreRead() {
    func read(_ text: String) -> LiveInput? { LiveInput(Array(text.utf8)) }
    #expect(read(#"{"do":"go","x":1,"y":-2.5}"#) == .go(x: 1, y: -2.5))
    #expect(
      read(#"{"do":"walk","x":-3,"y":0,"up":1,"slow":true}"#)
        == .walk(x: -1, y: 0, up: 1, isSlow: true))
    #expect(
      read(#"{"do":"wall","x":0,"y":0,"x2":2,"y2":0.4}"#) == .wall(LiveWall(0, 0, 2, 0)))
  }

  @Test func anInboxThatNobodyEmptiesIsBounded() {
    let inbox = LiveInbox()
    for _ in 0..<1000 { _ = inbox.put(.walk(x: 1, y: 0, up: 0, isSlow: false)) }
    for _ in 0..<1000 { _ = inbox.put(.erase(x: 0, y: 0)) }
    #expect(inbox.takeAll().count == 256)
    #expect(inbox.takeAll().isEmpty)
  }
}
