// SPDX-License-Identifier: Apache-2.0

/// The limits of sessions; Apple publishes none of these numbers, so all of them are ours.
///
/// Durations count on the clock of the measurements, in seconds.
public struct SessionLimits: Hashable, Sendable, Codable {
  /// A peer that has been heard is removed after so long a silence.
  public var silence = 10.0
  /// A peer that has never been heard is removed so long after `run`.
  public var firstContact = 60.0
  /// An accessory that got its configuration must begin within this.
  public var accessoryStart = 30.0
  /// A session that is suspended for longer is invalidated.
  public var suspension = 300.0
  /// A session that runs for longer is invalidated.
  public var usage = 3600.0
  /// So many sessions may run on one device at a time.
  public var activeSessions = 16
  /// So many of them may measure extended distances.
  public var activeExtendedSessions = 1

  /// Beyond so many metres measurements come seldom and are less accurate than the device says.
  public var validatedRange = 9.0

  /// Makes limits of defaults.
  public init() {}
}
