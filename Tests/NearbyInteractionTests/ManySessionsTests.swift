// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NearbyEnvironment
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// Many sessions in one process: they all run, and the time of each does not depend on their number.
///
/// `NEARBY_SESSIONS` is a list of numbers of sessions (`10,1000`), `NEARBY_SESSION_SECONDS` the simulated time.
@Suite("Many sessions", .serialized)
struct ManySessionsTests {
  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }

  private static let counts =
    variable("NEARBY_SESSIONS")?.split(separator: ",").compactMap { Int($0) } ?? [40]
  private static let seconds = variable("NEARBY_SESSION_SECONDS").flatMap(Double.init) ?? 10

  /// A delegate that counts.
  private final class Counter: NSObject, NISessionDelegate, @unchecked Sendable {
    // Unchecked: written on the delegate's queue, and read after it was drained.
    var updates = 0
    var converged = 0
    var ends = 0
    func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
      updates += nearbyObjects.count
      if session.worldTransform(for: nearbyObjects[0]) != nil { converged += 1 }
    }
    func session(_ session: NISession, didInvalidateWith error: any Error) { ends += 1 }
    func session(
      _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
      reason: NINearbyObject.RemovalReason
    ) { ends += 1 }
  }

  @Test("all run, converge and end", arguments: counts)
  func all(_ count: Int) throws {
    var settings = SimulatedWorldSettings()
    settings.odometry.rate = 20
    settings.radio.rate = 5
    let world = SimulatedWorld(settings)
    // Each pair has its own place, out of the others' reach.
    let sessions = (0..<count).map { index in
      let place = Vector3(100 * Double(index / 2), 1.4, index % 2 == 0 ? 0 : -3)
      let other = Vector3(place.x, 1.4, index % 2 == 0 ? -3 : 0)
      return NISession(
        on: world.makeDevice(
          motion: .sweeping(
            about: RigidTransform(standingAt: place, facing: other), seed: UInt64(index))))
    }
    let queues = (0..<4).map { DispatchQueue(label: "delegates \($0)") }
    let counters = queues.map { _ in Counter() }
    for (index, session) in sessions.enumerated() {
      session.delegate = counters[index % 4]
      session.delegateQueue = queues[index % 4]
      let token = try #require(sessions[index ^ 1].discoveryToken)
      let configuration = NINearbyPeerConfiguration(peerToken: token)
      configuration.isCameraAssistanceEnabled = true
      session.run(configuration)
    }
    let start = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<Int(Self.seconds) {
      world.advance(bySeconds: 1)
      for queue in queues { queue.sync {} }
    }
    let nanoseconds = Double(DispatchTime.now().uptimeNanoseconds - start)
    print(
      "many sessions: \(count) sessions, \(Self.seconds) s,",
      "\(nanoseconds * 1e-6 / Self.seconds / Double(count)) ms a session-second")
    let updates = counters.reduce(0) { $0 + $1.updates }
    #expect(updates >= Int(0.99 * Self.seconds * settings.radio.rate) * count)
    #expect(counters.reduce(0) { $0 + $1.converged } > updates / 4)
    #expect(counters.allSatisfy { $0.ends == 0 })
    // Every other session ends, and its peer is told.
    for index in stride(from: 0, to: count, by: 2) { sessions[index].invalidate() }
    world.advance(bySeconds: 1)
    for queue in queues { queue.sync {} }
    #expect(counters.reduce(0) { $0 + $1.ends } == count / 2)
    withExtendedLifetime(sessions) {}
  }
}
