// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyEnvironment
@testable import NearbyInteraction

/// Arbitrary data from a socket, a sensor or an untrusted peer ends no program, and valid devices
/// are still measured.
struct WorldDatagramFuzzTests {
  /// Transports lines to another world, and keeps the newest.
  private final class Relay: WorldLink, @unchecked Sendable {
    // Unchecked: used by one thread.
    weak var other: SimulatedWorld?
    private(set) var newest: [UInt8] = []

    func send(_ line: [UInt8]) {
      newest = line
      other?.receive(line)
    }
  }

  /// Two worlds that receive each other's and hostile datagrams.
  private struct Fixture {
    let worlds = (0..<2).map { _ in SimulatedWorld() }
    let relays = [Relay(), Relay()]
    let sessions: [NISession]
    let recorder = SessionRecorder()

    init() throws {
      for (index, world) in worlds.enumerated() {
        relays[index].other = worlds[1 - index]
        world.connect(relays[index], slot: index)
      }
      sessions = worlds.map { NISession(on: $0.defaultDevice()) }
      recorder.attach(to: sessions[0])
      for (session, other) in zip(sessions, sessions.reversed()) {
        session.run(NINearbyPeerConfiguration(peerToken: try #require(other.discoveryToken)))
      }
    }

    /// Advances the time.
    ///
    /// - Parameters:
    ///   - seconds: How much.
    ///   - hostile: The datagrams that both worlds receive before each tick.
    func advance(_ seconds: Double, _ hostile: (_ good: [UInt8]) -> [[UInt8]] = { _ in [] }) {
      for _ in 0..<Int(seconds * 60) {
        for (world, relay) in zip(worlds, relays) {
          for line in hostile(relay.newest) { world.receive(line) }
        }
        for world in worlds { world.advance(bySeconds: 1.0 / 60) }
      }
      recorder.drain()
    }

    /// The distances that were reported after a time.
    func distances(after seconds: Double) -> [Timestamp: Float] {
      let measured = recorder.objects.compactMap { object -> (Timestamp, Float)? in
        guard let time = object.timestamp, let distance = object.distance else { return nil }
        return (time, distance)
      }
      return Dictionary(measured.filter { $0.0.seconds > seconds }) { first, _ in first }
    }
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func aWorldSurvivesHostileDatagramsAndMeasuresOn(seed: UInt64) throws {
    let (calm, stormy) = (try Fixture(), try Fixture())
    var datagrams = HostileDatagrams(seed: seed)
    calm.advance(2)
    stormy.advance(2)
    calm.advance(2)
    stormy.advance(2) { good in (0..<8).map { _ in datagrams.next(after: good) } }
    // After that, forged exchanges of the next six seconds are in the past.
    calm.advance(11)
    stormy.advance(11)
    let expected = calm.distances(after: 1010.5)
    #expect(expected.count > 40)
    #expect(stormy.distances(after: 1010.5) == expected)
    #expect(stormy.recorder.errors.isEmpty)
  }

  @Test(arguments: [Int64.min, .min + 1, -1, 0, .max - 1, .max])
  func anExchangeMayHaveAnyNumber(_ exchange: Int64) {
    let world = SimulatedWorld()
    let beacon = WorldBeacon(
      device: 7, exchange: exchange, pose: .identity, sessions: [], ended: [])
    world.receive(beacon.line)
    world.advance(bySeconds: 0.2)
    #expect(world.now == Timestamp(nanoseconds: 1_000_200_000_000))
  }

  // MARK: Settings, as they may be read from a file

  @Test(arguments: [Double.nan, .infinity, -.infinity, 0, -1, 1e-300, 1e300])
  func ratesAndTimesMayBeAnything(_ number: Double) {
    var settings = SimulatedWorldSettings()
    settings.odometry.rate = number
    #expect((0.1...1000).contains(settings.tickRate))
    settings.radio.rate = number
    let world = SimulatedWorld(settings)
    let before = world.now
    world.advance(bySeconds: number > 0 && number < 1e9 ? number : 0)
    for seconds in [Double.nan, .infinity, -.infinity, -1e300] { world.advance(bySeconds: seconds) }
    #expect(world.now == before)
    settings.odometry.rate = 60
    #expect((1...60_000).contains(settings.ticksPerExchange))
  }

  @Test func anObstacleMayLackCoordinates() throws {
    let obstacle = try JSONDecoder().decode(
      SimulatedObstacle.self, from: Data(#"{"lower":[0],"upper":[]}"#.utf8))
    #expect(!obstacle.blocks(.zero, Vector3(1, 1, 1)))
  }

  @Test(arguments: ["inf", "1e300", "1001", "nan", "0", "-1"])
  func aReplayIsNotInfinitelyFast(_ speed: String) {
    #expect(EnvironmentSelection(["NEARBY_SPEED": speed]).failure != nil)
    #expect(EnvironmentSelection(["NEARBY_SPEED": "1000"]).failure == nil)
  }

  // MARK: Tokens

  @Test func aTokensTextIsReadOrRefused() throws {
    let token = SessionToken(high: .max, low: 0x0123_4567_89AB_CDEF, capabilities: .watch)
    let good = try #require(String(data: try JSONEncoder().encode([token]), encoding: .utf8))
    func read(_ text: String) -> SessionToken? {
      try? JSONDecoder().decode([SessionToken].self, from: Data(text.utf8)).first
    }
    #expect(read(good) == token)
    var generator = SeededGenerator(seed: 1)
    let digits = Array(good.utf8)
    for _ in 0..<2000 {
      var text = digits
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: 2..<digits.count - 2, using: &generator)
        text[index] = UInt8.random(in: 35..<91, using: &generator)
      }
      let isHexadecimal = text[2..<text.count - 2].allSatisfy {
        Character(UnicodeScalar($0)).isHexDigit
      }
      let isVersionOne = text[2...3] == Array("01".utf8)[...]
      #expect(
        (read(String(decoding: text, as: UTF8.self)) != nil) == (isHexadecimal && isVersionOne))
    }
    #expect(read(good.replacingOccurrences(of: "ff", with: "-0")) == nil)
    #expect(read(good.replacingOccurrences(of: "ff", with: "+f")) == nil)
    #expect(read("[\"\"]") == nil && read("[\"0\"]") == nil)
  }

  // MARK: Sensors

  /// Numbers that a faulty driver may supply.
  private static let values = [
    Double.nan, .infinity, -.infinity, 0, -0.0, -1, .leastNonzeroMagnitude, 1e-9, 0.5, 3, 12, 1e9,
    1e154, 1e308,
  ]
  private static let times: [Int64] = [
    .min, .min + 1, -1, 0, 1, 1_000_000_000_000, 4_600_000_000_000_000_000, .max - 1, .max,
  ]

  @Test(arguments: 0..<4 as Range<UInt64>, [false, true])
  func aSessionSurvivesAnySensor(seed: UInt64, usesCamera: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    func value() -> Double { Self.values.randomElement(using: &generator) ?? 0 }
    func maybe() -> Double? { Bool.random(using: &generator) ? value() : nil }
    let device = LiveDevice()
    let (session, recorder) = (NISession(on: device), SessionRecorder())
    recorder.attach(to: session)
    let configuration = NINearbyPeerConfiguration(
      peerToken: NIDiscoveryToken(.random(on: .watch)))
    configuration.isCameraAssistanceEnabled = usesCamera
    session.run(configuration)
    var time: Int64 = 0
    for _ in 0..<300 {
      time = time &+ Int64.random(in: 0...200_000_000, using: &generator)
      let isWild = Int.random(in: 0..<8, using: &generator) == 0
      let stamp = Timestamp(
        nanoseconds: isWild ? Self.times.randomElement(using: &generator) ?? 0 : time)
      if Bool.random(using: &generator) {
        let rotation = Rotation(normalizing: value(), value(), value(), value()) ?? .identity
        device.add(
          DevicePose(
            timestamp: stamp,
            worldFromDevice: RigidTransform(
              rotation: rotation, translation: Vector3(value(), value(), value()))))
      } else {
        device.add(
          RadioMeasurement(
            timestamp: stamp, distance: maybe(), azimuthRadians: maybe(),
            elevationRadians: maybe(), distanceSigma: maybe(), azimuthSigmaRadians: maybe(),
            elevationSigmaRadians: maybe()))
      }
      recorder.drain()
      // A jump of the clock may end the session or remove the peer, so it is run again.
      if session.discoveryToken != nil { session.run(configuration) }
    }
    recorder.drain()
    for object in recorder.objects {
      #expect(object.distance?.isFinite != false && object.horizontalAngle?.isFinite != false)
      #expect(object.direction.map { simd_length($0).isFinite } != false)
    }
    #expect(!recorder.objects.isEmpty || session.discoveryToken == nil)
  }
}
