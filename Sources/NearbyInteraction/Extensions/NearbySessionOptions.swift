// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// What can be set about a session beyond Apple's interface; see ``NISession/options``.
public struct NearbySessionOptions: Hashable, Sendable {
  /// How the peer may move; `nil` leaves it to the environment, which mostly takes it to be at rest, as
  /// Apple's camera assistance does.
  public var peerMotion: PeerMotion?
  /// Whether `direction` waits, on a device with an antenna array, until the peer has once been within
  /// the array's cone, as Apple's does; otherwise movement alone suffices.
  public var isStrictlyCompatible = false

  /// Makes options of defaults.
  public init() {}
}

extension NISession {
  /// What can be set beyond Apple's interface; takes effect with the next `run`.
  public var options: NearbySessionOptions {
    get { core.options }
    set { core.options = newValue }
  }
}
