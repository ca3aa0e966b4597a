// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// An environment in which nothing can be measured.
public final class AbsentEnvironment: NearbyEnvironment, NearbyDevice {
  /// The reason, if this environment was not chosen explicitly.
  public let failure: String?

  /// Makes an environment.
  public init(_ failure: String? = nil) { self.failure = failure }

  /// Itself.
  public func defaultDevice() -> any NearbyDevice { self }
  /// Nothing.
  public var defaultCapabilities: DeviceCapabilities { [] }
  /// Nothing.
  public var capabilities: DeviceCapabilities { [] }
  /// The defaults.
  public var limits: SessionLimits { SessionLimits() }
  /// The defaults.
  public var fusion: FusionConfiguration { FusionConfiguration() }
  /// Always zero.
  public var now: Timestamp { Timestamp(nanoseconds: 0) }
  /// Always allowed, since nothing is measured.
  public var authorization: MeasurementAuthorization { .allowed }

  /// Does nothing.
  public func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void) {}
  /// Does nothing.
  public func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {}
  /// Does nothing.
  public func rest(_ token: SessionToken) {}
  /// Does nothing.
  public func leave(_ token: SessionToken, tellsPeer: Bool) {}
  /// None.
  public func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int) { (0, 0) }
  /// Reports nothing.
  public func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower {
    TrajectoryFollower(number: 0)
  }
  /// Does nothing.
  public func unfollow(_ follower: TrajectoryFollower) {}
}
