// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// A device in a ``SimulatedWorld``, with controls of its motion and its app.
public final class SimulatedDevice: NearbyDevice {
  /// Its world.
  public let world: SimulatedWorld
  /// Its capabilities.
  public let capabilities: DeviceCapabilities
  /// Its number, which is unique in the world, including devices of other processes.
  public let number: UInt64

  private let isPlacedByWorld: Bool

  init(
    world: SimulatedWorld, number: UInt64, capabilities: DeviceCapabilities, isPlacedByWorld: Bool
  ) {
    self.world = world
    self.isPlacedByWorld = isPlacedByWorld
    self.number = number
    self.capabilities = capabilities
  }

  // MARK: The hand

  /// Its motion since it was made.
  ///
  /// It may be changed at any time.
  ///
  /// It is `nil` until the first use of a device that was made without a motion.
  public var motion: SimulatedMotion? {
    get { world.state(of: self) { $0.motion } }
    set { world.change(self) { $0.motion = newValue } }
  }

  /// Whether it is an accessory, which stays where the world places it, instead of a phone in a hand.
  ///
  /// It counts until the device's first use.
  public var isAccessory: Bool {
    get { world.state(of: self) { $0.isAccessory } }
    set { world.change(self) { $0.isAccessory = newValue } }
  }

  /// Its current true pose, device coordinates to the world.
  public var truePose: RigidTransform { world.state(of: self) { $0.truePose } }

  /// Sets the odometry's quality and the light from now on.
  ///
  /// - Parameters:
  ///   - quality: The odometry's quality.
  ///   - lumens: The light; 1000 is a well lit room.
  public func setTracking(_ quality: TrackingSample.Quality, lumens: Double? = nil) {
    let sample = TrackingSample(
      timestamp: now, quality: quality, ambientIntensityLumens: lumens)
    world.tell(self, .tracking(sample)) { $0.tracking = sample }
  }

  /// Changes the app's state as an operating system does.
  ///
  /// - Parameter change: The change.
  public func undergo(_ change: DeviceLifecycle) { world.tell(self, .lifecycle(change)) }

  /// Whether the user allows measurements.
  ///
  /// A change is delivered to all sessions.
  public var authorization: MeasurementAuthorization {
    get { world.state(of: self) { $0.authorization } }
    set {
      switch newValue {
      case .allowed, .denied:
        world.tell(self, .authorization(isAllowed: newValue == .allowed)) {
          $0.authorization = newValue
        }
      case .undetermined: world.change(self) { $0.authorization = newValue }
      }
    }
  }

  // MARK: NearbyDevice

  /// The limits of its sessions.
  public var limits: SessionLimits { world.settings.limits }
  /// The accuracy of its sensors, and the motion model of hand-held peers if the world placed this
  /// device.
  public var fusion: FusionConfiguration {
    isPlacedByWorld ? world.settings.fusionAmongHands : world.settings.fusion
  }
  /// The current time of the world.
  public var now: Timestamp { world.now }

  /// Registers a session, before it runs.
  public func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void) {
    world.join(token, on: self, receive: receive)
  }

  /// Starts measuring, as soon as the peer also measures this session.
  public func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {
    world.place(self)
    world.change(self) { $0.roster.range(token, with: peer, isExtended: isExtended) }
  }

  /// Starts listening to the world's anchors.
  public func listen(_ token: SessionToken) {
    world.place(self)
    world.change(self) { $0.roster.listen(token) }
  }

  /// Stops measuring.
  public func rest(_ token: SessionToken) { world.change(self) { $0.roster.rest(token) } }

  /// Removes a session.
  public func leave(_ token: SessionToken, tellsPeer: Bool) {
    world.leave(token, on: self, tellsPeer: tellsPeer)
  }

  /// How many other sessions measure.
  public func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int) {
    world.state(of: self) { $0.roster.active(besides: token) }
  }

  /// Whether the end of a peer's session was heard of.
  public func hasEnded(_ peer: SessionToken) -> Bool { world.hasEnded(peer) }

  /// Whether an accessory is connected; see ``SimulatedWorld/setConnected(_:_:)``.
  public func isConnected(to accessory: SessionToken) -> Bool { world.isConnected(accessory) }

  /// Shows the prompt of the world's settings.
  public func askForPermission() { world.askForPermission() }

  /// The motion of hand-held devices if the world placed this device, since it probably placed the
  /// peer, too.
  ///
  /// Not known if the host chose this device's motion.
  public func motion(of peer: SessionToken) -> PeerMotion? {
    isPlacedByWorld ? world.settings.motionAmongHands : nil
  }

  /// Starts reporting the trajectory, beginning with the odometry's quality if it is not normal.
  public func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower {
    world.place(self)
    return world.change(self) { $0.follow(receive) }
  }

  /// Stops reporting the trajectory.
  public func unfollow(_ follower: TrajectoryFollower) {
    world.change(self) { $0.roster.unfollow(follower) }
  }
}
