// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An event of a session, as an element of ``NISession/updates``.
public enum NearbyUpdate: Sendable {
  /// The session runs.
  case startedRunning
  /// The peer has new values.
  case object(NINearbyObject)
  /// The peer does not take part any more.
  case removed(NINearbyObject, NINearbyObject.RemovalReason)
  /// Convergence has changed: for the peer, or with `nil` for the session as a whole.
  case convergence(NIAlgorithmConvergenceStatus, NINearbyObject?)
  /// Convergence of the peer was lost.
  case lostConvergence
  /// The session is suspended.
  case suspended
  /// The suspension has ended; the session does not resume by itself.
  case suspensionEnded
  /// The accessory needs these bytes.
  case shareableConfiguration(Data, NINearbyObject)
  /// The messages of a round of anchors.
  case anchors([NIDLTDOAMeasurement])
  /// The session has ended. This is the last element.
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
    case .didUpdateDLTDOA(let measurements): self = .anchors(measurements)
    case .didInvalidate(let error): self = .invalidated(error)
    }
  }
}

extension NISession {
  /// All events of the session from now on, independent of any delegate.
  ///
  /// Each access makes a new stream. It keeps the newest 256 elements that have not been read, and
  /// ends with the session.
  public var updates: AsyncStream<NearbyUpdate> { core.updates() }
}
