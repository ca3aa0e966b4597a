// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbyInteraction
import NearbySimulation
import NearbyTestSupport
import Testing

extension FuzzTests {
  /// Sessions on a live device, in any order of calls, with any measurements.
  @Suite("SessionFuzzTests")
  struct SessionFuzzTests {
    @Test("whatever an app and its device do, sessions say only what makes sense")
    func sessions() {
      FuzzCampaign("SessionFuzzTests", share: 0.15).run { one in
        var host = HostileHost(seed: one.seed)
        for _ in 0..<host.generator.number(20..<400) { one.count(host.act()) }
        let listener = host.listener
        // Without their sessions nothing more is called.
        host.sessions = []
        listener.queue.sync {}
        one.count("callbacks", listener.callbacks)
        for problem in listener.problems.prefix(3) { one.expect(false, problem) }
      }.expectNothingWrong()
    }
  }
}

/// An app with some sessions and the device they run on.
private struct HostileHost {
  var generator: SeededGenerator
  var sessions: [NISession] = []
  let listener = Listener()
  private var cameras: [ARSession] = []
  private let device: LiveDevice
  private var time: Timestamp
  private var pose = RigidTransform.identity
  private let others: [SessionToken]

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed, stream: 0xF3)
    var limits = SessionLimits()
    if generator.happens(0.5) { limits.silence = generator.uniform(in: 0...3) }
    if generator.happens(0.3) { limits.usage = generator.uniform(in: 0...30) }
    if generator.happens(0.3) { limits.activeSessions = generator.number(0..<3) }
    let settings =
      generator.happens(0.5)
      ? FusionConfiguration() : FusionConfiguration(changing: 0.3, &generator)
    device = LiveDevice(
      capabilities: generator.happens(0.7)
        ? .phoneWithAntennaArray
        : DeviceCapabilities(rawValue: UInt8(truncatingIfNeeded: generator.next())),
      fusion: settings, limits: limits)
    others = (0..<3).map {
      SessionToken(high: seed, low: UInt64($0), capabilities: .phoneWithAntennaArray)
    }
    time = Timestamp(nanoseconds: 0).advanced(
      bySeconds: generator.one(of: [0, 1, 100, 5000, 1.7e9]))
    self.generator = generator
    makeSession()
  }

  private mutating func makeSession() {
    let session = NISession(on: device)
    session.delegate = listener
    session.delegateQueue = listener.queue
    sessions.append(session)
  }

  /// Performs one action and returns its name.
  mutating func act() -> String {
    switch generator.number(0..<24) {
    case 0: return run()
    case 1:
      if generator.happens(0.3) { return invalidate() }
      generator.one(of: sessions).pause()
      return "pauses"
    case 2:
      if sessions.count < 4 { makeSession() }
      return "sessions made"
    case 3: return shareCamera()
    case 4:
      let state = generator.one(of: [NIMotionActivityState.stationary, .moving, .unknown])
      generator.one(of: sessions).updateMotionState(state, forObjectWithToken: token())
      return "motion states"
    case 5:
      device.undergo(generator.one(of: DeviceLifecycle.allCases))
      return "lifecycle changes"
    case 6:
      device.authorization = generator.one(of: [.allowed, .allowed, .denied, .undetermined])
      return "authorizations"
    case 7:
      device.add(generator.tracking(at: time))
      return "words on tracking"
    case 8:
      if generator.happens(0.3) { device.end(generator.one(of: others)) }
      return "farewells"
    case 9:
      let wanted = generator.happens(0.2) ? generator.hostileTime(near: time) : time
      device.advance(to: wanted)
      return "times passed"
    case 10: return askForTransform()
    case 11..<18: return addPose()
    default: return addMeasurement()
    }
  }

  private mutating func token() -> NIDiscoveryToken {
    generator.happens(0.2)
      ? sessions[0].discoveryToken ?? Self.token(others[0]) : Self.token(generator.one(of: others))
  }

  /// A peer's token as an app gets it, decoded from the peer's data.
  private static func token(_ token: SessionToken) -> NIDiscoveryToken {
    let text = (try? JSONEncoder().encode([token])) ?? Data()
    guard let tokens = try? JSONDecoder().decode([NIDiscoveryToken].self, from: text) else {
      preconditionFailure("a token can be sent")
    }
    return tokens[0]
  }

  private mutating func run() -> String {
    let session = generator.one(of: sessions)
    if generator.happens(0.2) { session.options.isStrictlyCompatible.toggle() }
    if generator.happens(0.2) {
      session.options.peerMotion = generator.one(of: [nil, .moving, .unknown, .stationary])
    }
    if generator.happens(0.2) {
      var bytes = AccessoryConfigurationData(
        radio: .init(maker: 1, model: 2, address: UInt16(generator.number(1..<9)))
      ).bytes
      if generator.happens(0.3) {
        bytes[generator.number(0..<bytes.count)] = UInt8(truncatingIfNeeded: generator.next())
      }
      if let configuration = try? NINearbyAccessoryConfiguration(data: Data(bytes)) {
        configuration.isCameraAssistanceEnabled = generator.happens(0.7)
        session.run(configuration)
      }
      return "runs with an accessory"
    }
    let configuration = NINearbyPeerConfiguration(peerToken: token())
    configuration.isCameraAssistanceEnabled = generator.happens(0.7)
    configuration.isExtendedDistanceMeasurementEnabled = generator.happens(0.1)
    session.run(configuration)
    return "runs with a peer"
  }

  private mutating func invalidate() -> String {
    let index = generator.number(0..<sessions.count)
    sessions[index].invalidate()
    if generator.happens(0.5), sessions.count > 1 { sessions.remove(at: index) }
    return "invalidations"
  }

  private mutating func shareCamera() -> String {
    if cameras.isEmpty || generator.happens(0.2) { cameras.append(ARSession(on: device)) }
    let camera = generator.one(of: cameras)
    switch generator.number(0..<4) {
    case 0: generator.one(of: sessions).setARSession(camera)
    case 1: camera.pause()
    default:
      let configuration = ARWorldTrackingConfiguration()
      if generator.happens(0.2) { configuration.worldAlignment = .gravityAndHeading }
      camera.run(configuration)
    }
    return "calls of AR sessions"
  }

  private mutating func askForTransform() -> String {
    let session = generator.one(of: sessions)
    for object in listener.heard.suffix(2) {
      if let transform = session.worldTransform(for: object) {
        listener.expect(Self.isFinite(transform.columns.3), "transform \(transform)")
      }
    }
    return "transforms"
  }

  private mutating func addPose() -> String {
    time = time.advanced(bySeconds: generator.happens(0.02) ? 20 : 0.05)
    pose.translation += generator.normalVector(sigma: 0.05)
    pose.rotation =
      Rotation(angleRadians: generator.normal(sigma: 0.05), about: generator.normalVector())
      * pose.rotation
    let good = DevicePose(timestamp: time, worldFromDevice: pose)
    device.add(generator.happens(0.05) ? generator.hostilePose(good) : good)
    return "poses"
  }

  private mutating func addMeasurement() -> String {
    let offset = pose.inverse.act(Vector3(2, 0.5, -3))
    let angles = ArrivalAngles(ofDirection: offset.normalized)
    var measurement = RadioMeasurement(
      timestamp: time.advanced(bySeconds: generator.uniform(in: -0.1...0)),
      distance: max(0, offset.length + generator.normal(sigma: 0.1)))
    if generator.happens(0.7) {
      measurement.azimuthRadians = angles.azimuthRadians
      measurement.elevationRadians = angles.elevationRadians
    }
    if generator.happens(0.1) {
      for _ in 0..<2 {
        switch generator.number(0..<8) {
        case 0: measurement.timestamp = generator.hostileTime(near: time)
        case 1: measurement.distance = generator.hostileNumber()
        case 2: measurement.azimuthRadians = generator.hostileNumber()
        case 3: measurement.elevationRadians = generator.hostileNumber()
        case 4: measurement.distanceSigma = generator.hostileNumber()
        case 5: measurement.azimuthSigmaRadians = generator.hostileNumber()
        case 6: measurement.signalStrength = generator.hostileNumber()
        default: measurement.distance = nil
        }
      }
    }
    device.add(measurement, of: generator.happens(0.5) ? nil : generator.one(of: others))
    return "measurements"
  }

  fileprivate static func isFinite(_ v: simd_float4) -> Bool {
    v.x.isFinite && v.y.isFinite && v.z.isFinite && v.w.isFinite
  }
}

/// Receives the callbacks of all sessions and checks them.
private final class Listener: NSObject, NISessionDelegate, @unchecked Sendable {
  // Unchecked because everything is written on the queue, or read after it has drained.
  let queue = DispatchQueue(label: "fuzzing")
  private let lock = NSLock()
  private var objects: [NINearbyObject] = []
  private(set) var callbacks = 0
  private(set) var problems: [String] = []

  /// The last objects.
  var heard: [NINearbyObject] { lock.withLock { objects } }

  func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
    guard !condition else { return }
    let problem = problem()
    lock.withLock { problems.append(problem) }
  }

  private func note(_ more: [NINearbyObject]) {
    lock.withLock {
      callbacks += 1
      objects = (objects + more).suffix(4)
    }
    for object in more { check(object) }
  }

  private func check(_ object: NINearbyObject) {
    if let distance = object.distance {
      expect(distance.isFinite && distance >= 0, "distance \(distance)")
      expect(object.distanceSigma.map { $0 >= 0 } ?? true, "\(object.distanceSigma ?? 0)")
    }
    if let direction = object.direction {
      let length = (direction * direction).sum().squareRoot()
      expect(abs(length - 1) < 1e-3, "direction \(direction)")
    }
    if let angle = object.horizontalAngle { expect(abs(angle) < 3.1416, "angle \(angle)") }
    if let range = object.smoothedRange {
      expect(range.distance.isFinite && range.distance >= 0, "smoothed \(range)")
    }
    _ = (object.advice, object.pointing, object.directionAbsence, object.distanceAbsence)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    note(nearbyObjects)
  }
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) { note(nearbyObjects) }
  func sessionWasSuspended(_ session: NISession) { note([]) }
  func sessionSuspensionEnded(_ session: NISession) { note([]) }
  func session(_ session: NISession, didInvalidateWith error: any Error) { note([]) }
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) { note([object]) }
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) { note([object].compactMap(\.self)) }
  func sessionDidStartRunning(_ session: NISession) { note([]) }
}
