// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// What a sample has revealed of the past.
public enum SampleEvent: Hashable, Sendable {
  /// Its peer, which was declared to be at rest, has been moved.
  ///
  /// What was measured before shows that the peer was at its former place, and what was measured since that it is
  /// there no more; a place that was never right is no move.
  ///
  /// - Parameter since: From when on its samples contradict the former place.
  case peerMoved(since: Timestamp)
  /// Its peer, which was reported to have been moved, is at its former place after all: what looked like a move
  /// was a burst of faults, or the peer was carried back.
  case peerReturned
  /// The odometry has slipped, since several peers at rest were contradicted at about the same time.
  ///
  /// - Parameter since: From when on.
  case odometrySlipped(since: Timestamp)
  /// How far it has slipped, by the places of the peers at rest before and after.
  ///
  /// - Parameters:
  ///   - since: From when on.
  ///   - turnRadians: The turn about gravity through the device as it was when the slip was reported,
  ///     counterclockwise as seen from above, radians.
  ///   - displacement: The displacement in the world before that turn, metres.
  case slipMeasured(since: Timestamp, turnRadians: Double, displacement: Vector3)
}
