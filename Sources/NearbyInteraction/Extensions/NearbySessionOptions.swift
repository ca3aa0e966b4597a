// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// Settings of a session beyond Apple's interface; see ``NISession/options``.
public struct NearbySessionOptions: Hashable, Sendable {
  /// How the peer may move.
  ///
  /// `nil` takes what the environment knows, and without that an accessory for one at rest and a phone for
  /// one that may be carried about at any moment.
  public var peerMotion: PeerMotion?
  /// Whether `direction` waits until the peer was once within the cone of the antenna array.
  ///
  /// It applies to devices with an antenna array and matches Apple's framework. Otherwise movement
  /// alone suffices.
  public var isStrictlyCompatible = false

  /// Makes options of defaults.
  public init() {}
}

extension NISession {
  /// Settings beyond Apple's interface, which take effect with the next `run`.
  public var options: NearbySessionOptions {
    get { core.options }
    set { core.options = newValue }
  }
}
