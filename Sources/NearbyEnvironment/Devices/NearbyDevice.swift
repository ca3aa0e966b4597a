// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// What reaches a session, or whoever follows the device's trajectory.
public enum DeviceEvent: Sendable {
  /// The odometry reports a pose.
  case pose(DevicePose)
  /// The odometry's quality or the light has changed.
  case tracking(TrackingSample)
  /// The radio measured the session's peer.
  case measurement(RadioMeasurement)
  /// The peer said that its session is over.
  case peerEnded
  /// Time has passed: timeouts count on this clock and on no other.
  case time(Timestamp)
  /// What the operating system does to the app.
  case lifecycle(DeviceLifecycle)
  /// The user answered whether measurements are allowed.
  case authorization(isAllowed: Bool)
}

/// What the operating system does to an app.
public enum DeviceLifecycle: String, Hashable, Sendable, CaseIterable {
  /// Something takes the radio away, such as a phone call.
  case suspended
  /// It is back.
  case suspensionEnded
  /// The app left the screen.
  case enteredBackground
  /// The app is on the screen again.
  case enteredForeground
}

/// Whether the user allows measurements.
public enum MeasurementAuthorization: String, Hashable, Sendable, CaseIterable {
  /// Yes.
  case allowed
  /// No.
  case denied
  /// The user is being asked; ``DeviceEvent/authorization(isAllowed:)`` will tell.
  case undetermined
}

/// A device on which sessions run: a radio, an odometry, an app's life.
///
/// A device may be called from any thread. It never calls a receiver from within one of these methods
/// nor while it holds a lock of its own, so that a receiver may take locks and call it in turn.
public protocol NearbyDevice: AnyObject, Sendable {
  /// What it can measure.
  var capabilities: DeviceCapabilities { get }
  /// The limits of its sessions.
  var limits: SessionLimits { get }
  /// How accurate its sensors are, for the engine.
  var fusion: FusionConfiguration { get }
  /// The newest moment of its clock.
  var now: Timestamp { get }
  /// Whether its clock has told a moment yet; what begins before counts from the first one on.
  var isClockSet: Bool { get }
  /// Whether the user allows measurements.
  var authorization: MeasurementAuthorization { get }

  /// Takes in a session, before it runs.
  ///
  /// - Parameters:
  ///   - token: The session's name.
  ///   - receive: Gets what concerns the session, from whatever thread.
  func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void)

  /// Begins to measure, once the peer measures this session in turn.
  ///
  /// - Parameters:
  ///   - token: The session.
  ///   - peer: The session at the other end.
  ///   - isExtended: Whether extended distances are measured.
  func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool)

  /// Stops measuring; the peer hears no more.
  ///
  /// - Parameter token: The session.
  func rest(_ token: SessionToken)

  /// Lets a session go for ever, and tries to tell its peer.
  ///
  /// - Parameters:
  ///   - token: The session.
  ///   - tellsPeer: Whether its peer is told.
  func leave(_ token: SessionToken, tellsPeer: Bool)

  /// How many sessions measure now, and how many of them extended distances.
  ///
  /// - Parameter token: A session that does not count.
  /// - Returns: The numbers.
  func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int)

  /// How a peer may move, as far as the environment knows; sessions can be told otherwise.
  ///
  /// - Parameter peer: The session at the other end.
  /// - Returns: Its motion.
  func motion(of peer: SessionToken) -> PeerMotion

  /// Begins to report the device's trajectory.
  ///
  /// - Parameter receive: Gets poses and tracking qualities.
  /// - Returns: A handle by which to stop.
  func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower

  /// Stops reporting the trajectory.
  ///
  /// - Parameter follower: What ``follow(_:)`` gave.
  func unfollow(_ follower: TrajectoryFollower)
}

extension NearbyDevice {
  /// Always: most clocks run by themselves.
  public var isClockSet: Bool { true }

  /// Not at all: what Apple's camera assistance is for.
  public func motion(of peer: SessionToken) -> PeerMotion { .stationary }
}

/// Who follows a device's trajectory.
public struct TrajectoryFollower: Hashable, Sendable {
  let number: Int
}
