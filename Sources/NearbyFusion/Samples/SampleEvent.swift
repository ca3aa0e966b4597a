// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// What a sample has revealed of the past.
public enum SampleEvent: Hashable, Sendable {
  /// Its peer, which was declared to be at rest, has been moved.
  ///
  /// - Parameter since: From when on its samples contradict the former place.
  case peerMoved(since: Timestamp)
  /// Its peer is at its former place after all: what looked like a move was a burst of faults, or the peer
  /// was carried back.
  case peerReturned
  /// The odometry has slipped, since several peers at rest were contradicted at about the same time.
  ///
  /// - Parameter since: From when on.
  case odometrySlipped(since: Timestamp)
}
