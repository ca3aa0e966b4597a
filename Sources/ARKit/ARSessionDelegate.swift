// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Hears of an ``ARSession``'s troubles; every method has a default that does nothing.
public protocol ARSessionObserver: NSObjectProtocol {
  /// The session has failed.
  func session(_ session: ARSession, didFailWithError error: any Error)
  /// The odometry's quality has changed.
  func session(_ session: ARSession, cameraDidChangeTrackingState camera: ARCamera)
  /// No frames come for a while.
  func sessionWasInterrupted(_ session: ARSession)
  /// Frames come again.
  func sessionInterruptionEnded(_ session: ARSession)
  /// Whether the earlier world should be looked for after an interruption; by default it is not. Asked
  /// when a nearby-interaction session is run with the session's poses, and when either runs anew.
  func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool
}

/// Hears of an ``ARSession``'s frames and anchors; every method has a default that does nothing.
public protocol ARSessionDelegate: ARSessionObserver {
  /// There is a new frame. Those that come while one is being delivered are left out.
  func session(_ session: ARSession, didUpdate frame: ARFrame)
  /// Anchors were added.
  func session(_ session: ARSession, didAdd anchors: [ARAnchor])
  /// Anchors have moved.
  func session(_ session: ARSession, didUpdate anchors: [ARAnchor])
  /// Anchors were removed.
  func session(_ session: ARSession, didRemove anchors: [ARAnchor])
}

extension ARSessionObserver {
  /// Does nothing.
  public func session(_ session: ARSession, didFailWithError error: any Error) {}
  /// Does nothing.
  public func session(_ session: ARSession, cameraDidChangeTrackingState camera: ARCamera) {}
  /// Does nothing.
  public func sessionWasInterrupted(_ session: ARSession) {}
  /// Does nothing.
  public func sessionInterruptionEnded(_ session: ARSession) {}
  /// Does not.
  public func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { false }
}

extension ARSessionDelegate {
  /// Does nothing.
  public func session(_ session: ARSession, didUpdate frame: ARFrame) {}
  /// Does nothing.
  public func session(_ session: ARSession, didAdd anchors: [ARAnchor]) {}
  /// Does nothing.
  public func session(_ session: ARSession, didUpdate anchors: [ARAnchor]) {}
  /// Does nothing.
  public func session(_ session: ARSession, didRemove anchors: [ARAnchor]) {}
}
