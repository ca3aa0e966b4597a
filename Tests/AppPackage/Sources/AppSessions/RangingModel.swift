// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction
import Observation

/// What happens to a session, for code with `await`.
package enum SessionEvent: Sendable {
  case started
  case updated(NINearbyObject)
  case removed(NINearbyObject.RemovalReason)
  case suspended
  case resumed
  case failed(NIError.Code)
}

/// Turns a session's callbacks into streams, one for each reader.
package final class SessionEvents: NSObject, NISessionDelegate, @unchecked Sendable {
  // Unchecked: the readers are guarded by the lock.
  private let lock = NSLock()
  private var readers: [AsyncStream<SessionEvent>.Continuation] = []

  package func stream() -> AsyncStream<SessionEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent.self)
    lock.withLock { readers.append(continuation) }
    return stream
  }

  package func finish() { for reader in lock.withLock({ readers }) { reader.finish() } }

  private func tell(_ event: SessionEvent) {
    for reader in lock.withLock({ readers }) { reader.yield(event) }
  }

  package func sessionDidStartRunning(_ session: NISession) { tell(.started) }
  package func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects { tell(.updated(object)) }
  }
  package func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) { tell(.removed(reason)) }
  package func sessionWasSuspended(_ session: NISession) { tell(.suspended) }
  package func sessionSuspensionEnded(_ session: NISession) { tell(.resumed) }
  package func session(_ session: NISession, didInvalidateWith error: any Error) {
    if let error = error as? NIError { tell(.failed(error.code)) }
    finish()
  }
}

/// Keeps a journal of distances away from the main actor.
package actor DistanceJournal {
  package private(set) var distances: [Float] = []
  package private(set) var gaps = 0

  package init() {}

  /// Reads a stream to its end.
  package func record(_ events: AsyncStream<SessionEvent>) async {
    for await event in events {
      guard case .updated(let object) = event else { continue }
      if let distance = object.distance { distances.append(distance) } else { gaps += 1 }
    }
  }
}

/// The model of a screen, as SwiftUI observes it.
@MainActor @Observable package final class RangingModel {
  package enum Status: Equatable, Sendable { case idle, ranging, paused, lost, failed(String) }

  package private(set) var status = Status.idle
  package private(set) var distance: Float?
  package private(set) var isNear = false
  package private(set) var retries = 0

  @ObservationIgnored private let session = NISession()
  @ObservationIgnored package let events = SessionEvents()
  @ObservationIgnored private var task: Task<Void, Never>?

  package init() { session.delegate = events }

  /// What the app sends: JSON, as a server takes it.
  package func invitation() throws -> Data { try JSONEncoder().encode(session.discoveryToken) }

  package func accept(_ invitation: Data) throws {
    let token = try JSONDecoder().decode(NIDiscoveryToken.self, from: invitation)
    let stream = events.stream()
    task = Task { [weak self] in
      for await event in stream { self?.take(event) }
    }
    session.run(NINearbyPeerConfiguration(peerToken: token))
  }

  package func stop() {
    session.invalidate()
    events.finish()
    status = .idle
  }

  private func rerun() {
    if let configuration = session.configuration { session.run(configuration) }
  }

  private func take(_ event: SessionEvent) {
    switch event {
    case .started: status = .ranging
    case .updated(let object):
      distance = object.distance
      // Some room between the two, lest the screen flickers.
      if let distance { isNear = distance < (isNear ? 2.5 : 2) }
    case .removed(.timeout) where retries < 3:
      retries += 1
      rerun()
    case .removed:
      distance = nil
      status = .lost
    case .suspended: status = .paused
    case .resumed: rerun()
    case .failed(let code): status = .failed("\(code)")
    }
  }
}
