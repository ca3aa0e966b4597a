// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Receives the events of a session.
///
/// Every method has a default that does nothing.
public protocol NISessionDelegate: NSObjectProtocol {
  /// The peer has new values.
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject])
  /// The peer does not take part any more.
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason)
  /// No updates come until the suspension has ended and the session is run again.
  func sessionWasSuspended(_ session: NISession)
  /// The session may be run again; it does not resume by itself.
  func sessionSuspensionEnded(_ session: NISession)
  /// The session has ended. There are no further callbacks.
  func session(_ session: NISession, didInvalidateWith error: any Error)
  /// The accessory needs these bytes to take part.
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject)
  /// The convergence of camera assistance has changed: for the peer, or with `nil` for the session
  /// as a whole (light, tracking).
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?)
  /// The session runs, for the first time or again.
  func sessionDidStartRunning(_ session: NISession)
  /// Anchors were measured. It is never called, since no device here receives anchors.
  func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement])
}

extension NISessionDelegate {
  /// Does nothing.
  public func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {}
  /// Does nothing.
  public func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {}
  /// Does nothing.
  public func sessionWasSuspended(_ session: NISession) {}
  /// Does nothing.
  public func sessionSuspensionEnded(_ session: NISession) {}
  /// Does nothing.
  public func session(_ session: NISession, didInvalidateWith error: any Error) {}
  /// Does nothing.
  public func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) {}
  /// Does nothing.
  public func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {}
  /// Does nothing.
  public func sessionDidStartRunning(_ session: NISession) {}
  /// Does nothing.
  public func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {}
}
