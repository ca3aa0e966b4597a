// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// Something that happened during a recording and that the engine has found out: an entry of `events` in
/// `summary.json`.
public struct RunEvent: Hashable, Sendable, Codable {
  /// What happened.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A peer that was declared to be at rest was moved.
    case peerMoved
    /// A peer is at its former place after all.
    case peerReturned
    /// The odometry slipped.
    case odometrySlipped
    /// How far it slipped has been measured.
    case slipMeasured
  }

  /// What happened.
  public var kind: Kind
  /// When it began, seconds since the first pose or sample of the recording.
  public var seconds: Double
  /// When it was found out, likewise.
  public var secondsFound: Double
  /// The peer; `nil` when it happened to the odometry.
  @OrNull public var peer: String?
  /// The odometry's turn about gravity, counterclockwise as seen from above, degrees; `nil` of other events.
  @OrNull public var turnDegrees: Double?
  /// By how many metres the odometry moved; `nil` of other events.
  @OrNull public var metres: Double?

  /// The entry of an event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - peer: The sample's peer.
  ///   - time: The sample's time.
  ///   - start: The time of the recording's first event.
  init(_ event: SampleEvent, of peer: String, at time: Timestamp, since start: Timestamp) {
    let found = time.exactSeconds(since: start)
    switch event {
    case .peerMoved(let since):
      (kind, seconds, self.peer) = (.peerMoved, since.exactSeconds(since: start), peer)
    case .peerReturned:
      (kind, seconds, self.peer) = (.peerReturned, found, peer)
    case .odometrySlipped(let since):
      (kind, seconds, self.peer) = (.odometrySlipped, since.exactSeconds(since: start), nil)
    case .slipMeasured(let since, let turnRadians, let displacement):
      (kind, seconds, self.peer) = (.slipMeasured, since.exactSeconds(since: start), nil)
      (turnDegrees, metres) = (turnRadians.radiansAsDegrees, displacement.length)
    }
    secondsFound = found
  }
}
