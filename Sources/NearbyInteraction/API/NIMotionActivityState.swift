// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion

/// Whether an accessory moves, as its maker's code knows it.
public enum NIMotionActivityState: Int, Hashable, Sendable {
  /// It rests.
  case stationary = 0
  /// It moves.
  case moving = 1
  /// Nobody knows.
  case unknown = 2

  /// The engine's word for it.
  var peerMotion: PeerMotion {
    switch self {
    case .stationary: .stationary
    case .moving: .moving
    case .unknown: .unknown
    }
  }
}
