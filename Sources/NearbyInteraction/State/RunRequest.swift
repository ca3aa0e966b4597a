// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry

/// The inputs that decide the outcome of a call of `run`.
struct RunRequest: Hashable, Sendable {
  /// The state of the session's AR session.
  enum Trajectory: Hashable, Sendable {
    /// The app set none, so the session follows the device's odometry.
    case own
    /// The app set one that can be used.
    case shared
    /// The app set one that cannot be used.
    case faulty
  }

  /// The time; `nil` while the device's clock is not set.
  var time: Timestamp?
  /// Whether devices here can measure what the configuration is for.
  var isMeasurable = true
  /// Whether the configuration names this session as its own peer.
  var namesItself = false
  /// The session at the other end.
  var peer: SessionToken?
  /// Whether that session is known to have ended.
  var peerHasEnded = false
  /// Whether the peer is an accessory.
  var isAccessory = false
  /// Whether the accessory is connected over Bluetooth, where the configuration names it so.
  var isAccessoryConnected = true
  /// Whether the session listens to anchors instead of measuring a peer.
  var isListening = false
  /// Whether the session goes on while the app is in the background.
  var runsInBackground = false
  /// Whether the camera's odometry is fused.
  var usesCamera = false
  /// The source of that odometry.
  var trajectory = Trajectory.own
  /// Whether extended distances are requested.
  var measuresExtendedDistance = false
  /// The capabilities of this device.
  var capabilities: DeviceCapabilities
  /// The capabilities of the peer's device.
  var peerCapabilities: DeviceCapabilities
  /// Whether the user allows it.
  var authorization = MeasurementAuthorization.allowed
  /// How many other sessions run on this device.
  var activeSessions = 0
  /// How many of them measure extended distances.
  var activeExtendedSessions = 0

  /// The reason why the session cannot run, if there is one.
  ///
  /// Permanent reasons come before temporary ones.
  func refusal(_ limits: SessionLimits) -> NIError.Code? {
    if !isMeasurable || !capabilities.contains(.preciseDistance) { return .unsupportedPlatform }
    if isListening, !capabilities.contains(.downlink) { return .unsupportedPlatform }
    if namesItself { return .invalidConfiguration }
    if authorization == .denied { return .userDidNotAllow }
    if !isAccessoryConnected { return .accessoryPeerDeviceUnavailable }
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
