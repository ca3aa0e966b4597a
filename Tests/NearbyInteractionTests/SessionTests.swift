// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// Sessions in a stepped world: no wall-clock time, the same numbers each time.
struct SessionTests {
  // MARK: Order and life

  @Test func aSessionStartsThenUpdates() throws {
    let pair = SessionPair()
    #expect(pair.sessions[0].configuration == nil)
    pair.run()
    pair.advance(1)
    for (recorder, other) in zip(pair.recorders, pair.sessions.reversed()) {
      #expect(recorder.summary == ["started", "update"])
      #expect(recorder.objects.count == 10)
      #expect(recorder.objects.allSatisfy { $0.discoveryToken == other.discoveryToken })
      #expect(recorder.objects.allSatisfy { $0.timestamp != nil })
    }
    let configuration = try #require(pair.sessions[0].configuration as? NINearbyPeerConfiguration)
    configuration.isCameraAssistanceEnabled = true
    #expect(pair.sessions[0].configuration != configuration)
  }

  @Test func nothingComesUntilBothRun() throws {
    let pair = SessionPair()
    let token = try #require(pair.sessions[1].discoveryToken)
    pair.sessions[0].run(NINearbyPeerConfiguration(peerToken: token))
    pair.advance(5)
    #expect(pair.recorders[0].calls == ["started"])
  }

  @Test func aTokenLastsAsLongAsItsSession() {
    let pair = SessionPair()
    let token = pair.sessions[0].discoveryToken
    #expect(token != nil && token != pair.sessions[1].discoveryToken)
    pair.run()
    pair.sessions[0].pause()
    #expect(pair.sessions[0].discoveryToken == token)
    pair.sessions[0].invalidate()
    #expect(pair.sessions[0].discoveryToken == nil)
  }

  @Test func aPausedSessionResumesWithTheSameToken() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    pair.run(usesCamera: true)
    pair.advance(15)
    #expect(pair.recorders[0].convergences.last?.status == .converged)
    pair.sessions[0].pause()
    pair.advance(5)
    let heard = pair.recorders[0].objects.count
    pair.advance(1)
    #expect(pair.recorders[0].objects.count == heard)
    #expect(pair.recorders[1].removed.isEmpty)
    pair.sessions[0].run(try #require(pair.sessions[0].configuration))
    pair.advance(1.5)
    // The peer's state from before the gap is used again once a second of samples has confirmed it.
    #expect(pair.recorders[0].transforms.last.flatMap { $0 } != nil)
    // Pausing for too long is a timeout for the peer.
    pair.sessions[0].pause()
    pair.advance(10.5)
    #expect(pair.recorders[1].removed.map(\.reason) == [.timeout])
    pair.sessions[0].run(try #require(pair.sessions[0].configuration))
    pair.sessions[1].run(try #require(pair.sessions[1].configuration))
    let before = pair.recorders[1].objects.count
    pair.advance(1)
    #expect(pair.recorders[1].objects.count > before)
  }

  @Test func aSuspendedSessionWaitsForTheApp() throws {
    let pair = SessionPair()
    pair.run()
    pair.advance(1)
    pair.devices[0].undergo(.enteredBackground)
    pair.advance(2)
    pair.devices[0].undergo(.enteredForeground)
    pair.advance(2)
    #expect(
      pair.recorders[0].summary == ["started", "update", "suspended", "suspensionEnded"])
    pair.sessions[0].run(try #require(pair.sessions[0].configuration))
    pair.advance(1)
    #expect(pair.recorders[0].summary.suffix(2) == ["started", "update"])
    #expect(pair.recorders[1].removed.isEmpty)
  }

  @Test func anEndedSessionTellsItsPeer() {
    let pair = SessionPair()
    pair.run()
    pair.advance(1)
    pair.sessions[0].invalidate()
    pair.advance(1)
    #expect(pair.recorders[1].removed.map(\.reason) == [.peerEnded])
    #expect(pair.recorders[0].summary == ["started", "update"])
    #expect(pair.recorders[0].objects.count == 10)
  }

  @Test func aFarewellMayBeLost() {
    var settings = SimulatedWorldSettings()
    settings.lostFarewellShare = 1
    let pair = SessionPair(settings)
    pair.run()
    pair.advance(1)
    pair.sessions[0].invalidate()
    pair.advance(11)
    #expect(pair.recorders[1].removed.map(\.reason) == [.timeout])
  }

  @Test func aSessionThatIsDroppedTimesOut() {
    let world = SimulatedWorld()
    let recorder = SessionRecorder()
    let session = NISession(on: world.makeDevice())
    recorder.attach(to: session)
    do {
      let other = NISession(on: world.makeDevice())
      other.run(NINearbyPeerConfiguration(peerToken: session.discoveryToken!))
      session.run(NINearbyPeerConfiguration(peerToken: other.discoveryToken!))
      withExtendedLifetime(other) { world.advance(bySeconds: 1) }
    }
    world.advance(bySeconds: 11)
    withExtendedLifetime(session) { recorder.drain() }
    #expect(recorder.removed.map(\.reason) == [.timeout])
  }

  // MARK: Errors

  @Test func bothUsersMustAllowMeasurements() {
    let pair = SessionPair()
    pair.devices[0].authorization = .undetermined
    pair.devices[1].authorization = .undetermined
    pair.run()
    pair.advance(1)
    #expect(pair.recorders[0].calls.isEmpty)
    pair.devices[0].authorization = .allowed
    pair.devices[1].authorization = .denied
    pair.advance(1)
    #expect(pair.recorders[1].calls == ["invalidated"])
    #expect((pair.recorders[1].errors.first as? NIError)?.code == .userDidNotAllow)
    #expect(pair.recorders[0].summary == ["started", "removed peerEnded"])
  }

  @Test func aSessionCannotMeasureItself() {
    let pair = SessionPair()
    pair.sessions[0].run(
      NINearbyPeerConfiguration(peerToken: pair.sessions[0].discoveryToken!))
    pair.advance(0.1)
    #expect((pair.recorders[0].errors.first as? NIError)?.code == .invalidConfiguration)
    #expect(pair.sessions[0].discoveryToken == nil)
  }

  /// How a session came to its end before it is run again.
  enum End: CaseIterable {
    case byAnError
    case byTheApp
  }

  @Test(arguments: End.allCases)
  func runningAnInvalidatedSessionIsAnError(_ end: End) throws {
    let pair = SessionPair()
    let own = try #require(pair.sessions[0].discoveryToken)
    switch end {
    case .byAnError: pair.sessions[0].run(NINearbyPeerConfiguration(peerToken: own))
    case .byTheApp: pair.sessions[0].invalidate()
    }
    pair.advance(0.1)
    let before = pair.recorders[0].calls.count
    pair.run()
    pair.advance(1)
    #expect(pair.recorders[0].calls.count == before + 1)
    #expect(
      (pair.recorders[0].errors.last as? NIError)?.code
        == (end == .byTheApp ? .sessionFailed : .invalidConfiguration))
    #expect(pair.sessions[0].discoveryToken == nil)
    #expect(pair.recorders[1].objects.isEmpty)
  }

  /// Measurements of Apple's newer devices that are not supported here.
  enum Unmeasured: CaseIterable {
    case anchors
    case channelSounding

    var configuration: NIConfiguration {
      switch self {
      case .anchors: NIDLTDOAConfiguration(networkIdentifier: 1)
      case .channelSounding:
        NINearbyAccessoryConfiguration(
          bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil)
      }
    }
  }

  @Test(arguments: Unmeasured.allCases)
  func whatNoDeviceMeasuresIsUnsupported(_ unmeasured: Unmeasured) {
    let pair = SessionPair()
    let configuration = unmeasured.configuration
    // The first use of the default world, which tests of apps share, decides which phones it has.
    unsafe setenv("NEARBY_PHONE", "array", 1)
    #expect(!NISession.deviceCapabilities.supportsDLTDOAMeasurement)
    #expect(!NISession.deviceCapabilities.supportsBluetoothChannelSounding)
    pair.sessions[0].run(configuration)
    pair.advance(0.1)
    #expect(pair.recorders[0].calls == ["invalidated"])
    #expect((pair.recorders[0].errors.first as? NIError)?.code == .unsupportedPlatform)
    #expect(pair.sessions[0].configuration == configuration)
  }

  @Test(
    arguments: zip(
      [.stationary, .moving, .unknown] as [NIMotionActivityState],
      [.stationary, .moving, .unknown] as [PeerMotion]))
  func theAppMaySayWhetherThePeerMoves(_ state: NIMotionActivityState, _ motion: PeerMotion) {
    let pair = SessionPair()
    pair.run()
    guard let own = pair.sessions[0].discoveryToken, let peer = pair.sessions[1].discoveryToken
    else { return }
    let before = pair.sessions[0].options
    pair.sessions[0].updateMotionState(state, forObjectWithToken: own)
    #expect(pair.sessions[0].options == before)
    pair.sessions[0].updateMotionState(state, forObjectWithToken: peer)
    #expect(pair.sessions[0].options.peerMotion == motion)
  }

  @Test func aMotionThatIsSaidActsWithTheNextUpdate() throws {
    func distances(saying state: NIMotionActivityState?) throws -> ([Float?], saidAfter: Int) {
      let pair = SessionPair(motions: SessionPair.finderAndTag)
      pair.run(usesCamera: true)
      pair.advance(4)
      let count = pair.recorders[0].objects.count
      let peer = try #require(pair.sessions[1].discoveryToken)
      if let state { pair.sessions[0].updateMotionState(state, forObjectWithToken: peer) }
      pair.advance(1)
      return (pair.recorders[0].objects.map(\.distance), count)
    }
    let silent = try distances(saying: nil)
    let said = try distances(saying: .moving)
    #expect(silent.saidAfter > 10)
    let first = zip(silent.0, said.0).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(first?.offset == said.saidAfter)
  }

  @Test func aFurtherRunKeepsThePlaceAfterAMotionWasSaid() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    pair.run(usesCamera: true)
    pair.advance(15)
    let peer = try #require(pair.sessions[1].discoveryToken)
    pair.sessions[0].updateMotionState(.stationary, forObjectWithToken: peer)
    pair.advance(2)
    #expect(try #require(pair.recorders[0].transforms.last) != nil)
    let count = pair.recorders[0].transforms.count
    pair.run(usesCamera: true)
    pair.advance(0.5)
    let after = pair.recorders[0].transforms.dropFirst(count)
    #expect(after.count > 2 && after.allSatisfy { $0 != nil })
  }

  @Test func eachRunHasItsOutcome() throws {
    let pair = SessionPair()
    pair.run()
    pair.run()
    pair.advance(1)
    #expect(pair.recorders[0].calls.prefix(3) == ["started", "started", "update"])
    #expect(pair.recorders[0].objects.count == 10)
  }

  @Test func aConfigurationIsCopiedByRun() throws {
    let pair = SessionPair()
    let token = try #require(pair.sessions[1].discoveryToken)
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    pair.sessions[0].run(configuration)
    configuration.isCameraAssistanceEnabled = true
    #expect(pair.sessions[0].configuration?.isCameraAssistanceEnabled == false)
  }

  @Test func thereAreLimits() throws {
    var settings = SimulatedWorldSettings()
    settings.limits.activeSessions = 2
    settings.limits.usage = 20
    let world = SimulatedWorld(settings)
    let device = world.makeDevice()
    let token = try #require(NISession(on: world.makeDevice()).discoveryToken)
    let recorder = SessionRecorder()
    let sessions = (0..<3).map { _ in NISession(on: device) }
    for session in sessions {
      recorder.attach(to: session)
      session.run(NINearbyPeerConfiguration(peerToken: token))
    }
    recorder.drain()
    #expect(recorder.calls == ["started", "started", "invalidated"])
    #expect((recorder.errors.last as? NIError)?.code == .activeSessionsLimitExceeded)
    world.advance(bySeconds: 21)
    recorder.drain()
    #expect(
      recorder.errors.compactMap { ($0 as? NIError)?.code }.suffix(2) == [
        .resourceUsageTimeout, .resourceUsageTimeout,
      ])
    withExtendedLifetime(sessions) {}
  }

  @Test func anAbsentEnvironmentMeasuresNothing() {
    let recorder = SessionRecorder()
    let session = NISession(on: AbsentEnvironment("there is no such recording"))
    recorder.attach(to: session)
    session.run(NINearbyPeerConfiguration(peerToken: NIDiscoveryToken(.random(on: .watch))))
    withExtendedLifetime(session) { recorder.drain() }
    #expect((recorder.errors.first as? NIError)?.code == .unsupportedPlatform)
    #expect(recorder.errors.first?.localizedDescription.contains("no such recording") == true)
  }

  // MARK: The AR session

  struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (ARWorldTrackingConfiguration) -> Void
  }

  static let faults = [
    Fault(testDescription: "alignment") { $0.worldAlignment = .gravityAndHeading },
    Fault(testDescription: "collaboration") { $0.isCollaborationEnabled = true },
    Fault(testDescription: "face") { $0.userFaceTrackingEnabled = true },
    Fault(testDescription: "map") { $0.initialWorldMap = ARWorldMap() },
  ]

  @Test(arguments: faults, [true, false])
  func anARSessionMustKeepTheContract(_ fault: Fault, isLate: Bool) {
    let pair = SessionPair()
    let arSession = ARSession(on: pair.devices[0])
    let configuration = ARWorldTrackingConfiguration()
    arSession.run(configuration)
    fault.change(configuration)
    if !isLate { arSession.run(configuration) }
    pair.sessions[0].setARSession(arSession)
    pair.run(usesCamera: true)
    pair.advance(1)
    if isLate {
      #expect(pair.recorders[0].errors.isEmpty)
      arSession.run(configuration)
      pair.advance(0.1)
    }
    #expect((pair.recorders[0].errors.first as? NIError)?.code == .invalidARConfiguration)
  }

  private final class Relocalizer: NSObject, ARSessionDelegate {
    func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { true }
  }

  @Test func relocalizationIsNotAllowedNorAreOtherTrackers() {
    for usesRelocalizer in [true, false] {
      let pair = SessionPair()
      let arSession = ARSession(on: pair.devices[0])
      let relocalizer = Relocalizer()
      if usesRelocalizer {
        arSession.delegate = relocalizer
        arSession.delegateQueue = pair.recorders[0].queue
        arSession.run(ARWorldTrackingConfiguration())
      } else {
        arSession.run(AROrientationTrackingConfiguration())
      }
      pair.sessions[0].setARSession(arSession)
      pair.run(usesCamera: true)
      pair.recorders[0].drain()
      pair.advance(0.1)
      #expect((pair.recorders[0].errors.first as? NIError)?.code == .invalidARConfiguration)
    }
  }

  @Test func anARSessionWithoutCameraAssistanceIsAnError() {
    let pair = SessionPair()
    pair.sessions[0].setARSession(ARSession(on: pair.devices[0]))
    pair.run(usesCamera: false)
    pair.advance(0.1)
    #expect((pair.recorders[0].errors.first as? NIError)?.code == .invalidARConfiguration)
  }

  @Test func aSharedARSessionGivesTheSameAnswersAsNone() {
    let plain = SessionPair(motions: SessionPair.finderAndTag)
    plain.run(usesCamera: true)
    plain.advance(10)
    let shared = SessionPair(motions: SessionPair.finderAndTag)
    let arSession = ARSession(on: shared.devices[0])
    arSession.run(ARWorldTrackingConfiguration())
    shared.sessions[0].setARSession(arSession)
    shared.run(usesCamera: true)
    shared.advance(10)
    #expect(
      plain.recorders[0].objects.map(\.distance) == shared.recorders[0].objects.map(\.distance))
    #expect(plain.recorders[0].transforms.last == shared.recorders[0].transforms.last)
    #expect(arSession.currentFrame?.timestamp == 1010)
  }

  // MARK: Accessories

  @Test func anAccessoryIsStartedWithWhatTheSessionShares() throws {
    let world = SimulatedWorld()
    let phone = world.makeDevice()
    let accessory = SimulatedAccessory(on: world.makeDevice())
    let recorder = SessionRecorder()
    let session = NISession(on: phone)
    recorder.attach(to: session)
    session.run(
      try NINearbyAccessoryConfiguration(
        accessoryData: accessory.configurationData, bluetoothPeerIdentifier: UUID()))
    recorder.drain()
    #expect(recorder.calls == ["started", "share"])
    try accessory.start(with: try #require(recorder.shared))
    world.advance(bySeconds: 1)
    recorder.drain()
    #expect(recorder.objects.count == 10)
    phone.undergo(.enteredBackground)
    world.advance(bySeconds: 20)
    recorder.drain()
    #expect(recorder.objects.count == 10)
    #expect(accessory.measurements.count == 210)
    phone.undergo(.enteredForeground)
    world.advance(bySeconds: 1)
    recorder.drain()
    #expect(recorder.summary == ["started", "share", "update"])
    #expect(recorder.objects.count == 20)
    #expect(throws: NIError.self) { try accessory.start(with: Data([1])) }
  }

  @Test func anAccessoryServesManyPhonesInParallel() throws {
    var settings = SimulatedWorldSettings()
    settings.limits.activeSessions = 4
    let world = SimulatedWorld(settings)
    let tag = world.makeDevice(
      motion: .resting(at: .init(standingAt: Vector3(0, 1, 0), facing: Vector3(0, 0, -9))))
    var phones: [(session: NISession, recorder: SessionRecorder, accessory: SimulatedAccessory)] =
      []
    for number in 1...5 {
      let place = Vector3(1.5 * Double(number), 1, 0)
      let device = world.makeDevice(motion: .resting(at: .init(standingAt: place, facing: .zero)))
      let (accessory, session) = (SimulatedAccessory(on: tag), NISession(on: device))
      let recorder = SessionRecorder()
      recorder.attach(to: session)
      session.run(try NINearbyAccessoryConfiguration(data: accessory.configurationData))
      recorder.drain()
      phones.append((session, recorder, accessory))
    }
    for phone in phones.prefix(4) {
      try phone.accessory.start(with: #require(phone.recorder.shared))
    }
    // The accessory, too, is limited by the number of sessions of its device.
    let fifth = try #require(phones.last)
    #expect(throws: NIError(.activeSessionsLimitExceeded)) {
      try fifth.accessory.start(with: #require(fifth.recorder.shared))
    }
    world.advance(bySeconds: 1)
    for (index, phone) in phones.enumerated() {
      phone.recorder.drain()
      #expect(phone.recorder.objects.count == (index < 4 ? 10 : 0))
      // Each session gets its own measurements, and both ends the same values.
      #expect(
        phone.recorder.objects.compactMap(\.distance)
          == phone.accessory.measurements.compactMap { $0.distance.map { Float($0) } })
      for object in phone.recorder.objects {
        #expect(abs(Double(try #require(object.distance)) - 1.5 * Double(index + 1)) < 1)
      }
    }
    // Ending one does not affect the others, and makes room for another.
    phones[0].accessory.stop()
    try fifth.accessory.start(with: #require(fifth.recorder.shared))
    world.advance(bySeconds: 1)
    for phone in phones { phone.recorder.drain() }
    #expect(phones.map(\.recorder.objects.count) == [10, 20, 20, 20, 10])
  }

  // MARK: Races

  @Test func aSessionMayBeInvalidatedFromInsideItsCallback() {
    let pair = SessionPair()
    pair.recorders[0].onCall = { session, call in if call == "update" { session.invalidate() } }
    pair.run()
    pair.advance(2)
    // The callback may have run only after the world had stood still.
    pair.advance(0.1)
    #expect(pair.recorders[0].calls == ["started", "update"])
    #expect(pair.recorders[1].removed.map(\.reason) == [.peerEnded])
  }

  @Test func aDelegateMayGoAtAnyTime() {
    let pair = SessionPair()
    pair.run()
    pair.advance(0.5)
    // A pending callback is dropped when the delegate is released.
    pair.recorders[0].queue.suspend()
    pair.world.advance(bySeconds: 1)
    pair.sessions[0].delegate = nil
    pair.recorders[0].queue.resume()
    pair.recorders[0].drain()
    #expect(pair.recorders[0].objects.count == 5)
    let other = SessionRecorder()
    other.attach(to: pair.sessions[0])
    pair.advance(1)
    other.drain()
    #expect(other.objects.count == 10)
  }

  @Test func whatWaitsInTheQueueIsNotDeliveredAfterInvalidation() {
    let pair = SessionPair()
    pair.recorders[0].queue.suspend()
    pair.run()
    pair.world.advance(bySeconds: 2)
    pair.sessions[0].invalidate()
    pair.recorders[0].queue.resume()
    pair.recorders[0].drain()
    #expect(pair.recorders[0].calls.isEmpty)
  }

  @Test func aTokenUsedTwiceServesOne() throws {
    let pair = SessionPair()
    let third = NISession(on: pair.world.makeDevice())
    let recorder = SessionRecorder()
    recorder.attach(to: third)
    pair.run()
    third.run(
      NINearbyPeerConfiguration(peerToken: try #require(pair.sessions[0].discoveryToken)))
    pair.advance(2)
    recorder.drain()
    #expect(recorder.calls == ["started"])
    #expect(pair.recorders[0].objects.count == 20)
    pair.advance(60)
    recorder.drain()
    #expect(recorder.removed.map(\.reason) == [.timeout])
  }

  @Test func manyThreadsAtOnce() {
    let pair = SessionPair()
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      for _ in 0..<20 {
        switch index % 4 {
        case 0: pair.run(usesCamera: index == 0)
        case 1: pair.world.advance(bySeconds: 0.2)
        case 2:
          pair.sessions[0].pause()
          pair.sessions[1].delegate = pair.recorders[1]
        default:
          pair.devices[0].undergo(.suspended)
          pair.devices[0].undergo(.suspensionEnded)
          _ = pair.sessions[0].discoveryToken
        }
      }
    }
    pair.run()
    pair.advance(1)
    #expect(pair.recorders[0].objects.last?.distance != nil)
    pair.sessions[0].invalidate()
  }

  // MARK: Memory

  @Test func nothingIsKeptAlive() {
    weak var world: SimulatedWorld?
    weak var session: NISession?
    weak var arSession: ARSession?
    do {
      let pair = SessionPair()
      world = pair.world
      session = pair.sessions[0]
      let shared = ARSession(on: pair.devices[0])
      arSession = shared
      shared.run(ARWorldTrackingConfiguration())
      pair.sessions[0].setARSession(shared)
      pair.run(usesCamera: true)
      pair.advance(1)
      #expect(world != nil && session != nil && arSession != nil)
    }
    #expect(world == nil && session == nil && arSession == nil)
  }

  // MARK: Streams

  @Test func aStreamGetsTheDelegatesEvents() async {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    let updates = pair.sessions[0].updates
    pair.run(usesCamera: true)
    pair.advance(10)
    pair.devices[0].setTracking(.limited(.insufficientFeatures))
    pair.advance(1)
    pair.sessions[0].invalidate()
    var (objects, losses, names) = (0, 0, Set<String>())
    for await update in updates {
      switch update {
      case .object: objects += 1
      case .lostConvergence: losses += 1
      case .startedRunning: names.insert("started")
      case .convergence(let status, let object):
        if object == nil, status == .notConverged([.limitedTracking]) { names.insert("lost") }
      default: break
      }
    }
    #expect(objects == 110)
    #expect(losses == 1)
    #expect(names == ["started", "lost"])
  }
}
