// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry
import Testing

@testable import NearbyInteraction

/// Scripts: what they say, and what they do.
@Suite("Scripts of a world")
struct WorldScriptTests {
  // MARK: The text

  @Test("comments, empty lines and any order of times are read")
  func reads() throws {
    let script = try WorldScript(
      """
      # a scene

      5 background  # to the home screen
      0   permission allow
      2.5\tpeer walk 1 -2 0.5
      2.5 peer3 carry 1 2
      7 accessory disconnect
      """)
    #expect(script.events.map(\.seconds) == [0, 2.5, 2.5, 5, 7])
    #expect(script.events[1].action == .walk(right: 1, ahead: -2, speed: 0.5, turns: true))
    #expect(script.events[1].subject == .device(1) && script.events[2].subject == .device(3))
    #expect(script.events[2].action == .walk(right: 1, ahead: 2, speed: 1, turns: false))
    #expect(script.events[3].action == .lifecycle(.enteredBackground))
    #expect(script.events[4].subject == .accessory && script.duration == 7)
    #expect(try WorldScript("").events.isEmpty)
  }

  @Test(
    "a line that is no event is named with its number and a remedy",
    arguments: [
      ("now background", "begins with seconds"), ("-1 background", "begins with seconds"),
      ("nan background", "begins with seconds"), ("1", "is missing"), ("1 me", "is missing"),
      ("1 fly", "there are background"), ("1 walk 1", "walk RIGHT AHEAD [SPEED]"),
      ("1 walk 1 x", "walk RIGHT AHEAD [SPEED]"), ("1 walk 1 2 -1", "speed"),
      ("1 walk inf 2", "walk RIGHT AHEAD"), ("1 sweep 3", "sweep side SECONDS"),
      ("1 sweep up 0", "longer than 0 s"), ("1 permission maybe", "permission allow"),
      ("1 tracking poor", "tracking lost"), ("1 dark 3", "stands alone"),
      ("1 peer0 hold", "no event"), ("1 turn", "turn DEGREES"),
    ])
  func refuses(_ line: String, _ remedy: String) throws {
    let error = try #require(throws: WorldScript.SyntaxError.self) {
      _ = try WorldScript("0 hold\n\n\(line)\n")
    }
    #expect(error.line == 3)
    #expect(error.description.hasPrefix("line 3: ") && error.problem.contains(remedy))
  }

  @Test("a variable names the script, and one that cannot be read is told")
  func variable() throws {
    let path = NSTemporaryDirectory() + "script-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "3 background".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(EnvironmentSelection(["NEARBY_SCRIPT": path]).script?.duration == 3)
    try "3 fall".write(toFile: path, atomically: true, encoding: .utf8)
    let broken = EnvironmentSelection(["NEARBY_SCRIPT": path])
    #expect(broken.choice == .none && broken.failure?.contains("line 1: 'fall'") == true)
    let missing = EnvironmentSelection(["NEARBY_SCRIPT": path + "x"])
    #expect(missing.failure?.contains("cannot be read") == true)
  }

  // MARK: What happens

  /// Two sessions of a scripted world.
  private func pair(
    _ script: String, usesCamera: Bool = false,
    _ change: (inout SimulatedWorldSettings) -> Void = { _ in }
  ) throws -> SessionPair {
    var settings = SimulatedWorldSettings()
    change(&settings)
    let here = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -1))
    let there = RigidTransform(standingAt: Vector3(0, 1.4, -4), facing: Vector3(0, 1.4, 0))
    let pair = SessionPair(settings, motions: [.resting(at: here), .resting(at: there)])
    pair.world.play(try WorldScript(script))
    pair.run(usesCamera: usesCamera)
    return pair
  }

  @Test("a device walks to a place beside and ahead of where it began, and stays there")
  func walks() throws {
    let pair = try pair("1 walk 2 3\n8 peer carry 1 0\n10 walk 0 0 2")
    pair.advance(3)
    let way = pair.devices[0].truePose.translation - Vector3(0, 1.4, 0)
    #expect(abs(Vector3(way.x, 0, way.z).length - 2) < 0.05)
    pair.advance(4)
    #expect((pair.devices[0].truePose.translation - Vector3(2, 1.4, -3)).length < 0.01)
    // It faces where it goes; one that is carried does not.
    #expect((-pair.devices[0].truePose.rotation.zAxis).dot(Vector3(2, 0, -3).normalized) > 0.999)
    pair.advance(2.9)
    #expect((pair.devices[1].truePose.translation - Vector3(-1, 1.4, -4)).length < 0.01)
    #expect(pair.devices[1].truePose.rotation.zAxis.z < -0.999)
    pair.advance(5)
    #expect((pair.devices[0].truePose.translation - Vector3(0, 1.4, 0)).length < 0.01)
  }

  @Test("turns and sweeps stay in the hand")
  func turnsAndSweeps() throws {
    let pair = try pair("0 turn 90\n3 turn -90\n6 sweep side 5\n12 sweep up 5")
    pair.advance(2)
    #expect((-pair.devices[0].truePose.rotation.zAxis).x > 0.999)
    pair.advance(3)
    #expect((-pair.devices[0].truePose.rotation.zAxis).z < -0.999)
    pair.advance(1)
    var places: [Vector3] = []
    for _ in 0..<120 {
      pair.advance(0.1)
      places.append(pair.devices[0].truePose.translation)
    }
    func extent(_ values: [Double]) -> Double { (values.max() ?? 0) - (values.min() ?? 0) }
    #expect((0.4...0.5).contains(extent(places[..<60].map(\.x))))
    #expect(extent(places[..<60].map(\.y)) < 1e-9)
    #expect((0.4...0.5).contains(extent(places[60...].map(\.y))))
    #expect((pair.devices[0].truePose.translation - Vector3(0, 1.4, 0)).length < 1e-6)
  }

  @Test("the app's life is scripted")
  func lifecycle() throws {
    let pair = try pair("2 background\n4 foreground\n6 call\n7 hangup")
    pair.recorders[0].answer { session, call in
      if call == "suspensionEnded", let configuration = session.configuration {
        session.run(configuration)
      }
    }
    for _ in 0..<100 { pair.advance(0.1) }
    #expect(
      pair.recorders[0].summary == [
        "started", "update", "suspended", "suspensionEnded", "started", "update", "suspended",
        "suspensionEnded", "started", "update",
      ])
    #expect(pair.recorders[1].summary.prefix(2) == ["started", "update"])
  }

  @Test("the user answers by the script", arguments: [true, false])
  func permission(isAllowed: Bool) throws {
    let pair = try pair("3 permission \(isAllowed ? "allow" : "deny")") {
      $0.permissionPrompt = .init(answer: nil)
    }
    pair.advance(2.9)
    #expect(pair.recorders[0].calls.isEmpty)
    pair.advance(1)
    #expect(pair.recorders[0].calls.first == (isAllowed ? "started" : "invalidated"))
  }

  @Test("light and tracking are reported to the session")
  func vision() throws {
    let pair = try pair(
      "3 dark\n6 light\n9 tracking limited\n12 tracking normal\n15 tracking lost", usesCamera: true)
    func ofSession() -> [NIAlgorithmConvergenceStatus] {
      pair.recorders[0].convergences.filter { $0.object == nil }.map(\.status)
    }
    pair.advance(20)
    #expect(
      ofSession() == [
        .notConverged([.insufficientLighting]), .unknown, .notConverged([.limitedTracking]),
        .unknown, .notConverged([.limitedTracking]),
      ])
  }

  @Test("a wall hides the direction, distance hides all")
  func wallsAndReach() throws {
    let pair = try pair("2 wall\n4 unwall\n6 peer leave\n8 peer return")
    func newest(after seconds: Double) throws -> NINearbyObject {
      pair.advance(seconds)
      return try #require(pair.recorders[0].objects.last)
    }
    #expect(try newest(after: 1).direction != nil)
    let blocked = try newest(after: 2)
    #expect(blocked.distance != nil && blocked.direction == nil)
    #expect(blocked.measurement?.isNonLineOfSight == true)
    #expect(try newest(after: 2).direction != nil)
    #expect(try newest(after: 2).distance == nil)
    #expect(try newest(after: 2).distance != nil)
  }

  @Test("a peer that ends says so; one that leaves is missed after a while")
  func ends() throws {
    let ending = try pair("3 peer end")
    ending.advance(4)
    #expect(ending.recorders[0].removed.map(\.reason) == [.peerEnded])
    let leaving = try pair("3 peer leave")
    leaving.advance(20)
    #expect(leaving.recorders[0].removed.map(\.reason) == [.timeout])
  }

  @Test("an accessory loses its Bluetooth connection")
  func accessory() throws {
    let world = SimulatedWorld()
    world.play(try WorldScript("2 accessory disconnect\n4 accessory connect"))
    let accessory = SimulatedAccessory(on: world.makeDevice())
    #expect(accessory.isConnected)
    world.advance(bySeconds: 3)
    #expect(!accessory.isConnected)
    world.advance(bySeconds: 2)
    #expect(accessory.isConnected)
  }

  @Test("an app whose delegate is on the main queue reacts at its time") @MainActor
  func passes() async throws {
    final class App: NSObject, NISessionDelegate {
      var distances = 0
      var removals = 0
      func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
        distances += nearbyObjects.count
      }
      func session(
        _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
        reason: NINearbyObject.RemovalReason
      ) { removals += 1 }
    }
    let world = SimulatedWorld()
    world.play(try WorldScript("3 peer end"))
    let (a, b) = (NISession(on: world.makeDevice()), NISession(on: world.makeDevice()))
    let app = App()
    a.delegate = app
    a.run(NINearbyPeerConfiguration(peerToken: try #require(b.discoveryToken)))
    b.run(NINearbyPeerConfiguration(peerToken: try #require(a.discoveryToken)))
    await world.pass(seconds: 2)
    #expect(app.distances == 20 && app.removals == 0)
    await world.pass(seconds: 2)
    #expect(app.removals == 1)
  }
}
