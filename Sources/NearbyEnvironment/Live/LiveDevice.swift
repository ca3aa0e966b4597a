// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyFusion
public import NearbyGeometry

/// A device whose poses and measurements the host supplies, from its own sensors or from a test.
///
/// ```swift
/// let device = LiveDevice()
/// NearbyEnvironments.current = device
/// // … the app makes and runs its session …
/// device.add(DevicePose(timestamp: time, worldFromDevice: pose))
/// device.add(RadioMeasurement(timestamp: time, distance: 4.2))
/// ```
///
/// Events are delivered before the call returns. The clock follows the timestamps of poses and
/// measurements, and those of ``advance(to:)`` while neither arrive. Timeouts occur only when one of
/// the three moves the clock. The first one sets it, and its origin is arbitrary.
public final class LiveDevice: NearbyEnvironment, RosterDevice, @unchecked Sendable {
  // Unchecked: everything that changes is read and written under `lock` only, which is never held
  // while a receiver is called.

  /// The capabilities of the device.
  public let capabilities: DeviceCapabilities
  /// The limits of its sessions.
  public let limits: SessionLimits
  /// How accurate its sensors are.
  public let fusion: FusionConfiguration

  private let lock = NSLock()
  private var roster = DeviceRoster()
  private var time: Timestamp?
  private var permission = MeasurementAuthorization.allowed

  /// Makes a device.
  ///
  /// - Parameters:
  ///   - capabilities: Its capabilities.
  ///   - fusion: How accurate its sensors are.
  ///   - limits: The limits of its sessions.
  public init(
    capabilities: DeviceCapabilities = .phoneWithAntennaArray,
    fusion: FusionConfiguration = FusionConfiguration(), limits: SessionLimits = SessionLimits()
  ) {
    self.capabilities = capabilities
    self.fusion = fusion
    self.limits = limits
  }

  // MARK: What the host hands in

  /// The odometry reports a pose.
  ///
  /// - Parameter pose: The pose.
  public func add(_ pose: DevicePose) {
    tell(at: pose.timestamp) { $0.toFollowers(.pose(pose)) }
  }

  /// The odometry's quality or the light has changed.
  ///
  /// - Parameter tracking: The odometry's report.
  public func add(_ tracking: TrackingSample) {
    tell(at: tracking.timestamp) { $0.toFollowers(.tracking(tracking)) }
  }

  /// The radio measured a peer.
  ///
  /// - Parameters:
  ///   - measurement: The measurement.
  ///   - peer: The peer. When `nil`, all measuring sessions get the measurement, which suffices
  ///     with one peer.
  public func add(_ measurement: RadioMeasurement, of peer: SessionToken? = nil) {
    tell(at: measurement.timestamp) { roster in
      if let peer { return roster.toSessions(with: peer, .measurement(measurement)) }
      return roster.ordered.filter { $0.session.peer != nil }.map {
        DeviceRoster.Message(receiver: $0.session.receive, event: .measurement(measurement))
      }
    }
  }

  /// A peer ended its session.
  ///
  /// - Parameter peer: The peer.
  public func end(_ peer: SessionToken) {
    tell(at: nil) { $0.toSessions(endOf: peer) }
  }

  /// Changes the app's state as an operating system does.
  ///
  /// - Parameter change: The change.
  public func undergo(_ change: DeviceLifecycle) {
    tell(at: nil) { $0.toFollowers(.lifecycle(change)) + $0.toSessions(.lifecycle(change)) }
  }

  /// Advances the time without a measurement.
  ///
  /// - Parameter time: The new time.
  public func advance(to time: Timestamp) { tell(at: time) { _ in [] } }

  private func tell(
    at time: Timestamp?, _ messages: (DeviceRoster) -> [DeviceRoster.Message]
  ) {
    let messages = lock.withLock {
      guard let time else { return messages(roster) }
      self.time = max(self.time ?? time, time)
      return messages(roster) + roster.toSessions(.time(time))
    }
    for message in messages { message.deliver() }
  }

  // MARK: NearbyDevice

  /// Itself.
  public func defaultDevice() -> any NearbyDevice { self }
  /// The capabilities of the device.
  public var defaultCapabilities: DeviceCapabilities { capabilities }
  /// The newest time that was supplied; zero before the first.
  public var now: Timestamp { lock.withLock { time } ?? Timestamp(nanoseconds: 0) }
  /// Whether a time was supplied.
  public var isClockSet: Bool { lock.withLock { time } != nil }

  /// Whether the user allows measurements.
  ///
  /// A change is delivered to all sessions.
  public var authorization: MeasurementAuthorization {
    get { lock.withLock { permission } }
    set {
      lock.withLock { permission = newValue }
      guard newValue != .undetermined else { return }
      tell(at: nil) { $0.toSessions(.authorization(isAllowed: newValue == .allowed)) }
    }
  }

  /// The peers that sessions measure now, in the order of the sessions.
  public var peers: [SessionToken] { lock.withLock { roster.ordered.compactMap(\.session.peer) } }

  func withRoster<Value>(_ body: (inout DeviceRoster) -> Value) -> Value {
    lock.withLock { body(&roster) }
  }
}
