// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyInteraction

/// What an app is told when something goes wrong.
@Suite("Trouble")
struct TroubleTests {
  private func codes(_ recorder: SessionRecorder) -> [NIError.Code] {
    recorder.errors.compactMap { ($0 as? NIError)?.code }
  }

  // MARK: Ends

  @Test(
    "a peer that ends while the app is in the background is one that ended",
    arguments: [
      false, true,
    ])
  func endsInTheBackground(runsAgain: Bool) throws {
    let pair = SessionPair()
    let recorder = pair.recorders[0]
    let configuration = NINearbyPeerConfiguration(
      peerToken: try #require(pair.sessions[1].discoveryToken))
    pair.run()
    if runsAgain {
      recorder.answer { session, call in
        if call == "suspensionEnded" { session.run(configuration) }
      }
    }
    pair.advance(3)
    pair.devices[0].undergo(.enteredBackground)
    pair.advance(1)
    pair.sessions[1].invalidate()
    pair.advance(20)
    #expect(recorder.removed.isEmpty)
    pair.devices[0].undergo(.enteredForeground)
    pair.recorders[0].drain()
    pair.advance(100)
    #expect(recorder.removed.map(\.reason) == [.peerEnded])
    #expect(recorder.calls.contains("started"))
    #expect(recorder.errors.isEmpty)
  }

  @Test("a paused session hears of its peer's end")
  func endsInAPause() {
    let pair = SessionPair()
    pair.run()
    pair.advance(3)
    pair.sessions[0].pause()
    pair.sessions[1].invalidate()
    pair.advance(1)
    #expect(pair.recorders[0].removed.map(\.reason) == [.peerEnded])
  }

  @Test("the token of a session that has ended is no valid configuration")
  func deadToken() throws {
    let pair = SessionPair()
    let token = try #require(pair.sessions[1].discoveryToken)
    pair.sessions[1].invalidate()
    pair.advance(1)
    pair.sessions[0].run(NINearbyPeerConfiguration(peerToken: token))
    pair.recorders[0].drain()
    #expect(codes(pair.recorders[0]) == [.invalidConfiguration])
  }

  @Test("the token of a session that was never heard of times out")
  func unknownToken() {
    let pair = SessionPair()
    let token = NIDiscoveryToken(.random(on: .phoneWithAntennaArray))
    pair.sessions[0].run(NINearbyPeerConfiguration(peerToken: token))
    pair.advance(61)
    #expect(pair.recorders[0].removed.map(\.reason) == [.timeout])
    #expect(pair.recorders[0].errors.isEmpty)
  }

  @Test("a session that is run again with a peer that has ended is told so again")
  func runsAgainAfterTheEnd() throws {
    let pair = SessionPair()
    pair.run()
    pair.advance(1)
    let configuration = try #require(pair.sessions[0].configuration)
    pair.sessions[1].invalidate()
    pair.advance(1)
    pair.sessions[0].run(configuration)
    pair.advance(1)
    #expect(pair.recorders[0].removed.map(\.reason) == [.peerEnded, .peerEnded])
    #expect(pair.recorders[0].summary.suffix(2) == ["started", "removed peerEnded"])
  }

  // MARK: A phone

  @Test("the sessions of an app share a phone, and its limits")
  func oneDevice() throws {
    var settings = SimulatedWorldSettings()
    settings.sharesDefaultDevice = true
    let world = SimulatedWorld(settings)
    let peers = (0..<17).map { _ in NISession(on: world.makeDevice()) }
    let sessions = peers.map { _ in NISession(on: world.defaultDevice()) }
    let recorder = SessionRecorder()
    for (session, peer) in zip(sessions, peers) {
      recorder.attach(to: session)
      session.run(NINearbyPeerConfiguration(peerToken: try #require(peer.discoveryToken)))
      // The last one has none any more.
      guard let token = session.discoveryToken else { continue }
      peer.run(NINearbyPeerConfiguration(peerToken: token))
    }
    world.advance(bySeconds: 1)
    recorder.drain()
    #expect(codes(recorder) == [.activeSessionsLimitExceeded])
    #expect(recorder.calls.count { $0 == "started" } == 16)
    withExtendedLifetime((sessions, peers)) {}
  }

  @Test("an AR session that is run takes the camera from the one that runs")
  func oneCamera() {
    let world = SimulatedWorld()
    let device = world.makeDevice()
    let (first, second) = (ARSession(on: device), ARSession(on: device))
    let queue = DispatchQueue(label: "cameras")
    let (a, b) = (CameraRecorder(), CameraRecorder())
    (first.delegate, second.delegate) = (a, b)
    (first.delegateQueue, second.delegateQueue) = (queue, queue)
    func frames() -> (Int, Int) {
      world.advance(bySeconds: 0.1)
      queue.sync {}
      defer { (a.frames, b.frames) = (0, 0) }
      return (a.frames, b.frames)
    }
    first.run(ARWorldTrackingConfiguration())
    var (ofFirst, ofSecond) = frames()
    #expect(ofFirst > 0 && ofSecond == 0 && a.interruptions == 0)
    second.run(ARWorldTrackingConfiguration())
    (ofFirst, ofSecond) = frames()
    #expect(ofFirst == 0 && ofSecond > 0)
    #expect(a.interruptions == 1 && b.interruptions == 0)
    first.run(ARWorldTrackingConfiguration())
    (ofFirst, ofSecond) = frames()
    #expect(ofFirst > 0 && ofSecond == 0 && b.interruptions == 1)
    // Another device has a camera of its own.
    let other = ARSession(on: world.makeDevice())
    other.run(ARWorldTrackingConfiguration())
    #expect(frames().0 > 0 && a.interruptions == 1)
  }

  private final class CameraRecorder: NSObject, ARSessionDelegate, @unchecked Sendable {
    // Unchecked: written on the delegates' queue, and read after it was drained.
    var frames = 0
    var interruptions = 0
    func session(_ session: ARSession, didUpdate frame: ARFrame) { frames += 1 }
    func sessionWasInterrupted(_ session: ARSession) { interruptions += 1 }
  }

  // MARK: The user

  @Test("the user is asked once, and answers", arguments: [true, false])
  func prompt(isAllowed: Bool) throws {
    var settings = SimulatedWorldSettings()
    settings.permissionPrompt = .init(answer: isAllowed)
    let pair = SessionPair(settings)
    pair.run()
    for recorder in pair.recorders { recorder.drain() }
    #expect(pair.recorders.allSatisfy { $0.calls.isEmpty })
    pair.advance(1)
    if isAllowed {
      #expect(pair.recorders[0].summary.prefix(2) == ["started", "update"])
      // A later session is not asked.
      let session = NISession(on: pair.world.makeDevice())
      let recorder = SessionRecorder()
      recorder.attach(to: session)
      session.run(
        NINearbyPeerConfiguration(peerToken: try #require(pair.sessions[1].discoveryToken)))
      recorder.drain()
      #expect(recorder.calls == ["started"])
      withExtendedLifetime(session) {}
    } else {
      #expect(pair.recorders.allSatisfy { codes($0) == [.userDidNotAllow] })
    }
  }

  @Test("a prompt without a usual answer waits for one")
  func promptThatWaits() {
    var settings = SimulatedWorldSettings()
    settings.permissionPrompt = .init(answer: nil)
    let pair = SessionPair(settings)
    pair.run()
    pair.advance(30)
    #expect(pair.recorders.allSatisfy { $0.calls.isEmpty })
    pair.world.answerPermissionPrompt(true)
    pair.advance(1)
    #expect(pair.recorders.allSatisfy { $0.summary.prefix(2) == ["started", "update"] })
  }

  // MARK: Accessories

  @Test("an accessory that is not connected is not available")
  func disconnectedAccessory() throws {
    let world = SimulatedWorld()
    let accessory = SimulatedAccessory(on: world.makeDevice())
    func configuration() throws -> NINearbyAccessoryConfiguration {
      try NINearbyAccessoryConfiguration(
        accessoryData: accessory.configurationData, bluetoothPeerIdentifier: UUID())
    }
    func calls() throws -> [NIError.Code]? {
      let session = NISession(on: world.makeDevice())
      let recorder = SessionRecorder()
      recorder.attach(to: session)
      session.run(try configuration())
      recorder.drain()
      return withExtendedLifetime(session) {
        recorder.calls.contains("share") ? nil : codes(recorder)
      }
    }
    #expect(try calls() == nil)
    accessory.isConnected = false
    #expect(try calls() == [.accessoryPeerDeviceUnavailable])
    accessory.isConnected = true
    #expect(try calls() == nil)
  }

  // MARK: Motion

  @Test(
    "an accessory that is said to have stopped is located as one that always stood",
    .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
  func stopped() throws {
    var errors = (told: [Double](), again: [Double]())
    for seed in 0..<8 as Range<UInt64> {
      for runsAgain in [false, true] {
        let found = try angleErrors(afterStop: seed, runsAgain: runsAgain)
        if runsAgain { errors.again += found } else { errors.told += found }
      }
    }
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    try #require(errors.told.count > 100 && errors.again.count > 100)
    #expect(median(errors.told) < 1.5 * median(errors.again))
  }

  /// The errors of the angle in the 10 s after a tag has stopped, radians.
  private func angleErrors(afterStop seed: UInt64, runsAgain: Bool) throws -> [Double] {
    let start = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 0, -3))
    let finder = SimulatedMotion.carried(ScenarioMotion(.wanderingWalk, seed: seed), from: start)
    var generator = SeededGenerator(seed: seed, stream: 5)
    let heading = generator.uniform(in: -3.0...3.0)
    let tag = SimulatedMotion { seconds in
      let way = 0.25 * min(seconds, 15)
      return RigidTransform(
        standingAt: Vector3(way * cos(heading), 1.2, -3 + way * sin(heading)), facing: .zero)
    }
    let pair = SessionPair(motions: [finder, tag], capabilities: .phoneWithoutAntennaArray)
    pair.sessions[0].options.peerMotion = .moving
    pair.run(usesCamera: true)
    pair.advance(15)
    if runsAgain {
      pair.sessions[0].options.peerMotion = .stationary
      pair.sessions[0].run(try #require(pair.sessions[0].configuration))
    } else {
      pair.sessions[0].updateMotionState(
        .stationary, forObjectWithToken: try #require(pair.sessions[1].discoveryToken))
    }
    var errors: [Double] = []
    for _ in 0..<100 {
      pair.advance(0.1)
      guard let angle = pair.recorders[0].objects.last?.horizontalAngle else { continue }
      let (here, there) = (pair.devices[0].truePose, pair.devices[1].truePose)
      let offset = here.rotation.inverse.act(there.translation - here.translation)
      let truth = atan2(offset.x, -offset.z)
      errors.append(abs((Double(angle) - truth).remainder(dividingBy: 2 * .pi)))
    }
    return errors
  }

  @Test(
    "there is no direction without an angle",
    arguments: [
      DeviceCapabilities.phoneWithAntennaArray, .phoneWithoutAntennaArray,
    ])
  func oneGate(_ capabilities: DeviceCapabilities) {
    var objects: [NINearbyObject] = []
    for seed in 1...4 as ClosedRange<UInt64> {
      var settings = SimulatedWorldSettings()
      settings.seed = seed
      let walk = SimulatedMotion.carried(ScenarioMotion(.wanderingWalk, seed: seed))
      let pair = SessionPair(
        settings,
        motions: [
          walk, .resting(at: .init(standingAt: Vector3(2, 2.5, -3), facing: Vector3(0, 1.4, 0))),
        ], capabilities: capabilities)
      pair.run(usesCamera: true)
      pair.advance(40)
      objects += pair.recorders[0].objects
    }
    #expect(objects.count { $0.horizontalAngle != nil } > 400)
    #expect(objects.allSatisfy { $0.direction == nil || $0.horizontalAngle != nil })
    // An angle may come first, while the height is open.
    for object in objects where object.direction == nil && object.horizontalAngle != nil {
      #expect(object.estimate?.convergence != .converged)
    }
  }
}
