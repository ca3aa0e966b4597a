// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

/// All tests, one after the other: sessions that are made without a device share the program's environment.
@MainActor @Suite(.serialized) struct Apps {}

/// A delegate that keeps all its calls.
final class Log: NSObject, NISessionDelegate {
  var calls: [String] = []
  var objects: [NINearbyObject] = []
  var removals: [(token: NIDiscoveryToken, reason: NINearbyObject.RemovalReason)] = []
  var statuses: [(status: NIAlgorithmConvergenceStatus, isOfSession: Bool, update: Int)] = []
  var codes: [NIError.Code] = []
  var places: [simd_float4x4?] = []
  var shared: (data: Data, token: NIDiscoveryToken)?
  var onCall: (NISession, String) -> Void = { _, _ in }

  /// The calls without repetitions.
  var summary: [String] { calls.reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
  var last: NINearbyObject? { objects.last }
  var reasons: [NINearbyObject.RemovalReason] { removals.map(\.reason) }

  private func note(_ call: String, _ session: NISession) {
    calls.append(call)
    onCall(session, call)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    objects += nearbyObjects
    places.append(nearbyObjects.first.flatMap { session.worldTransform(for: $0) })
    note("update", session)
  }
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    removals += nearbyObjects.map { ($0.discoveryToken, reason) }
    note("remove", session)
  }
  func sessionWasSuspended(_ session: NISession) { note("suspend", session) }
  func sessionSuspensionEnded(_ session: NISession) { note("suspension ended", session) }
  func session(_ session: NISession, didInvalidateWith error: any Error) {
    if let error = error as? NIError { codes.append(error.code) }
    note("invalidate", session)
  }
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {
    shared = (shareableConfigurationData, object.discoveryToken)
    note("share", session)
  }
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    statuses.append((convergence.status, object == nil, objects.count))
    note("convergence", session)
  }
  func sessionDidStartRunning(_ session: NISession) { note("start", session) }
}

/// Two phones that face each other, four metres apart, each with a session.
@MainActor struct Pair {
  let world: SimulatedWorld
  let phone: SimulatedDevice
  let other: SimulatedDevice
  let session: NISession
  let friend: NISession
  let log = Log()
  let friendLog = Log()

  static let here = RigidTransform(
    standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -1))

  /// Places the other phone, and lets a hand move the first one if it is swept.
  init(
    at place: Vector3 = Vector3(0, 1.4, -4), isSwept: Bool = false,
    capabilities: DeviceCapabilities? = nil,
    _ change: (inout SimulatedWorldSettings) -> Void = { _ in }
  ) {
    var settings = SimulatedWorldSettings()
    change(&settings)
    world = SimulatedWorld(settings)
    NearbyEnvironments.current = world
    phone = world.makeDevice(
      motion: isSwept ? .sweeping(about: Self.here, seed: 3) : .resting(at: Self.here),
      capabilities: capabilities)
    other = world.makeDevice(
      motion: .resting(at: RigidTransform(standingAt: place, facing: Vector3(0, 1.4, 0))),
      capabilities: capabilities)
    session = NISession(on: phone)
    friend = NISession(on: other)
    session.delegate = log
    friend.delegate = friendLog
  }

  func configuration(usesCamera: Bool = false) throws -> NINearbyPeerConfiguration {
    let configuration = NINearbyPeerConfiguration(
      peerToken: try #require(friend.discoveryToken))
    configuration.isCameraAssistanceEnabled = usesCamera
    return configuration
  }

  func runFriend() {
    // A session that has ended at once has no token any more.
    guard let token = session.discoveryToken else { return }
    friend.run(NINearbyPeerConfiguration(peerToken: token))
  }

  func run(usesCamera: Bool = false) throws {
    // A script speaks of the first device that runs as `me`.
    session.run(try configuration(usesCamera: usesCamera))
    runFriend()
  }

  func pass(_ seconds: Double) async { await world.pass(seconds: seconds) }

  /// Runs the first session again, as apps do.
  func rerun() throws { session.run(try #require(session.configuration)) }

  /// The true place of the other phone in the world of the first phone's odometry.
  var truePlace: simd_float3 {
    let offset = Self.here.rotation.inverse.act(
      other.truePose.translation - Self.here.translation)
    return simd_float3(Float(offset.x), Float(offset.y), Float(offset.z))
  }
}
