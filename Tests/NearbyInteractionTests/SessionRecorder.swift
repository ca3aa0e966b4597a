// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry
import NearbySimulation

@testable import NearbyInteraction

/// A delegate that records all its calls, on its own queue, which a test can drain.
final class SessionRecorder: NSObject, NISessionDelegate, @unchecked Sendable {
  // Unchecked: everything is read after `drain()` or written on the queue.
  let queue = DispatchQueue(label: "recorder")
  private(set) var calls: [String] = []
  private(set) var objects: [NINearbyObject] = []
  private(set) var convergences: [(status: NIAlgorithmConvergenceStatus, object: NINearbyObject?)] =
    []
  private(set) var errors: [any Error] = []
  private(set) var removed: [(object: NINearbyObject, reason: NINearbyObject.RemovalReason)] = []
  private(set) var shared: Data?
  private(set) var transforms: [simd_float4x4?] = []
  var onCall: ((NISession, String) -> Void)?

  /// The calls without repetitions.
  var summary: [String] {
    calls.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// Waits for pending callbacks.
  func drain() { queue.sync {} }

  func attach(to session: NISession) {
    session.delegate = self
    session.delegateQueue = queue
  }

  /// Answers calls from now on, also those of a session that runs already.
  func answer(_ onCall: @escaping (NISession, String) -> Void) {
    queue.sync { self.onCall = onCall }
  }

  private func note(_ call: String, _ session: NISession) {
    calls.append(call)
    onCall?(session, call)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    objects += nearbyObjects
    transforms.append(session.worldTransform(for: nearbyObjects[0]))
    note("update", session)
  }
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    removed += nearbyObjects.map { ($0, reason) }
    note("removed \(reason)", session)
  }
  func sessionWasSuspended(_ session: NISession) { note("suspended", session) }
  func sessionSuspensionEnded(_ session: NISession) { note("suspensionEnded", session) }
  func session(_ session: NISession, didInvalidateWith error: any Error) {
    errors.append(error)
    note("invalidated", session)
  }
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    shared = shareableConfigurationData
    note("share", session)
  }
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    convergences.append((convergence.status, object))
    note("convergence", session)
  }
  func sessionDidStartRunning(_ session: NISession) { note("started", session) }
}

/// Two sessions on two devices of a stepped world, each with its recorder.
struct SessionPair {
  let world: SimulatedWorld
  let devices: [SimulatedDevice]
  let sessions: [NISession]
  let recorders: [SessionRecorder]
  private let tickRate: Double

  init(
    _ settings: SimulatedWorldSettings = SimulatedWorldSettings(),
    motions: [SimulatedMotion?] = [nil, nil], capabilities: DeviceCapabilities? = nil
  ) {
    let world = SimulatedWorld(settings)
    self.world = world
    tickRate = settings.odometry.rate
    devices = motions.map { world.makeDevice(motion: $0, capabilities: capabilities) }
    sessions = devices.map { NISession(on: $0) }
    recorders = sessions.map { session in
      let recorder = SessionRecorder()
      recorder.attach(to: session)
      return recorder
    }
  }

  /// A device that a hand sweeps, and one at rest, three metres ahead of it.
  static var finderAndTag: [SimulatedMotion?] {
    let (here, there) = (Vector3(0, 1.4, 0), Vector3(0.4, 1.1, -3))
    return [
      .sweeping(about: RigidTransform(standingAt: here, facing: there), seed: 3),
      .resting(at: RigidTransform(standingAt: there, facing: here)),
    ]
  }

  /// Runs both, each with the other's token.
  func run(usesCamera: Bool = false, _ change: (NINearbyPeerConfiguration) -> Void = { _ in }) {
    for (session, other) in zip(sessions, sessions.reversed()) {
      guard let token = other.discoveryToken else { continue }
      let configuration = NINearbyPeerConfiguration(peerToken: token)
      configuration.isCameraAssistanceEnabled = usesCamera
      change(configuration)
      session.run(configuration)
    }
  }

  /// Advances the time, and waits until the delegates were called.
  ///
  /// After each tick: a delegate that asks where a peer is gets the place as of now, and on a busy machine
  /// the world would be seconds ahead of the callback.
  func advance(_ seconds: Double) {
    for _ in 0..<Int((seconds * tickRate).rounded()) {
      world.advance(bySeconds: 1 / tickRate)
      for recorder in recorders { recorder.drain() }
    }
  }
}
