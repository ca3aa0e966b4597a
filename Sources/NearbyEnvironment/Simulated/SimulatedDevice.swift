// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// A device in a ``SimulatedWorld``, and the hand on it.
public final class SimulatedDevice: NearbyDevice {
  /// The world that it is in.
  public let world: SimulatedWorld
  /// What it can measure.
  public let capabilities: DeviceCapabilities
  /// Its number in the world; those of other processes have others.
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

  /// How it moves, from its beginning on; may be changed at any time.
  ///
  /// `nil` until a device that was made without a motion is first used.
  public var motion: SimulatedMotion? {
    get { world.state(of: self) { $0.motion } }
    set { world.change(self) { $0.motion = newValue } }
  }

  /// Its true pose at the newest moment, device coordinates to the world.
  public var truePose: RigidTransform { world.state(of: self) { $0.truePose } }

  /// Says how well the odometry tracks from now on, and how light it is.
  ///
  /// - Parameters:
  ///   - quality: The odometry's quality.
  ///   - lumens: The light; 1000 is a well lit room.
  public func setTracking(_ quality: TrackingSample.Quality, lumens: Double? = nil) {
    let sample = TrackingSample(
      timestamp: now, quality: quality, ambientIntensityLumens: lumens)
    world.tell(self, .tracking(sample)) { $0.tracking = sample }
  }

  /// Does to the app what an operating system does.
  ///
  /// - Parameter change: What happens.
  public func undergo(_ change: DeviceLifecycle) { world.tell(self, .lifecycle(change)) }

  /// Whether the user allows measurements; an answer reaches all sessions.
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
  /// How accurate its sensors are, and how hands move a peer, if the world has placed this device.
  public var fusion: FusionConfiguration {
    isPlacedByWorld ? world.settings.fusionAmongHands : world.settings.fusion
  }
  /// The newest moment of the world.
  public var now: Timestamp { world.now }

  /// Takes in a session, before it runs.
  public func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void) {
    world.change(self) { $0.roster.join(token, receive: receive) }
  }

  /// Begins to measure, once the peer measures this session in turn.
  public func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {
    world.place(self)
    world.change(self) { $0.roster.range(token, with: peer, isExtended: isExtended) }
  }

  /// Stops measuring.
  public func rest(_ token: SessionToken) { world.change(self) { $0.roster.rest(token) } }

  /// Lets a session go for ever.
  public func leave(_ token: SessionToken, tellsPeer: Bool) {
    world.leave(token, on: self, tellsPeer: tellsPeer)
  }

  /// How many other sessions measure.
  public func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int) {
    world.state(of: self) { $0.roster.active(besides: token) }
  }

  /// As hands move it, if the world has placed this device, and with it most likely the peer; not at all
  /// around a device whose motion the host chose.
  public func motion(of peer: SessionToken) -> PeerMotion {
    isPlacedByWorld ? world.settings.motionAmongHands : .stationary
  }

  /// Begins to report the trajectory; the odometry's quality first, if it is not normal.
  public func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower {
    world.place(self)
    return world.change(self) { $0.follow(receive) }
  }

  /// Stops reporting the trajectory.
  public func unfollow(_ follower: TrajectoryFollower) {
    world.change(self) { $0.roster.unfollow(follower) }
  }
}
