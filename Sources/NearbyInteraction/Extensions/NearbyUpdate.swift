// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Something that happened to a session, as an element of ``NISession/updates``.
public enum NearbyUpdate: Sendable {
  /// The session runs.
  case startedRunning
  /// There is something new to say of the peer.
  case object(NINearbyObject)
  /// The peer takes part no more.
  case removed(NINearbyObject, NINearbyObject.RemovalReason)
  /// Convergence has changed: of the peer, or with `nil` of the session as a whole.
  case convergence(NIAlgorithmConvergenceStatus, NINearbyObject?)
  /// The peer's place was known and is not known any more.
  case lostConvergence
  /// The session is suspended.
  case suspended
  /// The suspension has ended; the session does not resume by itself.
  case suspensionEnded
  /// The accessory needs these bytes.
  case shareableConfiguration(Data, NINearbyObject)
  /// The session is over. It is the last element.
  case invalidated(NIError)

  init(_ callback: SessionCallback) {
    switch callback {
    case .didStartRunning: self = .startedRunning
    case .didUpdate(let object): self = .object(object)
    case .didRemove(let object, let reason): self = .removed(object, reason)
    case .didUpdateConvergence(let convergence, let object):
      self = .convergence(convergence.status, object)
    case .wasSuspended: self = .suspended
    case .suspensionEnded: self = .suspensionEnded
    case .didGenerateShareableConfigurationData(let data, let object):
      self = .shareableConfiguration(data, object)
    case .didInvalidate(let error): self = .invalidated(error)
    }
  }
}

extension NISession {
  /// All that happens to the session from now on, apart from any delegate.
  ///
  /// Each call gives a stream of its own. It keeps the newest 256 elements that have not been read, and
  /// ends with the session.
  public var updates: AsyncStream<NearbyUpdate> { core.updates() }
}
