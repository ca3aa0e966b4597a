// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Receives the errors of an ``ARSession``; every method has a default that does nothing.
public protocol ARSessionObserver: NSObjectProtocol {
  /// The session has failed.
  func session(_ session: ARSession, didFailWithError error: any Error)
  /// The odometry's quality has changed.
  func session(_ session: ARSession, cameraDidChangeTrackingState camera: ARCamera)
  /// Frames are interrupted.
  func sessionWasInterrupted(_ session: ARSession)
  /// Frames have resumed.
  func sessionInterruptionEnded(_ session: ARSession)
  /// Whether to relocalise in the earlier world after an interruption; false by default. It is
  /// called when a Nearby Interaction session is run with the session's poses, and when either runs
  /// again.
  func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool
  /// The session has data for devices that share its world; never here.
  func session(_ session: ARSession, didOutputCollaborationData data: ARSession.CollaborationData)
}

/// Receives the frames and anchors of an ``ARSession``; every method has a default that does nothing.
public protocol ARSessionDelegate: ARSessionObserver {
  /// There is a new frame. Frames that arrive while another one is being delivered are left out.
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
  /// Does nothing.
  public func session(
    _ session: ARSession, didOutputCollaborationData data: ARSession.CollaborationData
  ) {}
  /// Always false.
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

/// An object with an AR session.
public protocol ARSessionProviding: NSObjectProtocol {
  /// The session.
  var session: ARSession { get }
}
