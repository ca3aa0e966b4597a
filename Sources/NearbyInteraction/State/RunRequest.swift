// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry

/// All that decides what becomes of a call of `run`, as it is at that moment.
struct RunRequest: Hashable, Sendable {
  /// How the session's AR session stands.
  enum Trajectory: Hashable, Sendable {
    /// The app set none: the session follows the device's odometry by itself.
    case own
    /// The app set one that can be used.
    case shared
    /// The app set one that cannot be used.
    case faulty
  }

  /// When; `nil` while the device's clock is not set.
  var time: Timestamp?
  /// Whether devices here can measure what the configuration is for.
  var isMeasurable = true
  /// Whether the configuration names this very session as its peer.
  var namesItself = false
  /// Whether the peer is an accessory.
  var isAccessory = false
  /// Whether the session goes on while the app is in the background.
  var runsInBackground = false
  /// Whether the camera's odometry is to be fused.
  var usesCamera = false
  /// Where that odometry comes from.
  var trajectory = Trajectory.own
  /// Whether extended distances are asked for.
  var measuresExtendedDistance = false
  /// What this device can measure.
  var capabilities: DeviceCapabilities
  /// What the peer's device can measure.
  var peerCapabilities: DeviceCapabilities
  /// Whether the user allows it.
  var authorization = MeasurementAuthorization.allowed
  /// How many other sessions run on this device.
  var activeSessions = 0
  /// How many of them measure extended distances.
  var activeExtendedSessions = 0

  /// Why the session cannot run, if so: what is wrong for good comes before what may change.
  func refusal(_ limits: SessionLimits) -> NIError.Code? {
    if !isMeasurable || !capabilities.contains(.preciseDistance) { return .unsupportedPlatform }
    if namesItself { return .invalidConfiguration }
    if authorization == .denied { return .userDidNotAllow }
    if usesCamera, !capabilities.contains(.cameraAssistance) { return .invalidARConfiguration }
    if !usesCamera, trajectory != .own { return .invalidARConfiguration }
    if trajectory == .faulty { return .invalidARConfiguration }
    if measuresExtendedDistance {
      if !capabilities.contains(.extendedDistance) { return .unsupportedPlatform }
      if !peerCapabilities.contains(.extendedDistance) { return .incompatiblePeerDevice }
      if activeExtendedSessions >= limits.activeExtendedSessions {
        return .activeExtendedDistanceSessionsLimitExceeded
      }
    }
    return activeSessions >= limits.activeSessions ? .activeSessionsLimitExceeded : nil
  }
}
