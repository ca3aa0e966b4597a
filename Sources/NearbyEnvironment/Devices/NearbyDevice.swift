// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// An event that a device delivers to a session, or to a follower of its trajectory.
public enum DeviceEvent: Sendable {
  /// The odometry reports a pose.
  case pose(DevicePose)
  /// The odometry's quality or the light has changed.
  case tracking(TrackingSample)
  /// The radio measured the session's peer.
  case measurement(RadioMeasurement)
  /// The radio heard the messages of a round of anchors.
  case anchors([AnchorMessage], at: Timestamp)
  /// The peer reported the end of its session.
  case peerEnded
  /// Time has passed. Timeouts count on this clock only.
  case time(Timestamp)
  /// The operating system changes the state of the app.
  case lifecycle(DeviceLifecycle)
  /// The user answered whether measurements are allowed.
  case authorization(isAllowed: Bool)
}

/// A change of the app's state by the operating system.
public enum DeviceLifecycle: String, Hashable, Sendable, CaseIterable {
  /// The radio is not available, for instance during a phone call.
  case suspended
  /// The radio is available again.
  case suspensionEnded
  /// The app left the screen.
  case enteredBackground
  /// The app is on the screen again.
  case enteredForeground
}

/// Whether the user allows measurements.
public enum MeasurementAuthorization: String, Hashable, Sendable, CaseIterable {
  /// The user allows measurements.
  case allowed
  /// The user does not allow measurements.
  case denied
  /// The user has not answered; ``DeviceEvent/authorization(isAllowed:)`` delivers the answer.
  case undetermined
}

/// A device on which sessions run: a radio, an odometry, and the app's life cycle.
///
/// A device may be called from any thread. It never calls a receiver from within one of these
/// methods or while it holds a lock, so that a receiver may take locks and call the device.
public protocol NearbyDevice: AnyObject, Sendable {
  /// Its capabilities.
  var capabilities: DeviceCapabilities { get }
  /// The limits of its sessions.
  var limits: SessionLimits { get }
  /// How accurate its sensors are, for the engine.
  var fusion: FusionConfiguration { get }
  /// The newest time of its clock.
  var now: Timestamp { get }
  /// Whether its clock has a time yet. Intervals that begin before are counted from its first time.
  var isClockSet: Bool { get }
  /// Whether the user allows measurements.
  var authorization: MeasurementAuthorization { get }

  /// Registers a session, before it runs.
  ///
  /// - Parameters:
  ///   - token: The session's name.
  ///   - receive: Called with the session's events, from any thread.
  func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void)

  /// Starts measuring, as soon as the peer also measures this session.
  ///
  /// - Parameters:
  ///   - token: The session.
  ///   - peer: The session at the other end.
  ///   - isExtended: Whether extended distances are measured.
  func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool)

  /// Starts listening to anchors.
  ///
  /// - Parameter token: The session.
  func listen(_ token: SessionToken)

  /// Stops measuring; the peer gets no more measurements.
  ///
  /// - Parameter token: The session.
  func rest(_ token: SessionToken)

  /// Removes a session, and tries to notify its peer.
  ///
  /// - Parameters:
  ///   - token: The session.
  ///   - tellsPeer: Whether its peer is notified.
  func leave(_ token: SessionToken, tellsPeer: Bool)

  /// How many sessions measure now, and how many of them extended distances.
  ///
  /// - Parameter token: A session that is not counted.
  /// - Returns: The numbers.
  func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int)

  /// How a peer may move, according to the environment. A session can override it.
  ///
  /// - Parameter peer: The session at the other end.
  /// - Returns: Its motion; `nil` when the environment does not know. Then a session takes an accessory for
  ///   one at rest, and a phone for one whose motion is not known.
  func motion(of peer: SessionToken) -> PeerMotion?

  /// Whether a peer's session is known to have ended.
  ///
  /// - Parameter peer: The session at the other end.
  /// - Returns: Whether it is; `false` also for a session that was never heard of.
  func hasEnded(_ peer: SessionToken) -> Bool

  /// Whether an accessory is connected over Bluetooth.
  ///
  /// - Parameter accessory: The accessory's session.
  /// - Returns: Whether it is; `true` also for an accessory that was never heard of.
  func isConnected(to accessory: SessionToken) -> Bool

  /// Asks the user for the permission to measure, unless the user has answered already.
  func askForPermission()

  /// Starts reporting the device's trajectory.
  ///
  /// - Parameter receive: Called with poses and tracking qualities.
  /// - Returns: A handle by which to stop.
  func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower

  /// Stops reporting the trajectory.
  ///
  /// - Parameter follower: The handle that ``follow(_:)`` returned.
  func unfollow(_ follower: TrajectoryFollower)
}

extension NearbyDevice {
  /// Always true, since most clocks run by themselves.
  public var isClockSet: Bool { true }

  /// Does nothing: there are no anchors.
  public func listen(_ token: SessionToken) {}

  /// Not known.
  public func motion(of peer: SessionToken) -> PeerMotion? { nil }

  /// Not known.
  public func hasEnded(_ peer: SessionToken) -> Bool { false }

  /// Always true.
  public func isConnected(to accessory: SessionToken) -> Bool { true }

  /// Does nothing: the host asks.
  public func askForPermission() {}
}

/// The handle of a follower of a device's trajectory.
public struct TrajectoryFollower: Hashable, Sendable {
  let number: Int
}
