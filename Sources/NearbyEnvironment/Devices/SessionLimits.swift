// SPDX-License-Identifier: Apache-2.0

/// The limits of sessions; Apple publishes none of these numbers, so all of them are ours.
///
/// Durations count on the clock of the measurements, in seconds.
public struct SessionLimits: Hashable, Sendable, Codable {
  /// The silence after which a peer that was heard before is removed.
  public var silence = 10.0
  /// The time after `run` at which a peer that was never heard is removed.
  public var firstContact = 60.0
  /// The time within which an accessory must start after it got its configuration.
  public var accessoryStart = 30.0
  /// The length of a suspension after which a session is invalidated.
  public var suspension = 300.0
  /// The running time after which a session is invalidated.
  public var usage = 3600.0
  /// The largest number of sessions that run on one device at a time.
  public var activeSessions = 16
  /// The largest number of them that measure extended distances.
  public var activeExtendedSessions = 1

  /// The range in metres beyond which measurements are rare and less accurate than specified.
  public var validatedRange = 9.0

  /// Makes limits of defaults.
  public init() {}
}
